"use strict";
// Every example of the book opens in the playground, which stands beside the book in the site: programs as they are, the statements of the
// language reference in a thread, and what commands are shown with by its name, with the same question and model.

/** What the ending of a program's name would be. */
const PROGRAMS = { fw: "fw", "fw-body": "fw", litmus: "litmus", c: "c", rmm: "rmm", trencher: "txt" };
/** What statements in the reference take for granted. */
const AROUND = ["shared x, y, a[4];\nthread P {\nlet r, s;\n", "}\n"];
const QUESTIONS = ["verify", "fence", "robust", "run"];

/** The program of a block of code. */
function program(language, file, text) {
  if (language === "fw-body") text = AROUND.join(text);
  return { label: "Open in the playground", fields: { name: file ?? `example.${PROGRAMS[language]}`, text } };
}

/** The programs that the commands of a block ask about. */
function asked(text) {
  const found = new Map();
  for (const [, question, rest] of text.matchAll(/^\$ fencewright (\w+) (.*)$/gm)) {
    const model = /--model (\w+)/.exec(rest)?.[1];
    for (const [path, name] of rest.matchAll(/\bcorpus\/(\w+\.fw)/g)) {
      const fields = { example: name, ...(QUESTIONS.includes(question) && { question }), ...(model && { model }) };
      if (!found.has(name)) found.set(name, { label: `Open ${path} in the playground`, fields });
    }
  }
  return [...found.values()];
}

for (const code of document.querySelectorAll("pre > code")) {
  const word = (start) => [...code.classList].find((name) => name.startsWith(start))?.slice(start.length);
  const language = word("language-");
  const examples = language === "console" ? asked(code.textContent) : Object.hasOwn(PROGRAMS, language ?? "") ? [program(language, word("file="), code.textContent)] : [];
  const links = examples.map(({ label, fields }) => {
    const link = document.createElement("a");
    link.className = "open-in-playground";
    link.href = `${path_to_root}playground/index.html#${new URLSearchParams(fields)}`;
    link.textContent = label;
    return link;
  });
  code.closest("pre").after(...links.flatMap((link, at) => (at ? [document.createElement("br"), link] : [link])));
}
