// Verdicts in the status bar: how many properties of the current file hold.

import * as vscode from "vscode";

import type { PropertyVerdict, Verdicts } from "./messages";

/** One line about verdicts, such as `2 hold, 1 fails`. */
export function summary(properties: PropertyVerdict[]): string {
  const count = (verdict: string) => properties.filter((property) => property.verdict === verdict).length;
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
  return parts.join(", ");
}

/** The address of a file as the editor writes it; programs differ in the characters that they escape. */
export function sameAddress(uri: string): string {
  return vscode.Uri.parse(uri).toString();
}

/** Shows the verdicts of the file in the active editor. */
export class VerdictStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 10);
  /** Last verdicts, by the address of the model. */
  private readonly models = new Map<string, Verdicts>();

  /** Takes the verdicts of a model. They replace all earlier ones of this model. */
  update(verdicts: Verdicts): void {
    this.models.set(sameAddress(verdicts.uri), verdicts);
    this.show(vscode.window.activeTextEditor);
  }

  /** Forgets the verdicts of all models that a file belongs to, because it has changed. */
  forget(uri: string): void {
    for (const [model, verdicts] of this.models) {
      if (model === uri || this.within(verdicts, uri).length > 0) {
        this.models.delete(model);
      }
    }
    this.show(vscode.window.activeTextEditor);
  }

  /** Shows the verdicts of the file of an editor, or nothing. */
  show(editor: vscode.TextEditor | undefined): void {
    const uri = editor?.document.uri.toString();
    const properties =
      uri === undefined ? [] : [...this.models.values()].flatMap((verdicts) => this.within(verdicts, uri));
    if (properties.length === 0) {
      this.item.hide();
      return;
    }
    const fails = properties.some((property) => property.verdict === "fails");
    this.item.text = `${fails ? "$(error)" : "$(check)"} Masque: ${summary(properties)}`;
    this.item.tooltip = properties.map((property) => `${property.verdict}  ${property.name}`).join("\n");
    this.item.command = "masque.showEvidence";
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  /** The properties of a model that are in a file. */
  private within(verdicts: Verdicts, uri: string): PropertyVerdict[] {
    return verdicts.properties.filter((property) => sameAddress(property.uri ?? verdicts.uri) === uri);
  }
}
