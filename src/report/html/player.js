"use strict";
// Stepping through the runs of an answer, in reports and in the playground.
// All text goes through textContent, so nothing in a program is ever taken for markup.

/** An element with a class, a text and children. */
function element(name, className, text, children = []) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

/** A thread's name beside the line where it stands. */
function tag(thread) {
  const made = element("span", "tag", thread.name);
  made.title = `${thread.name} is here`;
  return made;
}

/** One run: its controls, its table, and what it marks in the source and in the graph. */
class Player {
  constructor(root, answer) {
    const run = root.parentElement;
    const choice = root.closest(".choice");
    const graphs = choice ? `.choice[data-choice="${choice.dataset.choice}"] .event` : ".event";
    this.root = root;
    this.data = JSON.parse(run.querySelector("script.data").textContent);
    this.slider = root.querySelector("input");
    this.rows = [...run.querySelectorAll("tr[data-row]")];
    this.lines = new Map([...answer.querySelectorAll(".source .line")].map((l) => [Number(l.dataset.line), l]));
    this.events = [...answer.querySelectorAll(graphs)];
    this.at = 0;
    this.listen();
    root.hidden = false;
  }

  listen() {
    const steps = { first: () => 0, back: () => this.at - 1, on: () => this.at + 1, last: () => this.last };
    for (const button of this.root.querySelectorAll("[data-go]")) {
      button.addEventListener("click", () => this.show(steps[button.dataset.go]()));
    }
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    this.rows.forEach((row, at) => row.addEventListener("click", () => this.show(at)));
    for (const [number, line] of this.lines) {
      line.addEventListener("click", () => this.visible && this.showLine(number));
    }
    for (const event of this.events) {
      const steps = event.dataset.steps.split(" ").map(Number);
      event.addEventListener("click", () => this.show(this.next((row) => steps.some((s) => row.steps.includes(s)))));
    }
  }

  get last() {
    return this.data.rows.length;
  }

  get visible() {
    return this.root.offsetParent !== null;
  }

  get inView() {
    const box = this.root.parentElement.getBoundingClientRect();
    return this.visible && box.bottom > 0 && box.top < window.innerHeight;
  }

  /** The next row that fits, from the current one on and around. */
  next(fits) {
    const later = this.data.rows.findIndex((row, at) => at >= this.at && fits(row));
    const found = later >= 0 ? later : this.data.rows.findIndex(fits);
    return found < 0 ? this.at : found + 1;
  }

  showLine(number) {
    this.show(this.next((row) => row.line === number));
  }

  /** The state after so many rows: the start with all changes since. */
  state(at) {
    const memory = [...this.data.start.memory];
    const threads = [...this.data.start.threads];
    for (const row of this.data.rows.slice(0, at)) {
      threads[row.thread] = row.after;
      for (const [variable, value] of row.memory) memory[variable] = value;
    }
    return { memory, threads };
  }

  show(wanted) {
    this.at = Math.max(0, Math.min(this.last, wanted));
    const row = this.at > 0 ? this.data.rows[this.at - 1] : null;
    const state = this.state(this.at);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", this.at === 0 ? "start" : `step ${this.at} of ${this.last}`);
    this.root.querySelector(".count").textContent = `${this.at} / ${this.last}`;
    this.root.querySelector("[data-go=first]").setAttribute("aria-disabled", String(this.at === 0));
    this.root.querySelector("[data-go=last]").setAttribute("aria-disabled", String(this.at === this.last));
    this.showSentence(row);
    this.showCards(row, state);
    this.showMarks(row, state);
  }

  showSentence(row) {
    const now = this.root.querySelector(".now");
    now.replaceChildren();
    if (!row) {
      now.textContent = "At the start.";
      return;
    }
    const place = row.line === null ? "" : `, line ${row.line}`;
    now.append(element("b", "", this.data.threads[row.thread].name), place, ": ");
    if (row.text) now.append(element("code", "", row.text), row.says.length ? " — " : "");
    now.append(row.says.join("; "), " ");
    if (row.mark) now.append(element("span", "mark", `(${row.mark}) `));
    if (this.at === this.last && this.data.violation) {
      now.append(element("span", "end", `Violated: ${this.data.violation}`));
    }
  }

  showCards(row, state) {
    const threads = this.data.threads.map((thread, at) => this.threadCard(thread, state.threads[at], row?.thread === at));
    const changed = new Set(row ? row.memory.map(([variable]) => variable) : []);
    const values = this.data.variables.map((name, at) =>
      element("span", changed.has(at) ? "cell changed" : "cell", `${name} = ${state.memory[at]}`));
    const memory = element("div", "card memory-card", undefined,
      [element("h5", "", "Memory"), element("div", "cells", undefined, values)]);
    this.root.querySelector(".state").replaceChildren(...threads, memory);
  }

  threadCard(thread, state, acting) {
    const place = state.line === null ? state.at : `line ${state.line}, ${state.at}`;
    const card = element("div", acting ? "card acting" : "card", undefined,
      [element("h5", "", thread.name), element("p", "", place)]);
    if (thread.registers.length) {
      const cells = thread.registers.map((name, at) => element("span", "cell", `${name} = ${state.registers[at]}`));
      card.append(element("div", "cells registers", undefined, cells));
    }
    const entries = state.buffer.map(([name, value]) =>
      element("span", "cell waiting", value === null ? name : `${name} = ${value}`));
    card.append(element("p", "muted", entries.length ? "Buffer, oldest first:" : "Buffer: empty"));
    if (entries.length) card.append(element("div", "cells buffered", undefined, entries));
    return card;
  }

  showMarks(row, state) {
    this.rows.forEach((line, at) => {
      line.classList.toggle("now", at === this.at);
      const button = line.querySelector("button");
      button.tabIndex = at === this.at ? 0 : -1;
      if (at === this.at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    for (const event of this.events) {
      const steps = event.dataset.steps.split(" ").map(Number);
      event.classList.toggle("now", Boolean(row) && steps.some((step) => row.steps.includes(step)));
    }
    for (const [number, line] of this.lines) {
      const standing = this.data.threads.filter((_, at) => state.threads[at].line === number);
      line.classList.toggle("now", row !== null && row.line === number);
      line.querySelector(".here").replaceChildren(...standing.map(tag));
    }
    const current = row && this.lines.get(row.line);
    if (current) scrollInside(current.parentElement, current);
    const tall = this.rows[this.at].closest(".tall");
    if (tall) scrollInside(tall, this.rows[this.at]);
  }
}

/** Scrolls a box, not the page, so that something in it can be seen. */
function scrollInside(box, inner) {
  const [outside, inside] = [box.getBoundingClientRect(), inner.getBoundingClientRect()];
  // A third from the top, clear of a heading that stays there.
  if (inside.top < outside.top + 40 || inside.bottom > outside.bottom) {
    box.scrollTop += inside.top - outside.top - box.clientHeight / 3;
  }
}

/** Buttons that choose between several runs of an answer. */
function chooser(answer, players) {
  const buttons = [...answer.querySelectorAll(".tabs button")];
  const choose = (choice) => {
    for (const part of answer.querySelectorAll(".choice")) part.hidden = part.dataset.choice !== choice;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.choice === choice));
    players.filter((player) => player.visible).forEach((player) => player.show(player.at));
  };
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.choice));
  for (const tabs of answer.querySelectorAll(".tabs")) tabs.hidden = false;
  if (buttons.length) choose(buttons[0].dataset.choice);
}

/** Where a key leads, or nothing. */
function target(player, event) {
  const key = event.key;
  if (key === "j") return player.at + 1;
  if (key === "k") return player.at - 1;
  // The slider knows the other keys itself, and out of sight they are for scrolling the page.
  if (event.target === player.slider || !player.inView) return undefined;
  const vertical = player.root.parentElement.contains(event.target);
  if (key === "ArrowRight" || (key === "ArrowDown" && vertical)) return player.at + 1;
  if (key === "ArrowLeft" || (key === "ArrowUp" && vertical)) return player.at - 1;
  if (key === "Home") return 0;
  if (key === "End") return player.last;
  return undefined;
}

/** Makes the runs of an answer ready to be stepped through. */
function enliven(answer) {
  const players = [...answer.querySelectorAll(".player")].map((root) => new Player(root, answer));
  players.forEach((player) => player.show(0));
  chooser(answer, players);
  for (const button of answer.querySelectorAll(".to-line")) {
    button.addEventListener("click", () => {
      const line = answer.querySelector(`.source .line[data-line="${button.dataset.line}"]`);
      answer.querySelectorAll(".line.shown").forEach((other) => other.classList.remove("shown"));
      line?.classList.add("shown");
      line?.scrollIntoView({ block: "nearest" });
    });
  }
  return players;
}
