// Fencewright in workers: one for what is quick, one for questions that may take long and can be stopped.

import wasm from "../wasm/fencewright_bg.wasm?url";

export interface Progress {
  engine: string;
  phase: string;
  states: number;
  bytes: number;
  seconds: number;
}

export type ToWorker = { module: WebAssembly.Module } | { id: number; request: string };
export type FromWorker =
  | { id: number; progress: Progress }
  | { id: number; answer: string }
  | { id: number; broken: string; cause: string };

/** Why there is no answer. */
export class NoAnswer extends Error {
  constructor(readonly kind: "stopped" | "exhausted" | "bug", message: string) {
    super(message);
  }
}

let compiled: Promise<WebAssembly.Module> | undefined;

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(wasm);
  if (!response.ok) throw new Error(`${response.status} for ${response.url}`);
  // Not every server knows the type that streaming asks for.
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

interface Waiting {
  resolve: (answer: never) => void;
  reject: (why: NoAnswer) => void;
  progress?: (progress: Progress) => void;
}

/** A worker that answers requests, and is replaced when it was stopped or broke. */
export class Engine {
  private worker: Worker | undefined;
  private waiting = new Map<number, Waiting>();
  private next = 1;

  async ask<T>(request: object, progress?: (progress: Progress) => void): Promise<T> {
    const id = this.next++;
    const answer = new Promise<T>((resolve, reject) => this.waiting.set(id, { resolve, reject, progress }));
    const module = await this.module(id);
    // It may have been stopped before it began.
    if (this.waiting.has(id)) this.running(module).postMessage({ id, request: JSON.stringify(request) });
    return answer;
  }

  /** The module; where it cannot be had, the next question tries again. */
  private async module(id: number): Promise<WebAssembly.Module> {
    try {
      return await (compiled ??= compile());
    } catch (trouble) {
      compiled = undefined;
      this.waiting.delete(id);
      throw trouble;
    }
  }

  /** Ends whatever is going on. */
  stop(): void {
    if (this.waiting.size) this.end(new NoAnswer("stopped", "stopped"));
  }

  private running(module: WebAssembly.Module): Worker {
    if (!this.worker) {
      this.worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
      this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.end(new NoAnswer("exhausted", event.message || "the worker ended"));
      };
      this.worker.postMessage({ module });
    }
    return this.worker;
  }

  private hear(message: FromWorker): void {
    const waiting = this.waiting.get(message.id);
    if ("progress" in message) {
      waiting?.progress?.(message.progress);
    } else if ("answer" in message) {
      this.waiting.delete(message.id);
      waiting?.resolve(JSON.parse(message.answer) as never);
    } else if (message.broken) {
      this.end(new NoAnswer("bug", message.broken));
    } else {
      // Without last words: memory or stack ended, and with it the module.
      this.end(new NoAnswer("exhausted", message.cause));
    }
  }

  private end(why: NoAnswer): void {
    this.worker?.terminate();
    this.worker = undefined;
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const waiting of all) waiting.reject(why);
  }
}
