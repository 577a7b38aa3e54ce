import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { MockClient, commands, fire, openEditor, recorded, reset, settings, vscode } from "./mock";
import { activate, deactivate } from "../src/extension";
import { commandIn } from "../src/messages";

let folder: string;

beforeEach(() => {
  reset();
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "masque-"));
});
afterEach(async () => {
  await deactivate();
  fs.rmSync(folder, { recursive: true });
});

/** Starts the extension with a program that exists. */
async function start(): Promise<MockClient> {
  settings.set("masque.path", process.execPath);
  await activate({ subscriptions: [] } as never);
  return recorded.clients[0];
}

async function run(command: string): Promise<void> {
  const handler = commands.get(command);
  assert.ok(handler, `the command ${command} is not registered`);
  await handler();
}

/** Waits until a condition is true, because panels read files in the background. */
async function eventually(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !condition(); i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(condition());
}

function verdict(name: string, word: string) {
  return { name, verdict: word, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }, text: "", states: null };
}

test("the server starts with the settings", async () => {
  settings.set("masque.check.timeLimit", 5);
  settings.set("masque.check.engine", "symbolic");
  const client = await start();
  assert.equal(client.server.run.command, process.execPath);
  assert.deepEqual(client.server.run.args, ["lsp"]);
  const options = client.options.initializationOptions as { settings: { check: unknown }; terminal: boolean; evidencePanel: boolean };
  assert.deepEqual(options.settings.check, { timeLimit: 5, memoryLimit: 2048, engine: "symbolic", onSave: false });
  assert.ok(options.terminal && options.evidencePanel);
  const languages = (client.options.documentSelector as { language: string }[]).map((entry) => entry.language);
  assert.deepEqual([...new Set(languages)], ["ispl", "bdi", "lcc", "mu"]);
});

test("without the program a message says how to install it", async () => {
  settings.set("masque.path", path.join(folder, "nothing"));
  await activate({ subscriptions: [] } as never);
  assert.equal(recorded.clients.length, 0);
  assert.match(recorded.errors[0], /no program.*cargo install.*masque\.path/s);
  await eventually(() => recorded.executed.length === 1);
  assert.deepEqual(recorded.executed[0], ["workbench.action.openSettings", "masque.path"]);
  openEditor("/m/a.ispl", "ispl");
  await run("masque.checkFile");
  assert.match(recorded.errors[1], /not running/);
});

test("a server that does not start is a message", async () => {
  MockClient.failure = "unknown command `lsp`";
  await start();
  assert.match(recorded.errors[0], /does not start.*unknown command.*too old/s);
});

test("commands on a file", async () => {
  const client = await start();
  openEditor("/m/a.ispl", "ispl");
  await run("masque.checkFile");
  await run("masque.cancelCheck");
  assert.deepEqual(client.requests, [
    { method: "workspace/executeCommand", params: { command: "masque.checkAll", arguments: [{ uri: "file:///m/a.ispl" }] } },
    { method: "workspace/executeCommand", params: { command: "masque.cancel", arguments: [{ uri: "file:///m/a.ispl" }] } },
  ]);
});

test("commands on a property take the action at the cursor", async () => {
  const client = await start();
  openEditor("/m/a.bdi", "bdi", 7);
  const argument = { uri: "file:///m/a.bdi", property: "dry" };
  client.answers["textDocument/codeAction"] = [
    { title: "check", kind: "source.masque", command: { title: "check", command: "masque.check", arguments: [argument] } },
    { title: "why", command: "masque.why", arguments: [argument] },
  ];
  await run("masque.checkProperty");
  await run("masque.whyProperty");
  const sent = client.requests.filter((request) => request.method === "workspace/executeCommand");
  assert.deepEqual(sent.map((request) => request.params), [
    { command: "masque.check", arguments: [argument] },
    { command: "masque.why", arguments: [argument] },
  ]);
  const asked = client.requests[0].params as { range: { start: { line: number } } };
  assert.equal(asked.range.start.line, 7);
  await run("masque.simulateProperty");
  assert.deepEqual(recorded.information, ["There is no property at the cursor."]);
});

test("commands need a model", async () => {
  const client = await start();
  await run("masque.checkFile");
  openEditor("/m/a.txt", "plaintext");
  await run("masque.checkProperty");
  assert.equal(recorded.information.length, 2);
  assert.equal(client.requests.length, 0);
});

test("verdicts appear in the status bar and disappear with the next edit", async () => {
  const client = await start();
  openEditor("/m/a.ispl", "ispl");
  const uri = "file:///m/a.ispl";
  client.notify("masque/verdicts", { uri, version: 1, properties: [verdict("safe", "holds"), verdict("2", "fails")], evidence: null });
  assert.equal(recorded.status.text, "$(error) Masque: 1 holds, 1 fails");
  assert.equal(recorded.status.tooltip, "holds  safe\nfails  2");
  client.notify("masque/verdicts", { uri, version: 1, properties: [verdict("safe", "holds"), verdict("2", "holds")], evidence: null });
  assert.equal(recorded.status.text, "$(check) Masque: 2 hold");
  fire("editor", undefined);
  assert.equal(recorded.status.visible, false);
  fire("text", { document: { uri: { toString: () => uri } }, contentChanges: [{}] });
  client.notify("masque/verdicts", { uri, version: 2, properties: [verdict("safe", "unknown")], evidence: null });
  assert.equal(recorded.status.text, "$(check) Masque: 1 unknown");
  assert.equal(recorded.status.visible, true);
});

test("verdicts belong to the file of the property", async () => {
  const client = await start();
  openEditor("/m/a%2Bb.mu", "mu");
  const properties = [{ ...verdict("1", "holds"), uri: "file:///m/a+b.mu" }, { ...verdict("2", "fails"), uri: "file:///m/c.lcc" }];
  client.notify("masque/verdicts", { uri: "file:///m/c.lcc", version: 1, properties, evidence: null });
  assert.equal(recorded.status.text, "$(check) Masque: 1 holds");
  openEditor("/m/c.lcc", "lcc");
  fire("editor", vscode.window.activeTextEditor);
  assert.equal(recorded.status.text, "$(error) Masque: 1 fails");
  fire("text", { document: { uri: { toString: () => "file:///m/a%2Bb.mu" } }, contentChanges: [{}] });
  assert.equal(recorded.status.visible, false);
});

test("evidence opens in one panel without scripts", async () => {
  const client = await start();
  await run("masque.showEvidence");
  assert.match(recorded.information[0], /no evidence yet/);
  const page = path.join(folder, "why.html");
  fs.writeFileSync(page, "<html><head><style>p{}</style></head><body><p>first</p></body></html>");
  client.notify("masque/evidence", { uri: "file:///m/a.ispl", path: page });
  await eventually(() => recorded.panels.length === 1 && recorded.panels[0].webview.html !== "");
  const [panel] = recorded.panels;
  assert.equal(panel.title, "Evidence: why");
  assert.deepEqual(panel.options, { enableScripts: false, enableForms: false, enableCommandUris: false, localResourceRoots: [] });
  assert.match(panel.webview.html, /default-src 'none'/);
  assert.match(panel.webview.html, /<p>first<\/p>/);

  fs.writeFileSync(page, "<html><head></head><body><p>second</p></body></html>");
  openEditor("/m/a.ispl", "ispl");
  await run("masque.showEvidence");
  assert.match(panel.webview.html, /<p>second<\/p>/);
  assert.equal(recorded.panels.length, 1);
  assert.equal(panel.reveals, 1);

  panel.close();
  await run("masque.showEvidence");
  assert.equal(recorded.panels.length, 2);
});

test("the page of a check is remembered by its file address", async () => {
  const client = await start();
  const page = path.join(folder, "a b.html");
  fs.writeFileSync(page, "<html><head></head><body>x</body></html>");
  openEditor("/m/a.lcc", "lcc");
  const evidence = `file://${page.replaceAll(" ", "%20")}`;
  client.notify("masque/verdicts", { uri: "file:///m/a.lcc", version: 1, properties: [], evidence });
  await run("masque.showEvidence");
  assert.equal(recorded.panels[0].title, "Evidence: a b");
});

test("a page that has disappeared is a message in the panel", async () => {
  const client = await start();
  client.notify("masque/evidence", { uri: "file:///m/a.ispl", path: path.join(folder, "gone.html") });
  await eventually(() => recorded.panels.length === 1 && recorded.panels[0].webview.html !== "");
  assert.match(recorded.panels[0].webview.html, /cannot be read/);
});

test("a simulation runs in a terminal without a shell", async () => {
  const client = await start();
  client.notify("masque/terminal", { title: "simulate a.ispl", cwd: "/m", command: ["masque", "simulate", "a b.ispl"] });
  client.notify("masque/terminal", { title: "nothing", cwd: null, command: [] });
  assert.deepEqual(recorded.terminals, [
    { name: "simulate a.ispl", cwd: "/m", shellPath: "masque", shellArgs: ["simulate", "a b.ispl"] },
  ]);
});

test("the server restarts by command and when its path changes", async () => {
  const client = await start();
  await run("masque.restartServer");
  assert.equal(recorded.clients.length, 2);
  assert.ok(client.disposed && !client.running);
  fire("configuration", { affectsConfiguration: (name: string) => name === "masque.lenses" });
  fire("configuration", { affectsConfiguration: (name: string) => name === "masque.path" });
  await eventually(() => recorded.clients.length === 3);
  await eventually(() => recorded.clients[2].running);
});

test("commands in answers of the server", () => {
  assert.equal(commandIn(null, "masque.check"), undefined);
  assert.equal(commandIn([null, {}, { title: "fix", edit: {} }], "masque.check"), undefined);
  assert.equal(commandIn([{ title: "x", command: "masque.check" }], "masque.check")?.title, "x");
});
