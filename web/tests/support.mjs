// A browser, a server for the built page, and watchers: nothing may go wrong unseen.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import puppeteer from "puppeteer-core";

export const root = resolve(import.meta.dirname, "../..");
export const dist = resolve(root, "web/dist");
export const site = resolve(root, "target/site");

/** The native program that cargo has built last. */
function built() {
  const paths = ["release", "debug"].map((profile) => resolve(root, "target", profile, "fencewright"));
  const found = paths.filter((path) => existsSync(path)).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  assert.ok(found.length, "build fencewright first");
  return found[0];
}

/** The native program to compare with. */
export const native = () => process.env.FENCEWRIGHT ?? built();

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function browser() {
  const executablePath = process.env.CHROMIUM ?? BROWSERS.find((path) => existsSync(path));
  assert.ok(executablePath, "there is no browser; name one in CHROMIUM");
  return puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"], protocolTimeout: 600_000 });
}

/** A site, served by `fencewright playground`, and the address where that begins. */
export async function serve(folder = dist) {
  const server = spawn(built(), ["playground", "--site", folder, "--no-open", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done, fail) => {
    let said = "";
    server.stdout.on("data", (more) => {
      said += more;
      const found = /http:\/\/\S+/.exec(said);
      if (found) done(found[0]);
    });
    server.on("exit", () => fail(new Error(`the server ended: ${said}`)));
  });
  return { address, stop: () => server.kill() };
}

/** Notes what goes wrong in a page: errors on the console, and requests that fail or leave. */
export function watched(page, address) {
  const wrong = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error}`));
  page.on("requestfailed", (request) => wrong.push(`failed: ${request.url()}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:") && !url.startsWith("blob:")) wrong.push(`leaves: ${url}`);
  });
  return wrong;
}

/** The page, ready, with what went wrong in it. */
export async function openPage(browser, address, hash = "", size = { width: 1280, height: 900 }, prepare = async () => {}) {
  const page = await browser.newPage();
  await prepare(page);
  const wrong = watched(page, address);
  await page.setViewport(size);
  await page.goto(`${address}${hash}`);
  await until(page, () => document.documentElement.dataset.ready === "yes", "the page opens");
  return { page, wrong };
}

export const status = (page) => page.$eval("#status", (element) => element.textContent);
export const verdict = (page) => page.$eval(".answer:not([hidden]) .verdict", (element) => element.textContent);

/** Waits until the page is no longer busy and something fits. */
export async function until(page, fits, what) {
  try {
    await page.waitForFunction(fits, { timeout: 60_000, polling: 50 });
  } catch (error) {
    throw new Error(`${what}: ${await status(page)}`, { cause: error });
  }
}

/** Presses a button once it can be seen and used, wherever it is by then: pages move while answers come in. */
export async function press(page, selector) {
  const usable = (selector) => {
    const element = document.querySelector(selector);
    return element && !element.disabled && element.checkVisibility() && (element.click(), true);
  };
  try {
    await page.waitForFunction(usable, { timeout: 60_000, polling: 50 }, selector);
  } catch (error) {
    throw new Error(`${selector} cannot be pressed`, { cause: error });
  }
}

/** The text in the editor. */
export const text = (page) =>
  page.$eval("#editor", (host) => [...host.shadowRoot.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));

/** Fencewright as the page runs it, in a worker, without the page around it. */
export async function worker(page, folder = dist) {
  const files = readdirSync(resolve(folder, "assets"));
  const script = files.find((file) => /^worker-.*\.js$/.test(file));
  const module = files.find((file) => file.endsWith(".wasm"));
  assert.ok(script && module, "the page was built");
  await page.evaluate(async (script, module) => {
    const compiled = await WebAssembly.compile(await (await fetch(`assets/${module}`)).arrayBuffer());
    window.begin = () => {
      window.fencewright = new Worker(`assets/${script}`, { type: "module" });
      window.fencewright.postMessage({ module: compiled });
    };
    window.begin();
    window.ask = (request) => new Promise((done) => {
      window.fencewright.onmessage = ({ data }) => {
        if ("answer" in data) done(JSON.parse(data.answer));
        if ("broken" in data) done({ broken: data });
      };
      window.fencewright.postMessage({ id: 1, request: JSON.stringify(request) });
    });
  }, script, module);
  return (request) => page.evaluate((request) => window.ask(request), request);
}

/** A module whose memory can grow by so many pages of 64 KB and no further. */
export function limited(module, pages) {
  const number = (at) => {
    let value = 0;
    for (let shift = 0; ; shift += 7, at++) {
      value += (module[at] & 127) * 2 ** shift;
      if (module[at] < 128) return { value, after: at + 1 };
    }
  };
  const written = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...written(value >>> 7)]);
  // Behind eight bytes of preamble stand sections: a byte that says which, the length, the content. Memories are section 5.
  for (let at = 8; at < module.length; ) {
    const { value: length, after } = number(at + 1);
    if (module[at] === 5) {
      assert.equal(module[after], 1, "one memory");
      const least = number(after + 2).value;
      const memory = [1, 1, ...written(least), ...written(least + pages)];
      return Buffer.concat([module.subarray(0, at), Buffer.from([5, ...written(memory.length), ...memory]), module.subarray(after + length)]);
    }
    at = after + length;
  }
  assert.fail("the module has no memory of its own");
}

/** All programs to choose from, as the files they come from. */
export function examples() {
  const files = ["corpus", "web/examples"].flatMap((folder) => readdirSync(resolve(root, folder)).sort().map((name) => resolve(root, folder, name)));
  return files.filter((file) => /\.(fw|litmus|c)$/.test(file)).map((file) => ({ file, name: basename(file), text: readFileSync(file, "utf8") }));
}
