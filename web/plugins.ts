// What the page takes from the rest of the repository, and what makes it work without a network.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Plugin } from "vite";

const root = resolve(import.meta.dirname, "..");

export interface Example {
  name: string;
  group: string;
  title: string;
  learn: string;
  text: string;
}

/** The part of a comment behind a word, up to where the next such word or no comment begins. */
function told(text: string, word: string): string {
  const lines = text.split("\n").map((line) => line.replace(/^\s*(\/\/|\*|\(\*|\/\*)\s?/, "").replace(/\*[/)]\s*$/, ""));
  const start = lines.findIndex((line) => line.startsWith(`${word}:`));
  if (start < 0) return "";
  const end = lines.findIndex((line, at) => at > start && (/^[A-Z][a-z]+:/.test(line) || line.trim() === ""));
  const comment = text.split("\n").findIndex((line, at) => at > start && !/^\s*(\/\/|\*|\(\*|\/\*)/.test(line));
  const last = Math.min(...[end, comment].filter((at) => at > start), lines.length);
  return lines.slice(start, last).join(" ").slice(word.length + 1).replace(/\s+/g, " ").trim();
}

/** The first line of a comment. */
function title(text: string): string {
  const first = text.split("\n").find((line) => /^\s*(\/\/|\(\*|\/\*)/.test(line)) ?? "";
  return first.replace(/^\s*(\/\/|\(\*|\/\*)\s?/, "").replace(/\*[/)]\s*$/, "").trim();
}

function examplesIn(folder: string, group: (name: string) => string | undefined): Example[] {
  const names = readdirSync(resolve(root, folder)).sort();
  return names.flatMap((name) => {
    const inside = group(name);
    if (inside === undefined) return [];
    const text = readFileSync(resolve(root, folder, name), "utf8");
    return [{ name, group: inside, title: title(text), learn: told(text, "Learn"), text }];
  });
}

/** All programs to choose from: the corpus, and the page's own. */
export function allExamples(): Example[] {
  const corpus = examplesIn("corpus", (name) => (name.endsWith(".fw") ? "Programs" : undefined));
  const own = examplesIn("web/examples", (name) =>
    name.endsWith(".litmus") ? "Litmus tests (x86)" : name.endsWith(".c") ? "C" : undefined);
  return [...corpus, ...own];
}

/** `virtual:examples` */
export function examples(): Plugin {
  const id = "\0examples";
  return {
    name: "examples",
    resolveId: (source) => (source === "virtual:examples" ? id : undefined),
    load: (wanted) => (wanted === id ? `export default ${JSON.stringify(allExamples())};` : undefined),
  };
}

/** The script of HTML reports is no module; the page uses two of its functions. */
export function reportScript(): Plugin {
  return {
    name: "report-script",
    transform: (code, id) =>
      id.endsWith("/report/html/player.js") ? { code: `${code}\nexport { enliven, target };`, map: null } : undefined,
  };
}

/** In the site the book stands around the page, at an address that `web/site` knows. */
export function book(): Plugin {
  const address = process.env.FENCEWRIGHT_BOOK;
  return {
    name: "book",
    transformIndexHtml: (html) => html.replace("<!-- book -->", address ? `<a href="${address}">The book</a>` : ""),
  };
}

/** A service worker that keeps every file of this version, so that the page opens without a network. */
export function offline(): Plugin {
  return {
    name: "offline",
    apply: "build",
    generateBundle(_, bundle) {
      const files = Object.keys(bundle).filter((file) => !file.endsWith(".map")).sort();
      const digest = createHash("sha256");
      for (const file of files) {
        const output = bundle[file];
        digest.update(file).update(output.type === "chunk" ? output.code : output.source);
      }
      const source = readFileSync(resolve(root, "web/src/service-worker.js"), "utf8")
        .replace("__VERSION__", digest.digest("hex").slice(0, 16))
        .replace("__FILES__", JSON.stringify(["./", "icon.svg", ...files.filter((file) => file !== "index.html")]));
      this.emitFile({ type: "asset", fileName: "service-worker.js", source });
    },
  };
}
