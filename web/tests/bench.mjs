// How much longer the browser takes than the native program (one thread), for ten programs: `npm run bench`.

import { spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { browser, openPage, root, serve, worker } from "./support.mjs";

/** Those of the corpus that take longest, one for each program. */
const QUESTIONS = [
  ["seqlock_unbounded_pso.fw", "tso"], ["seqlock_unbounded.fw", "tso"], ["array_queue.fw", "tso"],
  ["array_queue_pso.fw", "pso"], ["chase_lev.fw", "tso"], ["bakery_random.fw", "pso"],
  ["bakery_random_fenced.fw", "tso"], ["chase_lev_pso.fw", "tso"], ["nonblocking_write_pso.fw", "pso"], ["bakery_fenced.fw", "pso"],
];
const TIMES = 9;

/** What a user has installed; a build for tests is several times slower. */
const released = process.env.FENCEWRIGHT ?? resolve(root, "target/release/fencewright");
assert.ok(existsSync(released), "first: cargo build --release");

const server = await serve();
const chromium = await browser();
try {
  const { page } = await openPage(chromium, server.address);
  const ask = await worker(page);
  const best = async (once) => {
    const times = [];
    for (let at = 0; at < TIMES; at++) times.push(await once());
    return Math.min(...times);
  };
  console.log("| program | model | native (ms) | browser (ms) | ratio |\n|---|---|---|---|---|");
  let product = 1;
  for (const [name, model] of QUESTIONS) {
    const file = resolve(root, "corpus", name);
    const there = await best(() => {
      const { stdout } = spawnSync(released, ["verify", "--format", "json", "--model", model, "--threads", "1", file], { maxBuffer: 1 << 28 });
      return JSON.parse(stdout).stats.seconds * 1000;
    });
    const text = readFileSync(file, "utf8");
    const here = await best(async () => {
      const answer = await ask({ do: "verify", name, text, model, seconds: 300, megabytes: 3000 });
      return answer.json.stats.seconds * 1000;
    });
    const ratio = here / Math.max(there, 0.5);
    product *= ratio;
    console.log(`| ${name} | ${model} | ${there.toFixed(0)} | ${here.toFixed(0)} | ${ratio.toFixed(1)} |`);
  }
  console.log(`\ngeometric mean of the ratios: ${(product ** (1 / QUESTIONS.length)).toFixed(2)}`);
} finally {
  await chromium.close();
  server.stop();
}
