// Simulations run in a terminal of the editor.

import * as vscode from "vscode";

import type { Terminal } from "./messages";

/** Runs a command of the server in a terminal of its own. */
export function runInTerminal(request: Terminal): vscode.Terminal | undefined {
  const [program, ...args] = request.command;
  if (program === undefined) {
    return undefined;
  }
  // The program runs without a shell, so no character of a file name has a special meaning.
  const terminal = vscode.window.createTerminal({
    name: request.title,
    cwd: request.cwd ?? undefined,
    shellPath: program,
    shellArgs: args,
  });
  terminal.show();
  return terminal;
}
