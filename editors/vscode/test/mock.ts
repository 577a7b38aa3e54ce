// A stand-in for the module `vscode` and for the language client, because tests run without an editor.

import Module from "node:module";

/** What the extension did to the editor. */
export interface Recorded {
  errors: string[];
  information: string[];
  executed: unknown[][];
  external: string[];
  terminals: Record<string, unknown>[];
  panels: MockPanel[];
  status: { text: string; tooltip: string; visible: boolean };
  log: string[];
  clients: MockClient[];
}

/** A webview panel. */
export interface MockPanel {
  title: string;
  options: Record<string, unknown>;
  webview: { html: string };
  reveals: number;
  close: () => void;
}

/** A client that records requests and answers from a table. */
export class MockClient {
  running = false;
  disposed = false;
  readonly requests: { method: string; params: unknown }[] = [];
  readonly handlers = new Map<string, (message: unknown) => void>();
  /** Answers by method. */
  answers: Record<string, unknown> = {};
  /** Error of the start. */
  static failure: string | undefined;

  constructor(
    readonly id: string,
    readonly name: string,
    readonly server: { run: { command: string; args: string[] } },
    readonly options: Record<string, unknown>,
  ) {
    recorded.clients.push(this);
  }
  async start(): Promise<void> {
    if (MockClient.failure !== undefined) {
      throw new Error(MockClient.failure);
    }
    this.running = true;
  }
  async stop(): Promise<void> {
    this.running = false;
  }
  async dispose(): Promise<void> {
    this.disposed = true;
  }
  isRunning(): boolean {
    return this.running;
  }
  async sendRequest(method: string, params: unknown): Promise<unknown> {
    this.requests.push({ method, params });
    return this.answers[method];
  }
  onNotification(method: string, handler: (message: unknown) => void) {
    this.handlers.set(method, handler);
    return { dispose() {} };
  }
  /** Delivers a notification of the server. */
  notify(method: string, message: unknown): void {
    const handler = this.handlers.get(method);
    if (handler === undefined) {
      throw new Error(`nothing listens to ${method}`);
    }
    handler(message);
  }
}

export const recorded: Recorded = empty();
/** Settings by their full name. */
export const settings = new Map<string, unknown>();
/** Registered commands. */
export const commands = new Map<string, () => Promise<void>>();
/** Listeners of events. */
export const events: Record<string, ((event: never) => void)[]> = {};

function empty(): Recorded {
  return {
    errors: [],
    information: [],
    executed: [],
    external: [],
    terminals: [],
    panels: [],
    status: { text: "", tooltip: "", visible: false },
    log: [],
    clients: [],
  };
}

/** Forgets everything between tests. */
export function reset(): void {
  Object.assign(recorded, empty());
  settings.clear();
  commands.clear();
  for (const name of Object.keys(events)) {
    delete events[name];
  }
  MockClient.failure = undefined;
  vscode.window.activeTextEditor = undefined;
}

/** Opens a file in the active editor, with the cursor at the start of a line. */
export function openEditor(path: string, languageId: string, line = 0): void {
  const uri = { toString: () => `file://${path}`, fsPath: path };
  vscode.window.activeTextEditor = { document: { uri, languageId }, selection: { active: { line, character: 0 } } };
}

/** Delivers an event to its listeners. */
export function fire(name: string, event: unknown): void {
  for (const listener of events[name] ?? []) {
    listener(event as never);
  }
}

const disposable = { dispose() {} };

function listener(name: string) {
  return (handler: (event: never) => void) => {
    (events[name] ??= []).push(handler);
    return disposable;
  };
}

const channel = {
  info: (text: string) => recorded.log.push(text),
  warn: (text: string) => recorded.log.push(text),
  error: (text: string) => recorded.log.push(text),
  dispose() {},
};

function createPanel(_kind: string, title: string, _column: unknown, options: Record<string, unknown>): unknown {
  let closed: (() => void) | undefined;
  const panel = {
    title,
    options,
    webview: { html: "" },
    reveals: 0,
    reveal: () => {
      panel.reveals += 1;
    },
    onDidDispose: (handler: () => void) => {
      closed = handler;
      return disposable;
    },
    dispose: () => closed?.(),
    close: () => closed?.(),
  };
  recorded.panels.push(panel);
  return panel;
}

/** The module. */
export const vscode = {
  ViewColumn: { Beside: -2 },
  StatusBarAlignment: { Left: 1 },
  Uri: {
    file: (path: string) => ({ fsPath: path, toString: () => `file://${path}` }),
    // VS Code escapes more characters than others do, such as `+`.
    parse: (uri: string) => ({ toString: () => uri.replaceAll("+", "%2B") }),
  },
  env: {
    openExternal: async (uri: { toString(): string }) => {
      recorded.external.push(uri.toString());
      return true;
    },
  },
  commands: {
    registerCommand: (name: string, run: () => Promise<void>) => {
      commands.set(name, run);
      return disposable;
    },
    executeCommand: async (...args: unknown[]) => {
      recorded.executed.push(args);
    },
  },
  window: {
    activeTextEditor: undefined as unknown,
    createOutputChannel: () => channel,
    createStatusBarItem: () => ({
      set text(value: string) {
        recorded.status.text = value;
      },
      set tooltip(value: string) {
        recorded.status.tooltip = value;
      },
      show: () => {
        recorded.status.visible = true;
      },
      hide: () => {
        recorded.status.visible = false;
      },
      dispose() {},
    }),
    createWebviewPanel: createPanel,
    createTerminal: (options: Record<string, unknown>) => {
      recorded.terminals.push(options);
      return { show() {} };
    },
    showErrorMessage: async (message: string, choice?: string) => {
      recorded.errors.push(message);
      return choice;
    },
    showInformationMessage: async (message: string) => {
      recorded.information.push(message);
      return undefined;
    },
    onDidChangeActiveTextEditor: listener("editor"),
  },
  workspace: {
    workspaceFolders: undefined as unknown,
    getConfiguration: (section: string) => ({
      get: (name: string, fallback: unknown) => settings.get(`${section}.${name}`) ?? fallback,
    }),
    onDidChangeTextDocument: listener("text"),
    onDidChangeConfiguration: listener("configuration"),
  },
};

const replaced: Record<string, unknown> = {
  vscode,
  "vscode-languageclient/node": { LanguageClient: MockClient, TransportKind: { stdio: 0 } },
};
type Load = (request: string, ...rest: unknown[]) => unknown;
const loader = Module as unknown as { _load: Load };
const load = loader._load;
loader._load = function (this: unknown, request: string, ...rest: unknown[]) {
  return request in replaced ? replaced[request] : load.call(this, request, ...rest);
};
