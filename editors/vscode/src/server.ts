// The connection to the language server: start, restart, stop, and the requests of the commands.

import * as vscode from "vscode";
import { type Executable, LanguageClient, type LanguageClientOptions, TransportKind } from "vscode-languageclient/node";

import type { EvidencePanel } from "./evidence";
import { type Command, type Evidence, type Terminal, type Verdicts, commandIn } from "./messages";
import { HOW_TO_INSTALL, findProgram, thisMachine } from "./program";
import { LANGUAGES, programSetting, serverSettings } from "./settings";
import { runInTerminal } from "./terminal";
import type { VerdictStatus } from "./verdicts";

/** The parts of a language client that this extension uses; tests supply their own. */
export interface Client {
  start(): Promise<void>;
  stop(): Promise<void>;
  isRunning(): boolean;
  sendRequest<Answer>(method: string, params: unknown): Promise<Answer>;
  onNotification<Message>(method: string, handler: (message: Message) => void): vscode.Disposable;
  dispose(): Promise<void>;
}

/** Creates a client for a program. */
export type ClientFactory = (program: string, output: vscode.LogOutputChannel) => Client;

/** Options of the client, with everything that the server needs to know at its start. */
export function clientOptions(output: vscode.LogOutputChannel): LanguageClientOptions {
  return {
    documentSelector: LANGUAGES.flatMap((language) => [
      { scheme: "file", language },
      { scheme: "untitled", language },
    ]),
    outputChannel: output,
    synchronize: { configurationSection: "masque" },
    initializationOptions: { settings: serverSettings(), terminal: true, evidencePanel: true },
  };
}

/** A client that starts `program lsp`. */
export const languageClient: ClientFactory = (program, output) => {
  const run: Executable = { command: program, args: ["lsp"], transport: TransportKind.stdio };
  return new LanguageClient("masque", "Masque", { run, debug: run }, clientOptions(output));
};

/** The server of this window. */
export class Server implements vscode.Disposable {
  private client: Client | undefined;

  constructor(
    private readonly output: vscode.LogOutputChannel,
    private readonly evidence: EvidencePanel,
    private readonly status: VerdictStatus,
    private readonly create: ClientFactory = languageClient,
  ) {}

  /** Starts the server. Where the program is not found, a message says how to install it. */
  async start(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const program = findProgram(programSetting(), thisMachine(folder));
    if ("problem" in program) {
      this.output.error(`${program.problem} ${HOW_TO_INSTALL}`);
      this.reportProblem(`${program.problem} ${HOW_TO_INSTALL}`);
      return;
    }
    this.output.info(`starts ${program.path} lsp`);
    const client = this.create(program.path, this.output);
    this.listen(client);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      this.reportProblem(
        `The language server \`${program.path} lsp\` does not start: ${String(error)}. Is this version of Masque too old?`,
      );
    }
  }

  /** Stops the server and starts it again. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Stops the server. */
  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      if (client?.isRunning()) {
        await client.stop();
      }
      await client?.dispose();
    } catch (error) {
      this.output.warn(`the server did not stop in time: ${String(error)}`);
    }
  }

  /** Runs a command of the server. */
  async execute(command: string, argument: unknown): Promise<void> {
    await this.request("workspace/executeCommand", { command, arguments: [argument] });
  }

  /** The command of a given name that the server offers at a position, as it would appear in a lens. */
  async commandAt(document: vscode.TextDocument, position: vscode.Position, name: string): Promise<Command | undefined> {
    const place = { line: position.line, character: position.character };
    const actions = await this.request("textDocument/codeAction", {
      textDocument: { uri: document.uri.toString() },
      range: { start: place, end: place },
      context: { diagnostics: [], only: ["source.masque"] },
    });
    return commandIn(actions, name);
  }

  dispose(): void {
    void this.stop();
  }

  private async request(method: string, params: unknown): Promise<unknown> {
    if (this.client === undefined || !this.client.isRunning()) {
      throw new Error("the language server is not running; see the output `Masque`");
    }
    return await this.client.sendRequest(method, params);
  }

  private listen(client: Client): void {
    client.onNotification("masque/verdicts", (verdicts: Verdicts) => {
      if (verdicts.evidence !== null) {
        const files = verdicts.properties.flatMap((property) => property.uri ?? []);
        this.evidence.remember([...files, verdicts.uri], verdicts.evidence);
      }
      this.status.update(verdicts);
    });
    client.onNotification("masque/evidence", (message: Evidence) => {
      this.evidence.remember([message.uri], message.path);
      void this.evidence.open(message.path);
    });
    client.onNotification("masque/terminal", (message: Terminal) => {
      runInTerminal(message);
    });
  }

  /** Shows a message. Nothing waits for it, because it stays until the user closes it. */
  private reportProblem(message: string): void {
    const settings = "Open Settings";
    void vscode.window.showErrorMessage(message, settings).then((choice) => {
      if (choice === settings) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "masque.path");
      }
    });
  }
}
