// The manifest, the settings and the files agree.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

import { commands, reset } from "./mock";
import { registerCommands } from "../src/commands";
import { serverSettings } from "../src/settings";

const root = path.join(__dirname, "../..");
const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
const contributes = manifest.contributes;

test("all commands of the manifest are registered, and no others", () => {
  reset();
  registerCommands({} as never, {} as never);
  const declared = contributes.commands.map((entry: { command: string }) => entry.command);
  assert.deepEqual([...commands.keys()].sort(), declared.sort());
});

test("no command has the name of a command of the server", () => {
  for (const name of ["masque.check", "masque.checkAll", "masque.why", "masque.simulate", "masque.cancel"]) {
    assert.ok(!commands.has(name));
  }
});

test("the defaults of the manifest and of the code are the same", () => {
  reset();
  const flat = (value: object, prefix: string): [string, unknown][] =>
    Object.entries(value).flatMap(([key, inner]) =>
      typeof inner === "object" ? flat(inner, `${prefix}.${key}`) : [[`${prefix}.${key}`, inner] as [string, unknown]],
    );
  for (const [name, value] of flat(serverSettings(), "masque")) {
    assert.ok(name in contributes.configuration.properties, `${name} is not in the manifest`);
    assert.equal(contributes.configuration.properties[name].default, value, name);
  }
});

test("every file of the manifest exists and is JSON", () => {
  const files: string[] = [
    ...contributes.languages.map((entry: { configuration: string }) => entry.configuration),
    ...contributes.grammars.map((entry: { path: string }) => entry.path),
    ...contributes.snippets.map((entry: { path: string }) => entry.path),
  ];
  assert.equal(files.length, 12);
  for (const file of files) {
    JSON.parse(fs.readFileSync(path.join(root, file), "utf8"));
  }
});

test("the patterns of language configurations compile", () => {
  const visit = (value: unknown, key: string): void => {
    if (typeof value === "string" && /Pattern$|^start$|^end$/.test(key)) {
      new RegExp(value);
    } else if (typeof value === "object" && value !== null) {
      Object.entries(value).forEach(([inner, content]) => visit(content, inner));
    }
  };
  for (const entry of contributes.languages) {
    visit(JSON.parse(fs.readFileSync(path.join(root, entry.configuration), "utf8")), "");
  }
});

test("folding markers of ISPL are balanced in a formatted model", () => {
  const { markers } = JSON.parse(fs.readFileSync(path.join(root, "language-configuration/ispl.json"), "utf8")).folding;
  const text = ["Agent A", "  Lobsvars = {x};", "  Vars:", "    x : boolean;", "  end Vars", "  Actions = {a};", "end Agent", "Groups g = {A}; end Groups", "Formulae", "  AG p;", "end Formulae"];
  const count = (pattern: string) => text.filter((line) => new RegExp(pattern).test(line)).length;
  assert.equal(count(markers.start), 3);
  assert.equal(count(markers.end), 3);
});

test("snippets have a prefix, a description and a body", () => {
  for (const entry of contributes.snippets) {
    const snippets = JSON.parse(fs.readFileSync(path.join(root, entry.path), "utf8"));
    for (const [name, snippet] of Object.entries<{ prefix: string; description: string; body: string[] }>(snippets)) {
      assert.ok(snippet.prefix && snippet.description && snippet.body.length > 0, name);
    }
  }
});
