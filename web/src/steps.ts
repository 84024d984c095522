// Running a program by hand: enabled steps as buttons, undo, and surprises.

import { showRun } from "./answers";
import { button, make } from "./elements";
import type { Shared } from "./share";

type Step = [number, string | null];

interface RunState {
  error?: string;
  steps: Step[];
  initial: { name: string; value: string; from: string }[];
  threads: string[];
  enabled: { thread: number; name: string; text: string; drain: boolean; choice: { from: string; example: string } | null }[];
  violations: string[];
  holder: string | null;
  ended: boolean;
  html: string;
}

export interface RunHost {
  program(): { name: string; text: string; model: string };
  ask(request: object): Promise<unknown>;
  /** Says something to everybody, also to those who do not see the page. */
  say(text: string): void;
}

export class Run {
  private steps: Step[] = [];
  private initial: [string, string][] = [];
  private shown: RunState | undefined;
  private latest = 0;

  constructor(private readonly into: HTMLElement, private readonly host: RunHost) {}

  /** The steps taken, to be shared. */
  get taken(): Shared["steps"] {
    return this.steps;
  }

  async start(steps: Step[] = []): Promise<void> {
    this.initial = [];
    await this.go(steps);
  }

  private async go(steps: Step[], surprise?: number): Promise<void> {
    const asked = ++this.latest;
    const { name, text, model } = this.host.program();
    const state = (await this.host.ask({ do: "run", name, text, model, initial: this.initial, steps, surprise })) as RunState;
    if (asked !== this.latest) return;
    if (state.error) {
      this.host.say(state.error);
      if (!this.shown) this.into.replaceChildren(make("p", { class: "violated" }, state.error));
      return;
    }
    this.steps = state.steps;
    this.shown = state;
    this.draw(state, model);
  }

  private draw(state: RunState, model: string): void {
    const count = state.steps.length;
    const undo = button("Undo", () => void this.go(this.steps.slice(0, -1)), { class: "undo" });
    const again = button("Start again", () => void this.go([]), { class: "again" });
    undo.disabled = again.disabled = count === 0;
    const surprise = button("Surprise me", () => void this.go(this.steps, Math.floor(Math.random() * 2 ** 31)), { class: "primary surprise" });
    surprise.disabled = state.enabled.length === 0;
    const ending = state.enabled.length ? "" : state.ended ? "All threads have ended." : "No thread can take a step.";
    const facts: HTMLElement[] = state.violations.map((violation) => make("p", { class: "violated" }, `Violated: ${violation}`));
    if (state.holder) facts.push(make("p", {}, `${state.holder} is inside an atomic section.`));
    if (ending) facts.push(make("p", {}, ending));
    const run = make("div", { class: "run" });
    const heading = `${count === 1 ? "1 step" : `${count} steps`} under ${model.toUpperCase()}`;
    this.into.replaceChildren(make("section", { class: "answer", "aria-label": "Run" },
      make("section", { class: "part", "aria-label": "Steps that can be taken" },
        make("h2", { class: "small-heading" }, heading),
        make("div", { class: "actions" }, undo, again, surprise), ...facts, ...this.starts(state),
        make("div", { class: "enabled" }, ...this.columns(state))), run));
    showRun(run, state.html);
    this.host.say([`${heading}.`, ...state.violations.map((violation) => `Violated: ${violation}.`), ending].join(" "));
  }

  private columns(state: RunState): HTMLElement[] {
    return state.threads.map((name, thread) => {
      const items = state.enabled.flatMap((step, at) => (step.thread === thread ? [this.item(step, at)] : []));
      const list = items.length ? make("ul", {}, ...items) : make("p", { class: "muted" }, "waits or has ended");
      return make("div", { class: "card" }, make("h3", {}, name), list);
    });
  }

  private item(step: RunState["enabled"][number], at: number): HTMLElement {
    if (!step.choice) {
      const take = button(step.text, () => void this.go([...this.steps, [at, null]]), { class: step.drain ? "drains" : "takes" });
      return make("li", {}, take);
    }
    const value = make("input", { type: "text", inputmode: "numeric", value: step.choice.example, "aria-label": `Value (${step.choice.from})` });
    const take = button(step.text, () => void this.go([...this.steps, [at, value.value]]), { class: "takes" });
    return make("li", {}, take, value);
  }

  /** Variables that may start with more than one value. */
  private starts(state: RunState): HTMLElement[] {
    if (!state.initial.length) return [];
    const inputs = state.initial.map(({ name, value, from }) => {
      const input = make("input", { type: "text", inputmode: "numeric", value });
      input.addEventListener("change", () => {
        this.initial = [...this.initial.filter(([other]) => other !== name), [name, input.value]];
        void this.go([]);
      });
      return make("label", {}, `${name} starts at (${from}) `, input);
    });
    return [make("div", { class: "row" }, ...inputs)];
  }
}
