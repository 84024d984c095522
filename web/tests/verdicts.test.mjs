// Every program of the corpus and every other example under every model: the page's answer is the native program's.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { browser, examples, native, openPage, root, serve, worker } from "./support.mjs";

/** How long either may take for one answer, in seconds. */
const PATIENCE = Number(process.env.FENCEWRIGHT_PATIENCE ?? 10);

let chromium, server;
before(async () => {
  server = await serve();
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  server?.stop();
});

/** What the native program says of some files, by file and model. */
function natively(files) {
  const args = ["verify", "--format", "json", "--model", "all", "--timeout", String(PATIENCE), "--threads", "1", ...files];
  return new Promise((done, fail) => {
    execFile(native(), args, { cwd: root, maxBuffer: 1 << 30 }, (error, out) => {
      if (!out) return fail(error);
      const answers = out.trim().split("\n").map((line) => JSON.parse(line));
      done(new Map(answers.map((answer) => [`${answer.file} ${answer.model}`, answer])));
    });
  });
}

/** What the page's worker says of a program under every model. */
async function here(ask, { name, text }) {
  const answers = [];
  for (const model of ["sc", "tso", "pso"]) {
    const answer = await ask({ do: "verify", name, text, model, seconds: PATIENCE, megabytes: 1000 });
    assert.ok(!answer.broken && !answer.error, `${name} ${model}: ${JSON.stringify(answer).slice(0, 300)}`);
    answers.push([model, answer.json]);
  }
  return answers;
}

test("verdicts are those of the native program", async (t) => {
  const { page, wrong } = await openPage(chromium, server.address);
  const ask = await worker(page);
  const programs = examples();
  // Both compute at the same time.
  const there = natively(programs.map(({ file }) => file));
  const found = [];
  for (const program of programs) found.push(...(await here(ask, program)).map(([model, answer]) => ({ ...program, model, answer })));
  const expected = await there;
  let [decided, open] = [0, 0];
  for (const { file, name, model, answer } of found) {
    const native = expected.get(`${file} ${model}`);
    // Whoever ran out of time says so; what is decided has to agree.
    if ([native.verdict, answer.verdict].includes("unknown")) {
      open++;
      continue;
    }
    decided++;
    const said = ({ verdict, violation, engine, outcomes }) => ({ verdict, violation, engine, outcomes });
    assert.deepEqual(said(answer), said(native), `${name} under ${model}`);
  }
  t.diagnostic(`${decided} answers agree, ${open} are open within ${PATIENCE} s`);
  assert.ok(decided > 300, `${decided} of ${decided + open}`);
  assert.deepEqual(wrong, []);
});
