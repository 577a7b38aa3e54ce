// The TextMate grammars, with the engine that VS Code uses.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import * as oniguruma from "vscode-oniguruma";
import * as textmate from "vscode-textmate";

const root = path.join(__dirname, "../..");
const repository = path.join(root, "../..");

const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
const library = oniguruma.loadWASM(new Uint8Array(wasm).buffer as ArrayBuffer).then(() => ({
  createOnigScanner: (patterns: string[]) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text: string) => new oniguruma.OnigString(text),
}));
const registry = new textmate.Registry({
  onigLib: library,
  loadGrammar: async (scope) => {
    const file = path.join(root, "syntaxes", `${scope.replace("source.", "")}.tmLanguage.json`);
    return textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file);
  },
});

/** Splits a text into parts with their innermost scope, without `source.` and the ending of the language. */
async function scopes(language: string, text: string): Promise<[string, string][]> {
  const grammar = await registry.loadGrammar(`source.${language}`);
  assert.ok(grammar);
  const parts: [string, string][] = [];
  let state = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const token of result.tokens) {
      const part = line.slice(token.startIndex, token.endIndex);
      if (part.trim() !== "") {
        parts.push([part.trim(), token.scopes[token.scopes.length - 1].replace(/\.(ispl|bdi|lcc|mu)$/, "")]);
      }
    }
  }
  return parts;
}

/** Asserts that the given parts, in this order, have the given scopes; other parts may stand between them. */
async function check(language: string, text: string, expected: [string, string][]): Promise<void> {
  const parts = await scopes(language, text);
  let from = 0;
  for (const [part, scope] of expected) {
    const at = parts.findIndex((found, index) => index >= from && found[0] === part);
    assert.ok(at >= 0, `no part \`${part}\` in ${JSON.stringify(parts.slice(from))}`);
    assert.equal(parts[at][1], scope, `\`${part}\` in \`${text}\``);
    from = at + 1;
  }
}

const KEYWORD = "keyword.control";
const WORD = "keyword.operator.word";
const SIGN = "keyword.operator";
const MODALITY = "keyword.other.modality";
const PROPERTY = "entity.name.function.property";

test("ISPL: sections, agents, types and numbers", async () => {
  await check("ispl", "Agent Alice\n  Vars:\n    waited : 0..3;\n    on : boolean;\n  end Vars", [
    ["Agent", KEYWORD], ["Alice", "entity.name.type.agent"], ["Vars", KEYWORD], ["0", "constant.numeric"],
    ["..", SIGN], ["3", "constant.numeric"], ["boolean", "storage.type"], ["end", KEYWORD], ["Vars", KEYWORD],
  ]);
  await check("ispl", 'import "coin.ispl";\nparam N = 3;', [
    ["import", KEYWORD], ['"coin.ispl"', "string.quoted.double"], ["param", KEYWORD], ["N", "variable.parameter"],
  ]);
});

test("ISPL: comments with expected verdicts", async () => {
  await check("ispl", "-- Agent A -- expect: holds, [FHMV95]", [
    ["--", "punctuation.definition.comment"], ["Agent A --", "comment.line"],
    ["expect:", "storage.type.annotation"], ["holds", "constant.language.verdict"], [", [FHMV95]", "comment.line"],
  ]);
});

test("ISPL: letters are modalities in formulas only", async () => {
  await check("ispl", "Actions = {A, K, X};", [["Actions", KEYWORD], ["=", SIGN], ["{A, K, X};", "source"]]);
  await check("ispl", "Formulae\n  safe : AG(p -> K(Bob, q));\n  A(p U q);\nend Formulae\nx = K;", [
    ["Formulae", KEYWORD], ["safe", PROPERTY], ["AG", MODALITY], ["->", SIGN], ["K", MODALITY],
    ["A", MODALITY], ["U", MODALITY], ["end", KEYWORD], ["Formulae", KEYWORD], ["K;", "source"],
  ]);
  await check("ispl", "Formulae\n  LTL G(p and F q); CTL* E(F p);\n  <g, uniform-joint> X p; mu Z. EX Z;", [
    ["LTL", MODALITY], ["G", MODALITY], ["and", WORD], ["F", MODALITY], ["CTL*", MODALITY], ["E", MODALITY],
    ["uniform", "constant.language"], ["joint", "constant.language"], ["X", MODALITY], ["mu", MODALITY], ["EX", MODALITY],
  ]);
});

test("ISPL: aggregates need brackets", async () => {
  await check("ispl", "count(i in 1..N : x[i])", [["count", "support.function"], ["in", KEYWORD]]);
  await check("ispl", "count = 1", [["count", "source"]]);
});

test("BDI: programs", async () => {
  await check("bdi", "agent a is\n  init p := any;\n  loop do send(p); skip endloop", [
    ["agent", KEYWORD], ["a", "entity.name.type.agent"], ["is", KEYWORD], ["init", KEYWORD], [":=", SIGN],
    ["any", "constant.language"], ["loop", KEYWORD], ["do", KEYWORD], ["send", "entity.name.function.action"],
    ["skip", KEYWORD], ["endloop", KEYWORD],
  ]);
});

test("BDI: attitudes and temporal operators", async () => {
  await check("bdi", "property dry initially in a: B(b, p) -> E[p U q]; // expect: fails", [
    ["property", KEYWORD], ["dry", PROPERTY], ["initially", KEYWORD], ["in", KEYWORD], ["B", MODALITY], ["->", SIGN],
    ["E", MODALITY], ["U", MODALITY], ["expect:", "storage.type.annotation"], ["fails", "constant.language.verdict"],
  ]);
  await check("bdi", "if p ∧ ¬B_rcv p then B := 1", [["∧", SIGN], ["¬", SIGN], ["B", MODALITY], ["_rcv", "variable.other.agent"], ["B", "source"]]);
  await check("bdi", "/* agent\n x */ agent b is", [["/*", "punctuation.definition.comment"], ["agent", "comment.block"], ["x", "comment.block"], ["agent", KEYWORD]]);
});

test("LCC: clauses, messages and rules", async () => {
  await check("lcc", "a(buyer, B) ::\n  offer(10) => a(seller, S) <- shop(S) then null.", [
    ["a", KEYWORD], ["buyer", "entity.name.type.role"], ["B", "variable.other"], ["::", SIGN],
    ["offer", "entity.name.function"], ["10", "constant.numeric"], ["=>", SIGN], ["seller", "entity.name.type.role"],
    ["<-", SIGN], ["then", WORD], ["null", "constant.language"],
  ]);
  await check("lcc", "rule hd: (A, self, +query(X.509)) <- not member(A).\nenforced by br:", [
    ["rule", KEYWORD], ["A", "variable.other"], ["self", "constant.language"], ["query", "entity.name.function"],
    ["X.509", "constant.other"], ["not", WORD], ["enforced", KEYWORD], ["by", KEYWORD],
  ]);
  await check("lcc", "option comm = sync.\nr(buyer, initial, 1, 2)\nknow ann: agent(bob).", [
    ["option", KEYWORD], ["comm", "variable.other.option"], ["r", KEYWORD], ["initial", "constant.language"],
    ["know", KEYWORD], ["agent", "entity.name.function"],
  ]);
});

test("LCC: properties contain formulas of the mu-calculus", async () => {
  await check("lcc", "property ends :\n  AF final && <out(m)@a1>tt ;\nagent a(buyer, ben).", [
    ["property", KEYWORD], ["ends", PROPERTY], ["AF", MODALITY], ["final", "constant.language"], ["&&", SIGN],
    ["out", "support.function.pattern"], ["tt", "constant.language"], [";", "punctuation.terminator"], ["agent", KEYWORD],
  ]);
});

test("mu-calculus: properties", async () => {
  await check("mu", "retry : nu X. mu Y. <pay>X || <-pay>Y; % expect: holds", [
    ["retry", PROPERTY], ["nu", MODALITY], ["X", "variable.other"], ["mu", MODALITY], ["<", SIGN], ["X", "variable.other"],
    ["||", SIGN], ["expect:", "storage.type.annotation"],
  ]);
  await check("mu", "a : resp(in(m), {out(\"x;y\")}); b : νZ. ¬deadlock ∧ [−]Z;", [
    ["a", PROPERTY], ["resp", MODALITY], ["in", "support.function.pattern"], ['"x;y"', "string.quoted.double"],
    ["b", PROPERTY], ["ν", MODALITY], ["¬", SIGN], ["deadlock", "constant.language"], ["∧", SIGN],
  ]);
});

/** All models of the gallery. */
function models(): string[] {
  const folder = path.join(repository, "models");
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ispl|bdi|lcc|pol|mu)$/.test(file))
    .map((file) => path.join(folder, file));
}

test("no region stays open at the end of a gallery model", async () => {
  const files = models();
  assert.ok(files.length > 50);
  for (const file of files) {
    const text = fs.readFileSync(file, "utf8");
    const ending = path.extname(file).slice(1);
    const grammar = await registry.loadGrammar(`source.${ending === "pol" ? "lcc" : ending}`);
    assert.ok(grammar);
    let state = textmate.INITIAL;
    for (const line of text.split("\n")) {
      state = grammar.tokenizeLine(line, state).ruleStack;
    }
    assert.equal(state.depth, 1, file);
  }
});
