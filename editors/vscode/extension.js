// Starts `fencewright lsp` for the languages it reads, with the settings it knows.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SETTINGS = ["model", "timeout", "define", "verify"];
let client;

function settings() {
  const all = vscode.workspace.getConfiguration("fencewright");
  return Object.fromEntries(SETTINGS.map((name) => [name, all.get(name)]));
}

async function activate(context) {
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
