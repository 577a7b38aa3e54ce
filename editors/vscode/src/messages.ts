// Messages of the server that are not part of the language server protocol.

/** A position of the protocol: line and UTF-16 code unit, both from 0. */
export interface Position {
  line: number;
  character: number;
}

/** A range of the protocol. */
export interface Range {
  start: Position;
  end: Position;
}

/** Verdict of one property. */
export interface PropertyVerdict {
  /** Name of the property, or its number. */
  name: string;
  verdict: "holds" | "fails" | "unknown";
  /** File of the property, which may be one that the model imports. */
  uri?: string | null;
  /** Location of the property. */
  range: Range | null;
  /** Verdict and reason on one line. */
  text: string;
  /** In how many states it is true, such as `12 of 40`. */
  states: string | null;
}

/** Notification `masque/verdicts`, after every check: all verdicts of a model. */
export interface Verdicts {
  /** File of the model. */
  uri: string;
  version: number | null;
  properties: PropertyVerdict[];
  /** Address of the page with evidence. */
  evidence: string | null;
}

/** Notification `masque/evidence`: a page with evidence is to be shown. */
export interface Evidence {
  /** The model. */
  uri: string;
  /** Path of the page. */
  path: string;
}

/** Notification `masque/terminal`: a command is to be run in a terminal. */
export interface Terminal {
  title: string;
  cwd: string | null;
  /** Program and arguments. */
  command: string[];
}

/** A command of the protocol, as lenses and code actions carry it. */
export interface Command {
  title: string;
  command: string;
  arguments?: unknown[];
}

/** Finds the command of a given name in the answer to `textDocument/codeAction`: commands, and actions with a command. */
export function commandIn(actions: unknown, name: string): Command | undefined {
  if (!Array.isArray(actions)) {
    return undefined;
  }
  for (const action of actions) {
    const command = typeof action?.command === "string" ? action : action?.command;
    if (command?.command === name) {
      return command as Command;
    }
  }
  return undefined;
}
