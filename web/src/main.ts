// The page: what stands in its fields is asked, and what comes back is shown.

import "./page.css";
import { target } from "../../src/report/html/player.js";
import examples from "virtual:examples";
import { type Answer, players, show, type Shown, unknown } from "./answers";
import { Editor, type Reading } from "./editor";
import { byId, download, fromReport, make } from "./elements";
import { Engine, NoAnswer, type Progress } from "./engine";
import { read as readShared, type Shared, written } from "./share";
import { Run } from "./steps";

const MODELS = ["sc", "tso", "pso"];
const QUESTIONS = ["verify", "fence", "robust", "run"];
/** Larger files are no programs. */
const MOST_BYTES = 16 << 20;

const quick = new Engine();
const patient = new Engine();
const fields = {
  example: byId<HTMLSelectElement>("example"),
  name: byId<HTMLInputElement>("name"),
  seconds: byId<HTMLInputElement>("seconds"),
  megabytes: byId<HTMLInputElement>("megabytes"),
  ask: byId<HTMLButtonElement>("ask"),
  stop: byId<HTMLButtonElement>("stop"),
  file: byId<HTMLInputElement>("file"),
};
const answers = byId("answers");
const status = (text: string) => (byId("status").textContent = text);
let asking = 0;

const editor = new Editor(byId("editor"), {
  read: readText,
  changed: () => {
    if (chosen("question") === "run" && answers.querySelector(".run")) status("The text has changed: ask again to run it.");
  },
  ask: () => void ask(),
});
const run = new Run(answers, {
  program: () => ({ name: fields.name.value, text: editor.text, model: chosen("model") }),
  ask: (request) => quick.ask(request),
  say: status,
});

function chosen(group: string): string {
  return document.querySelector<HTMLInputElement>(`input[name=${group}]:checked`)?.value ?? "";
}

function choose(group: string, value: string): void {
  const input = document.querySelector<HTMLInputElement>(`input[name=${group}][value="${CSS.escape(value)}"]`);
  if (input) input.checked = true;
  restrict();
}

/** Models that fit the question: fences and robustness are about weaker ones, and only verifying compares. */
function restrict(): void {
  const question = chosen("question");
  const fits = (model: string) =>
    question === "verify" || (question === "robust" || question === "fence" ? model === "tso" || model === "pso" : model !== "all");
  for (const input of document.querySelectorAll<HTMLInputElement>("input[name=model]")) {
    input.disabled = !fits(input.value);
    if (input.checked && input.disabled) {
      const tso = document.querySelector<HTMLInputElement>("input[name=model][value=tso]");
      if (tso) tso.checked = true;
    }
  }
}

interface ReadText {
  language: string | null;
  readable: boolean;
  reason?: string;
  diagnostics: (Reading["diagnostics"][number] & { hint: string | null })[];
  names: Reading["names"];
}

/** What is wrong with the text, while somebody types. */
async function readText(text: string): Promise<Reading> {
  try {
    const found = await quick.ask<ReadText>({ do: "read", name: fields.name.value, text });
    const count = found.diagnostics.length;
    byId("reading").textContent = found.readable
      ? `Language ${found.language}${count ? `, ${count} warning${count > 1 ? "s" : ""}` : ""}.`
      : `${found.language ? `Language ${found.language}: ` : ""}${found.reason}.`;
    const diagnostics = found.diagnostics.map((d) => ({ ...d, message: d.hint ? `${d.message}\n${d.hint}` : d.message }));
    return { diagnostics, names: found.names };
  } catch (trouble) {
    byId("reading").textContent = `This text could not be read: ${trouble instanceof Error ? trouble.message : trouble}.`;
    return { diagnostics: [], names: [] };
  }
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

function progressText(model: string, progress: Progress): string {
  const megabytes = Math.round(progress.bytes / (1 << 20));
  const engine = progress.engine ? `${progress.engine}: ` : "";
  return `${model.toUpperCase()}: ${engine}${progress.phase}, ${short.format(progress.states)} states, ${megabytes} MB, ${progress.seconds.toFixed(1)} s`;
}

const limit = (field: HTMLInputElement) => {
  const value = Math.min(Math.max(Number(field.value) || Number(field.defaultValue), Number(field.min)), Number(field.max));
  field.value = String(value);
  return value;
};

/** One question; whatever happens, there is an answer. */
async function answered(question: string, model: string): Promise<Answer> {
  const request = {
    do: question, name: fields.name.value, text: editor.text, model,
    seconds: limit(fields.seconds), megabytes: limit(fields.megabytes),
  };
  try {
    const answer = await patient.ask<Answer & { error?: string }>(request, (progress) => status(progressText(model, progress)));
    return answer.error ? { ...unknown(answer.error), word: "error", tone: "failed" } : answer;
  } catch (trouble) {
    if (!(trouble instanceof NoAnswer)) return { ...unknown(`${trouble}`), word: "error", tone: "failed" };
    if (trouble.kind === "stopped") return unknown("stopped before there was an answer");
    if (trouble.kind === "bug") {
      return { ...unknown(`this is a bug in fencewright, please report it: ${trouble.message}`), word: "error", tone: "failed" };
    }
    return unknown(`the browser ran out of memory or stack (${trouble.message})`);
  }
}

async function ask(): Promise<void> {
  const mine = ++asking;
  const question = chosen("question");
  if (question === "run") {
    await startRun();
    return;
  }
  const models = chosen("model") === "all" ? MODELS : [chosen("model")];
  patient.stop();
  busy(true);
  status("Asking…");
  const all: Shown[] = [];
  for (const model of models) {
    all.push({ model, answer: await answered(question, model) });
    if (mine !== asking) return;
  }
  busy(false);
  show(answers, { name: fields.name.value, apply, fences }, all);
  status(all.map(({ model, answer }) => `${model.toUpperCase()}: ${answer.word}`).join(", "));
}

async function startRun(steps?: Shared["steps"]): Promise<void> {
  busy(false);
  patient.stop();
  answers.replaceChildren();
  try {
    await run.start(steps ?? []);
  } catch (trouble) {
    status(`The run could not be shown: ${trouble instanceof Error ? trouble.message : trouble}.`);
  }
}

function busy(is: boolean): void {
  fields.stop.disabled = !is;
  answers.setAttribute("aria-busy", String(is));
}

function stop(): void {
  asking++;
  patient.stop();
  busy(false);
  const model = chosen("model") === "all" ? "" : chosen("model");
  show(answers, { name: fields.name.value, apply, fences }, [{ model, answer: unknown("stopped before there was an answer") }]);
  status("Stopped.");
  fields.ask.focus();
}

function apply(text: string): void {
  editor.replace(text);
  choose("question", "verify");
  void ask();
}

function fences(model: string): void {
  choose("question", "fence");
  choose("model", model);
  void ask();
}

/** Another program in the editor. */
function open(name: string, text: string, learn = ""): void {
  fields.name.value = name;
  editor.named(name);
  editor.replace(text);
  byId("learn").textContent = learn ? `To learn: ${learn}` : "";
}

function openExample(name: string): boolean {
  const example = examples.find((candidate) => candidate.name === name);
  if (!example) return false;
  fields.example.value = name;
  open(name, example.text, example.learn);
  return true;
}

async function openFile(file: File | undefined): Promise<void> {
  if (!file) return;
  if (file.size > MOST_BYTES) {
    status("This file is larger than 16 MB.");
    return;
  }
  fields.example.value = "";
  open(file.name, await file.text());
  status(`${file.name} is open.`);
}

async function share(): Promise<void> {
  const question = chosen("question");
  const shared: Shared = { name: fields.name.value, text: editor.text, question, model: chosen("model") };
  if (question === "run") shared.steps = run.taken;
  const hash = await written(shared);
  history.replaceState(null, "", `#${hash}`);
  try {
    await navigator.clipboard.writeText(location.href);
    status("The link is in the clipboard; it holds the whole program.");
  } catch {
    status("The link is in the address bar; it holds the whole program.");
  }
}

/** What the address asks for: a shared state, or an example by name. */
async function fromAddress(): Promise<boolean> {
  const shared = await readShared(location.hash);
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (shared) {
    fields.example.value = "";
    open(shared.name, shared.text);
  } else if (wanted.has("text")) {
    fields.example.value = "";
    open(wanted.get("name") ?? "program.fw", wanted.get("text") ?? "");
  } else if (!openExample(wanted.get("example") ?? "")) {
    return false;
  }
  const question = shared?.question ?? wanted.get("question") ?? "";
  const model = shared?.model ?? wanted.get("model") ?? "";
  if (QUESTIONS.includes(question)) choose("question", question);
  if ([...MODELS, "all"].includes(model)) choose("model", model);
  if (shared?.question === "run") await startRun(shared.steps);
  else await ask();
  return true;
}

function listExamples(): void {
  const groups = [...new Set(examples.map((example) => example.group))];
  fields.example.append(make("option", { value: "" }, "your own"));
  for (const group of groups) {
    const inside = examples.filter((example) => example.group === group);
    const option = (example: (typeof inside)[number]) => make("option", { value: example.name, title: example.learn }, example.title ? `${example.name}: ${example.title}` : example.name);
    fields.example.append(make("optgroup", { label: group }, ...inside.map(option)));
  }
}

function listen(): void {
  fields.ask.addEventListener("click", () => void ask());
  fields.stop.addEventListener("click", stop);
  byId("share").addEventListener("click", () => void share());
  byId("save").addEventListener("click", () => download(fields.name.value || "program.fw", editor.text, "text/plain"));
  byId("open").addEventListener("click", () => fields.file.click());
  fields.file.addEventListener("change", () => void openFile(fields.file.files?.[0]));
  fields.example.addEventListener("change", () => openExample(fields.example.value) && void ask());
  fields.name.addEventListener("change", () => editor.named(fields.name.value));
  byId("questions").addEventListener("change", () => {
    restrict();
    if (chosen("question") === "run") void startRun();
  });
  byId("models").addEventListener("change", () => chosen("question") === "run" && void startRun());
  window.addEventListener("hashchange", () => void fromAddress());
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) {
      event.preventDefault();
      void ask();
    } else {
      step(event);
    }
  });
  dropping();
}

/** Keys step through a run, unless they are meant for a field. */
function step(event: KeyboardEvent): void {
  const at = event.composedPath()[0];
  const writes = at instanceof HTMLElement && (at.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName));
  if (writes || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const player = players.find((candidate) => candidate.visible);
  const to = player && target(player, event);
  if (player === undefined || to === undefined) return;
  event.preventDefault();
  player.show(to);
}

function dropping(): void {
  const over = (is: boolean) => document.body.classList.toggle("dropping", is);
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", () => over(false));
  // Before the editor, which would put the text where it is dropped.
  document.addEventListener("drop", (event) => {
    over(false);
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    event.stopPropagation();
    void openFile(event.dataTransfer.files[0]);
  }, { capture: true });
}

async function begin(): Promise<void> {
  listExamples();
  listen();
  restrict();
  const known = fromAddress();
  const words = await quick.ask<{ version: string; keywords: { label: string; type: string; info: string }[]; markers: string }>({ do: "words" });
  byId("markers").append(...fromSvg(words.markers));
  byId("about").textContent = `Fencewright ${words.version}. Answers were checked before they were shown here.`;
  editor.offers(words.keywords, fields.name.value);
  if (!(await known)) {
    openExample("peterson.fw");
    await ask();
  }
  document.documentElement.dataset.ready = "yes";
}

/** Markup of our reports that belongs into a picture. */
function fromSvg(markup: string): ChildNode[] {
  const whole = fromReport(`<svg><defs>${markup}</defs></svg>`).querySelector("svg");
  return [...(whole?.childNodes ?? [])];
}

begin().catch((trouble) => {
  status(`The playground could not start: ${trouble instanceof Error ? trouble.message : trouble}.`);
});
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  navigator.serviceWorker.register("./service-worker.js").catch(() => {
    // It works without, as long as there is a network.
  });
}
