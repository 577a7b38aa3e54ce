// Verdicts in the status bar: how many properties of the current file hold.

import * as vscode from "vscode";

import type { Verdicts } from "./messages";

/** One line about the verdicts of a file, such as `2 hold, 1 fails`. */
export function summary(verdicts: Verdicts): string {
  const count = (verdict: string) => verdicts.properties.filter((property) => property.verdict === verdict).length;
  const parts: string[] = [];
  const holds = count("holds");
  const fails = count("fails");
  const unknown = count("unknown");
  if (holds > 0) {
    parts.push(`${holds} ${holds === 1 ? "holds" : "hold"}`);
  }
  if (fails > 0) {
    parts.push(`${fails} ${fails === 1 ? "fails" : "fail"}`);
  }
  if (unknown > 0) {
    parts.push(`${unknown} unknown`);
  }
  return parts.length === 0 ? "no properties" : parts.join(", ");
}

/** Shows the verdicts of the file in the active editor. */
export class VerdictStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 10);
  /** Last verdicts, by the address of the file. */
  private readonly verdicts = new Map<string, Verdicts>();

  /** Takes the verdicts of a check. A check of one property replaces the verdict of this property only. */
  update(verdicts: Verdicts): void {
    const known = this.verdicts.get(verdicts.uri);
    const names = new Set(verdicts.properties.map((property) => property.name));
    const kept = known?.version === verdicts.version ? known.properties.filter((old) => !names.has(old.name)) : [];
    this.verdicts.set(verdicts.uri, { ...verdicts, properties: [...kept, ...verdicts.properties] });
    this.show(vscode.window.activeTextEditor);
  }

  /** Forgets the verdicts of a file, because it has changed. */
  forget(uri: string): void {
    if (this.verdicts.delete(uri)) {
      this.show(vscode.window.activeTextEditor);
    }
  }

  /** Shows the verdicts of the file of an editor, or nothing. */
  show(editor: vscode.TextEditor | undefined): void {
    const verdicts = editor === undefined ? undefined : this.verdicts.get(editor.document.uri.toString());
    if (verdicts === undefined) {
      this.item.hide();
      return;
    }
    const fails = verdicts.properties.some((property) => property.verdict === "fails");
    this.item.text = `${fails ? "$(error)" : "$(check)"} Masque: ${summary(verdicts)}`;
    this.item.tooltip = verdicts.properties.map((property) => `${property.verdict}  ${property.name}`).join("\n");
    this.item.command = "masque.showEvidence";
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
