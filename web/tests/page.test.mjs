// The page as people use it, in a real browser.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { createRequire } from "node:module";
import { deflateRawSync } from "node:zlib";
import { browser, dist, limited, native, openPage, press, root, serve, status, text, until, verdict } from "./support.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let chromium, server;
before(async () => {
  server = await serve();
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  server?.stop();
});

const open = (hash, size) => openPage(chromium, server.address, hash, size);
const ask = async (page) => {
  await page.$eval("#answers", (answers) => answers.replaceChildren());
  await press(page, "#ask");
  await until(page, () => document.querySelector(".answer .verdict"), "an answer");
};
/** Puts a program into the page, as a link does. */
const linked = (name, program, more = "") =>
  `#name=${encodeURIComponent(name)}&text=${encodeURIComponent(program)}${more}`;

/** Counts for ever: no engine ends. */
const ENDLESS = `shared x, y;
thread P { loop { x = x + y; y = x * x + 1; } }
thread Q { loop { y = y + x; } }
never x == 0 - 1;`;

test("the page opens with Peterson's lock, its violation, and the fences that mend it", async () => {
  const { page, wrong } = await open("");
  assert.equal(await verdict(page), "unsafe under TSO");
  assert.match(await text(page), /thread P/);
  assert.ok(await page.$(".answer .timeline tbody tr"), "a time line");
  assert.ok(await page.$(".answer .happens-before svg .event"), "a picture");
  await press(page, ".find-fences");
  await until(page, () => document.querySelector(".apply"), "fences");
  await press(page, ".apply");
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "safe under TSO", "safe with fences");
  assert.match(await text(page), /fence;/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("all models side by side; final states of a litmus test across them", async () => {
  const { page, wrong } = await open("#example=sb.litmus&model=all");
  const rows = await page.$$eval(".across tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.deepEqual(rows[0], ["0:EAX=0; 1:EAX=0", "no", "yes", "yes"]);
  assert.equal(rows.length, 4);
  await press(page, ".tabs button:nth-child(2)");
  assert.equal(await verdict(page), "holds under TSO");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("robustness is told with its cycle", async () => {
  const { page, wrong } = await open("#example=sb.fw&question=robust");
  assert.match(await verdict(page), /not robust/);
  assert.ok(await page.$(".cycle li"), "the cycle in words");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("C is read, and its errors are underlined", async () => {
  const { page, wrong } = await open("#example=peterson.c");
  assert.equal(await verdict(page), "unsafe under TSO");
  await page.evaluate((hash) => (location.hash = hash), linked("a.fw", "shared x;\nthread P { y = 1; }\n"));
  await page.waitForFunction(() => document.querySelector("#editor").shadowRoot.querySelector(".cm-lintRange-error"), { timeout: 30_000 });
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "error", "an error");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a run: steps are taken, undone, and surprise finds the violation", async () => {
  const { page, wrong } = await open("#example=sb.fw&question=run");
  await until(page, () => document.querySelector(".enabled .takes"), "steps");
  await press(page, ".enabled .takes");
  await until(page, () => document.querySelector("#status").textContent.startsWith("1 step "), "one step");
  assert.ok(await page.$(".cell.waiting"), "the store waits in its buffer");
  await press(page, ".undo");
  await until(page, () => document.querySelector("#status").textContent.startsWith("0 steps"), "no step");
  await press(page, ".surprise");
  await until(page, () => document.querySelector(".violated"), "a violation");
  await press(page, "#share");
  await until(page, () => location.hash.startsWith("#p1."), "a link");
  const hash = await page.evaluate(() => location.hash);
  const shown = await page.$$eval(".run .timeline tbody tr", (rows) => rows.length);
  const { page: other, wrong: wrong2 } = await open(hash);
  await until(other, () => document.querySelector(".violated"), "the shared run");
  assert.equal(await other.$$eval(".run .timeline tbody tr", (rows) => rows.length), shown);
  assert.deepEqual([...wrong, ...wrong2], []);
  await page.close();
  await other.close();
});

test("a link brings back text, question and model", async () => {
  const program = "// \u00e4\u{1F512} <b>&\nshared x;\nthread P { x = 1; }\nnever x == 1;\n";
  const { page } = await open(linked("mine.fw", program, "&model=pso&question=fence"));
  await press(page, "#share");
  await until(page, () => location.hash.startsWith("#p1."), "a link");
  const hash = await page.evaluate(() => location.hash);
  const { page: other, wrong } = await open(hash);
  assert.equal(await text(other), program.trimEnd() + "\n");
  const fields = await other.evaluate(() => ["question", "model"].map((name) => document.querySelector(`input[name=${name}]:checked`).value));
  assert.deepEqual(fields, ["fence", "pso"]);
  assert.equal(await other.$eval("#name", (name) => name.value), "mine.fw");
  assert.deepEqual(wrong, []);
  await page.close();
  await other.close();
});

test("broken links do no harm", async () => {
  const bomb = deflateRawSync(Buffer.alloc(64 << 20, " ")).toString("base64url");
  for (const hash of ["#p1.AAAA", "#p1.%%%", "#example=nothing", "#text", `#p1.${"x".repeat(9000)}`, `#p1.${bomb}`]) {
    const { page, wrong } = await open(hash);
    assert.deepEqual(wrong, [], hash);
    await page.close();
  }
});

test("stopping ends a long question, and the next one is answered", async () => {
  const { page, wrong } = await open("");
  await page.evaluate((hash) => (location.hash = hash), linked("long.fw", ENDLESS));
  await until(page, () => /states/.test(document.querySelector("#status").textContent), "progress");
  await press(page, "#stop");
  assert.equal(await status(page), "Stopped.");
  assert.equal(await verdict(page), "unknown under TSO");
  await page.select("#example", "mp.fw");
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "safe under TSO", "the next answer");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("running out of time or memory is an honest unknown", async () => {
  const { page, wrong } = await open("#example=mp.fw");
  const limited = async (seconds, megabytes) => {
    await page.evaluate((s, m) => Object.assign(document.querySelector("#seconds"), { value: s }) &&
      Object.assign(document.querySelector("#megabytes"), { value: m }), seconds, megabytes);
    await ask(page);
    assert.equal(await verdict(page), "unknown under TSO");
    return page.$eval(".answer", (answer) => answer.textContent);
  };
  await page.evaluate((hash) => (location.hash = hash), linked("long.fw", ENDLESS));
  await press(page, "#stop");
  assert.match(await limited("1", "1000"), /time limit was reached/);
  assert.match(await limited("60", "16"), /memory limit was reached/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("when there really is no more memory that is an honest unknown, too", async () => {
  const name = readdirSync(join(dist, "assets")).find((file) => file.endsWith(".wasm"));
  const small = limited(readFileSync(join(dist, "assets", name)), 64);
  const { page, wrong } = await openPage(chromium, server.address, "#example=mp.fw", undefined, async (page) => {
    await page.setBypassServiceWorker(true);
    await page.setRequestInterception(true);
    page.on("request", (request) => (request.url().endsWith(name)
      ? request.respond({ contentType: "application/wasm", body: small })
      : request.continue()));
  });
  assert.equal(await verdict(page), "safe under TSO");
  await page.evaluate((hash) => (location.hash = hash), linked("long.fw", ENDLESS));
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "unknown under TSO", "an answer");
  assert.match(await page.$eval(".answer", (answer) => answer.textContent), /ran out of memory or stack/);
  await page.evaluate((hash) => (location.hash = hash), "#example=mp.fw");
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "safe under TSO", "the next answer");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("when the module breaks the page says so and goes on", async () => {
  const { page } = await open("#example=mp.fw");
  const broken = page.workers();
  assert.ok(broken.length >= 2, "two workers");
  for (const worker of broken) {
    await worker.evaluate(() => (performance.now = () => { throw new RangeError("Maximum call stack size exceeded"); }));
  }
  await ask(page);
  assert.match(await page.$eval(".answer", (answer) => answer.textContent), /ran out of memory or stack/);
  await ask(page);
  assert.equal(await verdict(page), "safe under TSO");
  await page.close();
});

test("whatever a program or a file is called, it stays text", async () => {
  const evil = "<img src=x onerror=alert(1)><script>alert(1)</script>.litmus";
  const program = `X86 "><script>alert(1)</script>\n(* </script><img src=x onerror=alert(1)> *)\n{ x=0; }\n P0 ;\n MOV [x],$1 ;\nexists (x=1) (* <b> *)\n`;
  const { page, wrong } = await open(linked(evil, program, "&model=all"));
  await page.evaluate((hash) => (location.hash = hash), linked("<img src=x onerror=alert(1)>.fw", "shared x; thread P { x = 1; } never x == 1; // <img src=x onerror=alert(2)>\n"));
  await until(page, () => document.querySelector(".answer .verdict")?.textContent.startsWith("unsafe"), "an answer");
  assert.equal(await page.$$eval("#answers img, #answers b > script, #answers script:not([type='application/json'])", (found) => found.length), 0);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("names and keywords are completed", async () => {
  const { page, wrong } = await open(linked("a.fw", "shared counter;\n"));
  await page.evaluate(() => document.querySelector("#editor").shadowRoot.querySelector(".cm-content").focus());
  await page.keyboard.press("End");
  await page.keyboard.type(" cou");
  // Names are known once the text was read, which may be after it was typed: then somebody would ask again.
  const offered = async (label) => {
    for (let asked = 0; asked < 60; asked++) {
      const shown = await page.evaluate(() => [...document.querySelector("#editor").shadowRoot.querySelectorAll(".cm-completionLabel")].map((item) => item.textContent));
      if (shown.includes(label)) return;
      await page.keyboard.down("Control");
      await page.keyboard.press("Space");
      await page.keyboard.up("Control");
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    assert.fail(`${label} is not offered`);
  };
  await offered("counter");
  await page.keyboard.press("Escape");
  await page.keyboard.type(" thr");
  await offered("thread");
  assert.deepEqual(wrong, []);
  await page.close();
});

test("evidence is downloaded, and the native program accepts it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fencewright-"));
  const { page, wrong } = await open("#example=peterson_fenced.fw");
  const session = await page.createCDPSession();
  await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder, eventsEnabled: true });
  const done = new Promise((done) => session.on("Browser.downloadProgress", ({ state }) => state === "completed" && done()));
  await page.$$eval("button", (buttons) => buttons.find((button) => button.textContent === "Download evidence").click());
  await done;
  const program = resolve(root, "corpus/peterson_fenced.fw");
  const { status, stdout } = spawnSync(native(), ["check", program, join(folder, "peterson_fenced.tso.evidence.txt")], { encoding: "utf8" });
  assert.equal(status, 0);
  assert.match(stdout, /safe under TSO/);
  rmSync(folder, { recursive: true });
  assert.deepEqual(wrong, []);
  await page.close();
});

test("a dropped file is opened", async () => {
  const { page, wrong } = await open("#example=mp.fw");
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["shared x; thread P { x = 7; } never x == 8;"], "dropped.fw"));
    document.querySelector("#editor").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true, composed: true }));
  });
  await until(page, () => document.querySelector("#name").value === "dropped.fw", "its name");
  assert.match(await text(page), /x = 7/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test("everything can be done with the keyboard alone", async () => {
  const { page, wrong } = await open("#example=mp.fw");
  const focus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute("name") || document.activeElement?.tagName);
  const seen = new Set();
  for (let at = 0; at < 40; at++) {
    await page.keyboard.press("Tab");
    // The editor keeps the key for indenting until Esc.
    if ((await focus()) === "editor") await page.keyboard.press("Escape");
    seen.add(await focus());
    if (seen.has("ask")) break;
  }
  for (const id of ["example", "name", "editor", "open", "save", "share", "question", "model", "seconds", "megabytes", "ask"]) {
    assert.ok(seen.has(id), `${id} among ${[...seen]}`);
  }
  await page.$eval("#answers", (answers) => answers.replaceChildren());
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector(".answer .verdict"), "an answer by keyboard");
  await page.focus("#example");
  await page.keyboard.type("peterson.fw");
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "unsafe under TSO", "an example by keyboard");
  const before = await page.$eval(".count", (count) => count.textContent);
  await page.focus(".controls button");
  await page.keyboard.press("j");
  assert.notEqual(await page.$eval(".count", (count) => count.textContent), before);
  assert.deepEqual(wrong, []);
  await page.close();
});

for (const [size, width, scheme] of [["phone", 400, "light"], ["desk", 1280, "dark"], ["desk", 1280, "light"]]) {
  test(`${width} wide, ${scheme}: nothing is cut off, and axe finds nothing serious`, async () => {
    for (const hash of ["#example=peterson.fw", "#example=sb.litmus&model=all", "#example=sb.fw&question=run", "#example=peterson.fw&question=fence", "#example=mp.fw"]) {
      const { page, wrong } = await openPage(chromium, server.address, "", { width, height: 800 });
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.evaluate((hash) => (location.hash = hash), hash);
      await until(page, () => document.querySelector("#answers").getAttribute("aria-busy") !== "true" && document.querySelector(".answer"), "an answer");
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(wide <= 0, `${size} ${hash}: ${wide} pixels too wide`);
      // The policy forbids scripts from elsewhere; this one comes through the debugger.
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
      const serious = found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
      assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]), [], `${size} ${hash}`);
      assert.deepEqual(wrong, []);
      await page.close();
    }
  });
}

test("without a network it opens again and answers", async () => {
  const own = await serve();
  const { page } = await openPage(chromium, own.address);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(() => navigator.serviceWorker.controller, { timeout: 30_000 });
  own.stop();
  await assert.rejects(fetch(own.address), "nobody is there any more");
  await page.reload();
  await page.waitForSelector("html[data-ready=yes]", { timeout: 60_000 });
  await page.select("#example", "mp.fw");
  await until(page, () => document.querySelector(".answer .verdict")?.textContent === "safe under TSO", "an answer");
  await page.close();
});
