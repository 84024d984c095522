// Answers: the parts of HTML reports, and what can be done with them.

import { enliven, type Player } from "../../src/report/html/player.js";
import { button, download, fromReport, make } from "./elements";

/** An answer as fencewright gives it. */
export interface Answer {
  word: string;
  tone: string;
  html: string;
  report: string;
  text: string;
  json: {
    verdict: string;
    reason: string | null;
    outcomes?: Record<string, number>[];
    complete?: boolean;
    [more: string]: unknown;
  };
  evidence?: string | null;
  drawing?: string | null;
  fenced?: string | null;
  fences_may_help?: boolean;
}

export interface Shown {
  model: string;
  answer: Answer;
}

export interface AnswerHost {
  /** The file's name. */
  name: string;
  /** Takes a text with fences in it. */
  apply(text: string): void;
  /** Asks for fences under a model. */
  fences(model: string): void;
}

export let players: Player[] = [];

/** An answer for what ended without one. */
export function unknown(why: string): Answer {
  const lead = make("p", { class: "lead" }, `${why}.`);
  return {
    word: "unknown", tone: "open", html: lead.outerHTML, report: "", text: `unknown: ${why}\n`,
    json: { verdict: "unknown", reason: why },
  };
}

function downloads(host: AnswerHost, { model, answer }: Shown): HTMLElement[] {
  const stem = `${host.name.replace(/\.[a-z]+$/, "")}.${model}`;
  const files: [string, string, string | null | undefined, string][] = [
    ["report (HTML)", `${stem}.html`, answer.report, "text/html"],
    ["text", `${stem}.txt`, answer.text, "text/plain"],
    ["JSON", `${stem}.json`, answer.report && JSON.stringify(answer.json, null, 2), "application/json"],
    ["picture (SVG)", `${stem}.svg`, answer.drawing, "image/svg+xml"],
    ["evidence", `${stem}.evidence.txt`, answer.evidence, "text/plain"],
  ];
  return files.flatMap(([label, name, text, type]) =>
    text ? [button(`Download ${label}`, () => download(name, text, type))] : []);
}

function section(host: AnswerHost, shown: Shown): HTMLElement {
  const { model, answer } = shown;
  const under = model && answer.tone !== "failed" ? ` under ${model.toUpperCase()}` : "";
  const actions: HTMLElement[] = [];
  const fenced = answer.fenced;
  if (fenced) actions.push(button("Put these fences into the program", () => host.apply(fenced), { class: "primary apply" }));
  if (answer.fences_may_help) actions.push(button("Which fences prevent it?", () => host.fences(model), { class: "primary find-fences" }));
  actions.push(...downloads(host, shown));
  return make("section", { class: "answer", "data-model": model, "aria-label": `${host.name}${under}` },
    make("header", {}, make("h2", {}, host.name), make("p", { class: `verdict ${answer.tone}` }, answer.word + under)),
    make("div", { class: "actions" }, ...actions), fromReport(answer.html));
}

/** Verdicts side by side, and the final states of a litmus test under each model. */
function overview(all: Shown[]): HTMLElement {
  const head = (...cells: string[]) =>
    make("thead", {}, make("tr", {}, ...cells.map((cell) => make("th", { scope: "col" }, cell))));
  const verdicts = all.map(({ model, answer }) => make("tr", {}, make("th", { scope: "row" }, model.toUpperCase()),
    make("td", {}, make("span", { class: `word ${answer.tone}` }, answer.word)), make("td", {}, answer.json.reason ?? "")));
  const parts: HTMLElement[] = [make("table", {}, head("Model", "Answer", "Why"), make("tbody", {}, ...verdicts))];
  const key = (state: Record<string, number>) => Object.entries(state).map(([name, value]) => `${name}=${value}`).join("; ");
  const reached = all.map(({ answer }) => new Set((answer.json.outcomes ?? []).map(key)));
  if (reached.some((states) => states.size)) {
    const states = [...new Set(reached.flatMap((found) => [...found]))].sort();
    const rows = states.map((state) => make("tr", {}, make("th", { scope: "row" }, state),
      ...all.map(({ answer }, at) => make("td", {}, reached[at].has(state) ? "yes" : answer.json.complete ? "no" : "not found"))));
    parts.push(make("h3", {}, "Final states"),
      make("table", { class: "finals across" }, head("State", ...all.map(({ model }) => model.toUpperCase())), make("tbody", {}, ...rows)));
  }
  return make("section", { class: "part overview", "aria-label": "All models" }, make("div", { class: "scroll" }, ...parts));
}

/** Shows answers; of several, one at a time below an overview. */
export function show(into: HTMLElement, host: AnswerHost, all: Shown[]): void {
  const sections = all.map((shown) => section(host, shown));
  into.replaceChildren();
  if (all.length > 1) {
    const tabs = all.map(({ model }, at) => button(`Show ${model.toUpperCase()}`, () => choose(at), { "aria-pressed": "false" }));
    const choose = (chosen: number) => {
      sections.forEach((part, at) => (part.hidden = at !== chosen));
      tabs.forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === chosen)));
    };
    into.append(overview(all), make("div", { class: "tabs", role: "group", "aria-label": "Which answer to show" }, ...tabs));
    into.append(...sections);
    // The first that is violated has most to show.
    choose(Math.max(0, all.findIndex(({ answer }) => answer.tone === "bad")));
  } else {
    into.append(...sections);
  }
  players = sections.flatMap((part) => enliven(part));
}

/** Shows a run that can be stepped through. */
export function showRun(into: HTMLElement, html: string): void {
  into.replaceChildren(fromReport(html));
  players = enliven(into);
  players.forEach((player) => player.show(player.last));
}
