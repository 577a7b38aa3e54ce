import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";

import { type Machine, findProgram, thisMachine } from "../src/program";

function machine(files: string[], change: Partial<Machine> = {}): Machine {
  return {
    env: { PATH: "/usr/bin::relative:/opt/bin" },
    platform: "linux",
    home: "/home/ann",
    folder: "/src/models",
    isProgram: (file) => files.includes(file),
    ...change,
  };
}

test("the program is searched for on the path", () => {
  assert.deepEqual(findProgram("", machine(["/opt/bin/masque"])), { path: "/opt/bin/masque" });
  assert.deepEqual(findProgram("", machine(["/opt/bin/masque", "/usr/bin/masque"])), { path: "/usr/bin/masque" });
});

test("relative and empty entries of the path are ignored", () => {
  const found = findProgram("", machine(["masque", "relative/masque", path.resolve("relative/masque")]));
  assert.ok("problem" in found);
});

test("the folder of cargo comes last", () => {
  assert.deepEqual(findProgram("", machine(["/home/ann/.cargo/bin/masque"])), { path: "/home/ann/.cargo/bin/masque" });
  const moved = machine(["/cargo/bin/masque"], { env: { PATH: "/usr/bin", CARGO_HOME: "/cargo" } });
  assert.deepEqual(findProgram("", moved), { path: "/cargo/bin/masque" });
});

test("the setting wins, and may be relative to the workspace or the home folder", () => {
  const files = ["/usr/bin/masque", "/x/masque", "/src/models/bin/masque", "/home/ann/masque"];
  assert.deepEqual(findProgram("/x/masque", machine(files)), { path: "/x/masque" });
  assert.deepEqual(findProgram("bin/masque", machine(files)), { path: "/src/models/bin/masque" });
  assert.deepEqual(findProgram("~/masque", machine(files)), { path: "/home/ann/masque" });
});

test("a wrong setting is a problem, even if there is a program on the path", () => {
  const found = findProgram("/y/masque", machine(["/usr/bin/masque"]));
  assert.ok("problem" in found);
  assert.match(found.problem, /masque\.path.*\/y\/masque/);
});

test("on Windows the ending may be left out", () => {
  const windows = machine([path.join("/tools", "masque.exe")], { env: { Path: "/tools" }, platform: "win32" });
  assert.deepEqual(findProgram("", windows), { path: path.join("/tools", "masque.exe") });
});

test("a folder and a text file are no programs", () => {
  const here = thisMachine(undefined);
  assert.equal(here.isProgram(__dirname), false);
  assert.equal(here.isProgram(path.join(__dirname, "no-such-file")), false);
  assert.equal(here.isProgram(process.execPath), true);
});
