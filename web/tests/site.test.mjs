// The book and the playground as one site (`web/site`): every link in it leads somewhere, and every example opens.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { after, before, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { browser, openPage, root, serve, site, until, verdict, watched, worker } from "./support.mjs";

let chromium, server, origin;
/** What stands on each page of the site, by its path. */
let pages;

before(async () => {
  server = await serve(site);
  origin = new URL("/", server.address).href;
  chromium = await browser();
  pages = await walk();
});
after(async () => {
  await chromium?.close();
  server?.stop();
});

/** Opens every page that links lead to from the first one, in a browser, so that scripts have done their part. */
async function walk() {
  const page = await chromium.newPage();
  const wrong = watched(page, origin);
  const found = new Map();
  const open = ["index.html"];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    wrong.length = 0;
    await page.goto(`${origin}${path}`, { waitUntil: "load" });
    const told = await page.evaluate(() => ({
      title: document.title,
      ids: [...document.querySelectorAll("[id], a[name]")].map((element) => element.id || element.getAttribute("name")),
      links: [...document.querySelectorAll("a[href]")].map((link) => ({ href: link.href, example: link.classList.contains("open-in-playground") })),
      parts: [...document.querySelectorAll("[src], link[href]")].map((part) => part.src ?? part.href),
    }));
    found.set(path, { ...told, wrong: serious(wrong) });
    const inside = told.links.map(({ href }) => pathOf(href)).filter((to) => to?.endsWith(".html") && !to.startsWith("playground/"));
    open.push(...inside);
  }
  await page.close();
  return found;
}

/** What went wrong on a page of the book, but that its highlighter knows other languages than ours. */
const serious = (wrong) => wrong.filter((what) => !/Could not find the language|Falling back to no-highlight/.test(what));

/** Where an address leads in the site, if it does. */
function pathOf(href) {
  if (!href.startsWith(origin)) return undefined;
  const path = decodeURIComponent(new URL(href).pathname.slice(1));
  return path === "" || path.endsWith("/") ? `${path}index.html` : path;
}

/** The blocks of code in the book's sources: how they are marked, and what they say. */
function blocks() {
  const sources = readdirSync(resolve(root, "docs"), { recursive: true }).filter((name) => name.endsWith(".md"));
  const texts = sources.map((name) => readFileSync(resolve(root, "docs", name), "utf8"));
  return texts.flatMap((text) => [...text.matchAll(/^```(\S+)\n([^]*?)^```$/gm)].map(([, marked, text]) => ({ marked: marked.split(","), text })));
}

/** All links that open an example, without those of the page for printing, which has everything a second time. */
const examples = () => [...pages].filter(([path]) => path !== "print.html").flatMap(([, { links }]) => links.filter((link) => link.example).map((link) => link.href));

test("every page is reached, and nothing goes wrong on it or leaves the site", () => {
  const files = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && !name.startsWith("playground/"));
  // The table of contents for browsers without scripts stands in a frame.
  assert.deepEqual([...pages.keys()].sort(), files.filter((name) => name !== "toc.html").sort());
  for (const [path, { wrong, title }] of pages) {
    assert.deepEqual(wrong, [], path);
    assert.match(title, /Fencewright/, path);
  }
});

test("every link leads to a file of the site and to a place on its page", async () => {
  let count = 0;
  const checked = new Set();
  for (const [path, { links, parts }] of pages) {
    for (const href of [...links.map((link) => link.href), ...parts]) {
      count++;
      if (href.startsWith("https://")) continue;
      const to = pathOf(href);
      assert.ok(to !== undefined, `${path}: ${href} leads out of the site`);
      if (!checked.has(to)) {
        const { status } = await fetch(`${origin}${to}`, { method: "HEAD" });
        assert.equal(status, 200, `${path}: ${href}`);
        checked.add(to);
      }
      const anchor = decodeURIComponent(new URL(href).hash.slice(1));
      if (anchor && pages.has(to)) assert.ok(pages.get(to).ids.includes(anchor), `${path}: ${href}: there is no such place`);
    }
  }
  assert.ok(count > 1000, `${count} links`);
});

test("every example has a link, whose program the playground shows and reads", async () => {
  const links = examples();
  const programs = links.filter((href) => new URLSearchParams(new URL(href).hash.slice(1)).has("text"));
  const written = blocks().filter(({ marked }) => ["fw", "fw-body", "litmus", "c", "rmm", "trencher"].includes(marked[0]));
  assert.equal(programs.length, written.length);
  // What the book shows to be refused is refused here as well.
  const refusals = blocks().filter(({ marked }) => marked[1] === "fails").map(({ text }) => text).join("\n");
  assert.ok(links.length - programs.length > 40, `${links.length - programs.length} links to the corpus`);
  const { page, wrong } = await openPage(chromium, server.address);
  const ask = await worker(page, resolve(site, "playground"));
  for (const href of new Set(links)) {
    assert.equal(pathOf(href), "playground/index.html");
    const wanted = new URLSearchParams(new URL(href).hash.slice(1));
    const name = wanted.get("name") ?? wanted.get("example");
    const text = wanted.get("text") ?? readFileSync(resolve(root, "corpus", name), "utf8");
    await page.evaluate((hash) => (location.hash = hash), new URL(href).hash);
    const shown = await shownIn(page, (shown) => shown.name === name && shown.text === text);
    assert.deepEqual({ name: shown.name, text: shown.text }, { name, text }, href);
    if (wanted.has("question")) assert.equal(shown.question, wanted.get("question"), href);
    const read = await ask({ do: "read", name, text });
    assert.equal(read.readable, !refusals.includes(` ${name}\n`), `${name}: ${read.reason}\n${text}`);
  }
  assert.deepEqual(wrong, []);
  await page.close();
});

/** What the page would share, as soon as it fits. */
async function shownIn(page, fits) {
  let shown;
  for (let tries = 0; tries < 200; tries++) {
    await page.evaluate(() => document.querySelector("#share").click());
    await until(page, () => location.hash.startsWith("#p1."), "a link");
    const packed = Buffer.from((await page.evaluate(() => location.hash)).slice("#p1.".length), "base64url");
    shown = JSON.parse(inflateRawSync(packed).toString());
    if (fits(shown)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return shown;
}

test("from the book to an answer and back, by clicks", async () => {
  const page = await chromium.newPage();
  const wrong = watched(page, origin);
  await page.goto(`${origin}tutorial.html`, { waitUntil: "load" });
  await page.click(".open-in-playground");
  await page.waitForSelector("html[data-ready=yes]", { timeout: 60_000 });
  assert.equal(await verdict(page), "unsafe under TSO");
  await page.click("header a");
  await page.waitForSelector("#mdbook-content, main", { timeout: 60_000 });
  assert.equal(relative(origin, page.url()), "index.html");
  assert.deepEqual(serious(wrong), []);
  await page.close();
});
