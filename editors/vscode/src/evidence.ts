// The panel for evidence: one panel, which shows the page of the last model that was asked for.

import { randomBytes } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as vscode from "vscode";

import { MAX_PAGE_BYTES, messagePage, panelPage } from "./page";
import { sameAddress } from "./verdicts";

/** Shows pages with evidence, and remembers the last page of each model. */
export class EvidencePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  /** Paths of pages, by the addresses of the files of a model. */
  private readonly pages = new Map<string, string>();
  /** Path of the last page. */
  private last: string | undefined;

  /** Remembers the page of the files of a model. `page` is a path or a `file:` address. */
  remember(files: string[], page: string): void {
    this.last = page.startsWith("file:") ? fileURLToPath(page) : page;
    for (const file of files) {
      this.pages.set(sameAddress(file), this.last);
    }
  }

  /** Shows the page of a file; if it has none, the last page. */
  async show(file: string | undefined): Promise<void> {
    const page = (file === undefined ? undefined : this.pages.get(file)) ?? this.last;
    if (page === undefined) {
      void vscode.window.showInformationMessage(
        "There is no evidence yet. Run `why` on a property first.",
      );
      return;
    }
    await this.open(page);
  }

  /** Shows a page. */
  async open(page: string): Promise<void> {
    let html: string;
    try {
      if ((await fs.stat(page)).size > MAX_PAGE_BYTES) {
        await vscode.env.openExternal(vscode.Uri.file(page));
        return;
      }
      html = await fs.readFile(page, "utf8");
    } catch (error) {
      html = "";
      this.reveal(page).webview.html = messagePage(`The page cannot be read: ${String(error)}`, nonce());
    }
    if (html !== "") {
      this.reveal(page).webview.html = panelPage(html, nonce());
    }
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private reveal(page: string): vscode.WebviewPanel {
    const title = `Evidence: ${path.basename(page, ".html")}`;
    if (this.panel !== undefined) {
      this.panel.title = title;
      this.panel.reveal(undefined, true);
      return this.panel;
    }
    const panel = vscode.window.createWebviewPanel(
      "masque.evidence",
      title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      // The page needs no scripts, no files and no commands.
      { enableScripts: false, enableForms: false, enableCommandUris: false, localResourceRoots: [] },
    );
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    this.panel = panel;
    return panel;
  }
}

/** A value that cannot be guessed, for the policy of one page. */
function nonce(): string {
  return randomBytes(16).toString("hex");
}
