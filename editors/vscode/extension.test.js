// The extension without an editor around it: what it registers is what its manifest says, and what it runs, fencewright understands.
// `node --test editors/vscode`, with the program to run in FENCEWRIGHT or in target/debug.

const assert = require("node:assert/strict");
const { spawn, spawnSync } = require("node:child_process");
const { existsSync, readFileSync, rmSync } = require("node:fs");
const Module = require("node:module");
const { join, resolve } = require("node:path");
const { test } = require("node:test");

const root = resolve(__dirname, "../..");
const program = process.env.FENCEWRIGHT ?? resolve(root, "target/debug/fencewright");
const manifest = JSON.parse(readFileSync(join(__dirname, "package.json"), "utf8"));
const defaults = Object.fromEntries(Object.entries(manifest.contributes.configuration.properties).map(([name, { default: value }]) => [name, value]));

/** As much of VS Code as the extension uses, with notes of what it did. */
function editor(file) {
  const notes = { commands: new Map(), tasks: [], opened: [], told: [], clients: [], sent: [], saved: 0 };
  const values = { ...defaults, "fencewright.path": program };
  const ended = [];
  let changed;
  const vscode = {
    Task: class { constructor(...parts) { [this.definition, this.scope, this.name, this.source, this.execution] = parts; } },
    TaskScope: { Workspace: 1 },
    ProcessExecution: class { constructor(command, args) { Object.assign(this, { command, args }); } },
    Uri: { file: (path) => ({ fsPath: path }) },
    commands: { registerCommand: (name, run) => (notes.commands.set(name, run), { dispose() {} }) },
    env: { openExternal: (uri) => notes.opened.push(uri.fsPath) },
    tasks: {
      executeTask: async (task) => (notes.tasks.push(task), task),
      onDidEndTask: (hear) => (ended.push(hear), { dispose: () => ended.splice(ended.indexOf(hear), 1) }),
    },
    window: {
      activeTextEditor: file && { document: { isUntitled: false, uri: { fsPath: file }, save: async () => notes.saved++ } },
      showInformationMessage: (text) => notes.told.push(text),
    },
    workspace: {
      getConfiguration: (section) => ({ get: (name) => values[`${section}.${name}`] }),
      onDidChangeConfiguration: (hear) => ((changed = hear), { dispose() {} }),
    },
  };
  class LanguageClient {
    constructor(id, name, server, client) { notes.clients.push({ server, client }); }
    async start() {}
    async stop() {}
    sendNotification(method, value) { notes.sent.push({ method, value }); }
  }
  const load = Module._load;
  Module._load = (wanted, ...rest) =>
    wanted === "vscode" ? vscode : wanted === "vscode-languageclient/node" ? { LanguageClient } : load(wanted, ...rest);
  delete require.cache[require.resolve("./extension.js")];
  const extension = require("./extension.js");
  Module._load = load;
  const end = (task) => [...ended].forEach((hear) => hear({ execution: task }));
  return { notes, extension, values, end, change: (what) => changed(what), waiting: () => ended.length };
}

const started = async (file) => {
  const all = editor(file);
  await all.extension.activate({ subscriptions: [] });
  return all;
};

test("the commands of the manifest are registered, and no others", async () => {
  const { notes } = await started();
  assert.deepEqual([...notes.commands.keys()].sort(), manifest.contributes.commands.map(({ command }) => command).sort());
  const palette = manifest.contributes.menus.commandPalette.map(({ command }) => command);
  for (const command of palette) assert.ok(notes.commands.has(command), command);
});

test("what commands run is understood and answers", async () => {
  const file = resolve(root, "corpus/peterson.fw");
  const { notes, end, waiting } = await started(file);
  for (const [name, run] of notes.commands) {
    if (name === "fencewright.playground") continue;
    await run();
    const { execution } = notes.tasks.at(-1);
    const { status, stderr, stdout } = spawnSync(execution.command, execution.args, { encoding: "utf8" });
    assert.ok([0, 1].includes(status), `${name}: ${execution.args.join(" ")}: ${status}\n${stdout}${stderr}`);
  }
  assert.equal(notes.saved, notes.tasks.length, "files are saved before they are asked about");
  const report = notes.tasks.find((task) => task.name === "report");
  end(notes.tasks[0]);
  assert.deepEqual(notes.opened, [], "the end of another task opens nothing");
  end(report);
  assert.equal(notes.opened.length, 1);
  assert.match(readFileSync(notes.opened[0], "utf8"), /timeline/);
  rmSync(notes.opened[0]);
  assert.equal(waiting(), 0, "nobody listens any longer");
});

test("the playground is opened without a program", async () => {
  const { notes } = await started();
  await notes.commands.get("fencewright.playground")();
  assert.deepEqual([notes.told, notes.tasks.length], [[], 1]);
  const { execution } = notes.tasks[0];
  const { status } = spawnSync(execution.command, [...execution.args, "--help"]);
  assert.equal(status, 0);
});

test("without a program there is a word instead of a task", async () => {
  const { notes } = await started();
  await notes.commands.get("fencewright.verify")();
  assert.deepEqual([notes.told.length, notes.tasks.length], [1, 0]);
});

test("settings go to the server, which starts with them", async () => {
  const { notes, values, change } = await started();
  const [{ server, client }] = notes.clients;
  const languages = manifest.contributes.languages.map(({ id }) => id);
  for (const { language } of client.documentSelector) assert.ok(languages.includes(language), language);
  const settings = Object.keys(defaults).map((name) => name.replace("fencewright.", "")).filter((name) => name !== "path");
  assert.deepEqual(Object.keys(client.initializationOptions).sort(), settings.sort());
  values["fencewright.model"] = "pso";
  change({ affectsConfiguration: () => true });
  assert.equal(notes.sent[0].value.settings.fencewright.model, "pso");
  const said = await greeted(server, client.initializationOptions);
  assert.ok(said.result.capabilities, JSON.stringify(said));
});

/** What the server answers to the first message of an editor. */
function greeted({ command, args }, initializationOptions) {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {}, initializationOptions } });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return new Promise((done, fail) => {
    let said = "";
    server.stdout.on("data", (more) => {
      said += more;
      const found = /^Content-Length: (\d+)\r\n\r\n/.exec(said);
      if (!found || said.length < found[0].length + Number(found[1])) return;
      server.kill();
      done(JSON.parse(said.slice(found[0].length, found[0].length + Number(found[1]))));
    });
    server.on("error", fail);
  });
}

test("files that the manifest names are there once it is packed", () => {
  assert.ok(existsSync(resolve(__dirname, "../textmate/fencewright.tmLanguage.json")));
  for (const { configuration } of manifest.contributes.languages) if (configuration) assert.ok(existsSync(join(__dirname, configuration)));
});
