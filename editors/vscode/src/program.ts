// Finds the program `masque`.

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** Where the program is, or why it was not found. */
export type Program = { path: string } | { problem: string };

/** What the search needs to know about the machine. */
export interface Machine {
  /** Environment variables. */
  env: NodeJS.ProcessEnv;
  /** `win32`, `linux`, `darwin`, .. */
  platform: string;
  /** Home folder of the user. */
  home: string;
  /** First folder of the workspace, to which relative paths refer. */
  folder: string | undefined;
  /** Whether a path is a file that can be run. */
  isProgram: (file: string) => boolean;
}

/** This machine. */
export function thisMachine(folder: string | undefined): Machine {
  return { env: process.env, platform: process.platform, home: os.homedir(), folder, isProgram };
}

/** How to install the program; shown where it is not found. */
export const HOW_TO_INSTALL =
  "Build it from the sources of Masque with `cargo install --path apps/cli`, or give its path in the setting `masque.path`.";

/**
 * Finds the program: the path of the settings if there is one, else on the `PATH`, else in the folder of `cargo install`.
 *
 * A path of the settings that does not exist is a problem. Another program would be a surprise.
 */
export function findProgram(setting: string, machine: Machine): Program {
  if (setting !== "") {
    const file = expand(setting, machine);
    const found = candidates(file, machine).find(machine.isProgram);
    return found !== undefined
      ? { path: found }
      : { problem: `The setting \`masque.path\` is \`${setting}\`, but there is no program \`${file}\`.` };
  }
  const separator = machine.platform === "win32" ? ";" : ":";
  const variable = machine.env.PATH ?? machine.env.Path ?? "";
  // An empty entry means the working folder, which may contain anything.
  const folders = variable.split(separator).filter((folder) => path.isAbsolute(folder));
  folders.push(path.join(machine.env.CARGO_HOME ?? path.join(machine.home, ".cargo"), "bin"));
  for (const folder of folders) {
    const found = candidates(path.join(folder, "masque"), machine).find(machine.isProgram);
    if (found !== undefined) {
      return { path: found };
    }
  }
  return { problem: "The program `masque` is not on the `PATH`." };
}

/** Replaces `~` and makes a relative path absolute. */
function expand(setting: string, machine: Machine): string {
  const file = setting === "~" || /^~[/\\]/.test(setting) ? path.join(machine.home, setting.slice(1)) : setting;
  return path.isAbsolute(file) || machine.folder === undefined ? file : path.join(machine.folder, file);
}

function candidates(file: string, machine: Machine): string[] {
  return machine.platform === "win32" ? [file, `${file}.exe`] : [file];
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
