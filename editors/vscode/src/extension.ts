// Entry point: connects the parts of the extension.

import * as vscode from "vscode";

import { registerCommands } from "./commands";
import { EvidencePanel } from "./evidence";
import { Server } from "./server";
import { VerdictStatus } from "./verdicts";

let server: Server | undefined;

/** Starts the extension when the first model is opened. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Masque", { log: true });
  const evidence = new EvidencePanel();
  const status = new VerdictStatus();
  server = new Server(output, evidence, status);
  context.subscriptions.push(
    output,
    evidence,
    status,
    ...registerCommands(server, evidence),
    vscode.window.onDidChangeActiveTextEditor((editor) => status.show(editor)),
    vscode.workspace.onDidChangeTextDocument((change) => {
      if (change.contentChanges.length > 0) {
        status.forget(change.document.uri.toString());
      }
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("masque.path")) {
        void server?.restart();
      }
    }),
  );
  await server.start();
}

/** Stops the server when the window is closed. */
export async function deactivate(): Promise<void> {
  await server?.stop();
}
