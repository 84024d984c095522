// Runs fencewright beside the page. One request at a time; whoever is tired of waiting ends the worker.

import { answer, initSync } from "../wasm/fencewright.js";
import type { FromWorker, ToWorker } from "./engine";

let current = 0;
let bug: string | undefined;
const say = (message: FromWorker) => self.postMessage(message);

(globalThis as unknown as { fencewrightTells: (told: string) => void }).fencewrightTells = (told) => {
  const heard = JSON.parse(told);
  if (heard.bug) bug = heard.bug;
  else say({ id: current, progress: heard });
};

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ("module" in message) {
    initSync({ module: message.module });
    return;
  }
  current = message.id;
  try {
    say({ id: message.id, answer: answer(message.request) });
  } catch (trouble) {
    say({ id: message.id, broken: bug ?? "", cause: String(trouble) });
  }
};
