// The commands of the extension.

import * as vscode from "vscode";

import type { EvidencePanel } from "./evidence";
import type { Server } from "./server";
import { isModel } from "./settings";

/** Registers all commands. */
export function registerCommands(server: Server, evidence: EvidencePanel): vscode.Disposable[] {
  const register = (name: string, run: () => Promise<void>) =>
    vscode.commands.registerCommand(name, () => reportErrors(run));
  return [
    register("masque.checkFile", () => onFile(server, "masque.checkAll")),
    register("masque.cancelCheck", () => onFile(server, "masque.cancel")),
    register("masque.checkProperty", () => onProperty(server, "masque.check")),
    register("masque.whyProperty", () => onProperty(server, "masque.why")),
    register("masque.simulateProperty", () => onProperty(server, "masque.simulate")),
    register("masque.showEvidence", () => evidence.show(activeModel()?.document.uri.toString())),
    register("masque.restartServer", () => server.restart()),
  ];
}

/** The active editor, if it shows a model. */
function activeModel(): vscode.TextEditor | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor !== undefined && isModel(editor.document) ? editor : undefined;
}

async function onFile(server: Server, command: string): Promise<void> {
  const editor = activeModel();
  if (editor === undefined) {
    noModel();
    return;
  }
  await server.execute(command, { uri: editor.document.uri.toString() });
}

async function onProperty(server: Server, command: string): Promise<void> {
  const editor = activeModel();
  if (editor === undefined) {
    noModel();
    return;
  }
  const found = await server.commandAt(editor.document, editor.selection.active, command);
  if (found === undefined) {
    void vscode.window.showInformationMessage("There is no property at the cursor.");
    return;
  }
  await server.execute(found.command, found.arguments?.[0]);
}

function noModel(): void {
  void vscode.window.showInformationMessage("This command needs an ISPL, BDI, LCC or mu-calculus file in the editor.");
}

async function reportErrors(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`Masque: ${message}`);
  }
}
