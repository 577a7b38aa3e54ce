// Settings of the extension, and those that it passes to the server.

import * as vscode from "vscode";

/** Languages that the server reads, by their id. */
export const LANGUAGES = ["ispl", "bdi", "lcc", "mu"] as const;

/** Whether a document is in one of the languages of the server. */
export function isModel(document: vscode.TextDocument): boolean {
  return (LANGUAGES as readonly string[]).includes(document.languageId);
}

/** Settings of the server: the section `masque` without the settings that concern the editor only. */
export interface ServerSettings {
  check: { timeLimit: number; memoryLimit: number; engine: string; onSave: boolean };
  load: { timeLimit: number; memoryLimit: number };
  lenses: boolean;
  verdicts: { inlayHints: boolean; diagnostics: string };
}

/** Reads the settings of the server. */
export function serverSettings(): ServerSettings {
  const section = vscode.workspace.getConfiguration("masque");
  return {
    check: {
      timeLimit: section.get("check.timeLimit", 60),
      memoryLimit: section.get("check.memoryLimit", 2048),
      engine: section.get("check.engine", "auto"),
      onSave: section.get("check.onSave", false),
    },
    load: {
      timeLimit: section.get("load.timeLimit", 10),
      memoryLimit: section.get("load.memoryLimit", 2048),
    },
    lenses: section.get("lenses", true),
    verdicts: {
      inlayHints: section.get("verdicts.inlayHints", true),
      diagnostics: section.get("verdicts.diagnostics", "auto"),
    },
  };
}

/** Path of the program from the settings. An empty text means that the program is on the `PATH`. */
export function programSetting(): string {
  return vscode.workspace.getConfiguration("masque").get("path", "").trim();
}
