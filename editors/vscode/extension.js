// Starts `fencewright lsp` for the languages it reads, with the settings it knows.
const os = require("os");
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SETTINGS = ["model", "timeout", "define", "verify"];
let client;

function settings() {
  const all = vscode.workspace.getConfiguration("fencewright");
  return Object.fromEntries(SETTINGS.map((name) => [name, all.get(name)]));
}

// What the commands run, in a terminal: on the file of the editor, if they take one.
const COMMANDS = {
  verify: (file) => ["verify", "--model", "all", file],
  fence: (file) => ["fence", "--model", model(), file],
  robust: (file) => ["robust", file],
  report: (file) => ["verify", "--model", model(), "--force", "--report", page(file), file],
  playground: () => ["playground"],
};

function model() {
  return vscode.workspace.getConfiguration("fencewright").get("model");
}

function page(file) {
  return path.join(os.tmpdir(), `${path.basename(file)}.html`);
}

// The file of the editor, as it stands there.
async function saved() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || document.isUntitled) {
    vscode.window.showInformationMessage("Open and save a program first.");
    return undefined;
  }
  await document.save();
  return document.uri.fsPath;
}

async function run(name) {
  const file = COMMANDS[name].length ? await saved() : "";
  if (file === undefined) return;
  const command = vscode.workspace.getConfiguration("fencewright").get("path");
  const task = new vscode.Task(
    { type: "fencewright", command: name },
    vscode.TaskScope.Workspace,
    name,
    "fencewright",
    new vscode.ProcessExecution(command, COMMANDS[name](file)),
  );
  const execution = await vscode.tasks.executeTask(task);
  if (name === "report") {
    const ended = vscode.tasks.onDidEndTask((end) => {
      if (end.execution === execution) {
        ended.dispose();
        vscode.env.openExternal(vscode.Uri.file(page(file)));
      }
    });
  }
}

async function activate(context) {
  for (const name of Object.keys(COMMANDS)) {
    context.subscriptions.push(vscode.commands.registerCommand(`fencewright.${name}`, () => run(name)));
  }
  const command = vscode.workspace.getConfiguration("fencewright").get("path");
  const languages = ["fencewright", "litmus", "rmm", "trencher"];
  client = new LanguageClient(
    "fencewright",
    "Fencewright",
    { command, args: ["lsp"] },
    {
      documentSelector: languages.map((language) => ({ language })),
      initializationOptions: settings(),
    },
  );
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("fencewright")) {
        client.sendNotification("workspace/didChangeConfiguration", { settings: { fencewright: settings() } });
      }
    }),
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
