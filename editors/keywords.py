#!/usr/bin/env python3
"""Compares the words that the editor files highlight with `keywords.json`, and that list with the parsers.

Keywords of Masque depend on context, so the lexers have no list of them: a keyword is a word in quotes in a
lexer or parser. Each such word must be in `keywords.json`, as a keyword or with a reason why it is none; and
each keyword of the list must be in a parser. The files for VS Code, Neovim and Emacs must have the same words.
"""

import glob
import json
import os
import re
import sys

CLASSES = ["keyword", "operator", "modality", "function", "constant", "type"]
EDITORS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(EDITORS)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def parser_words(patterns):
    """Words in quotes in the parsers, without their tests and comments."""
    words = set()
    for pattern in patterns:
        paths = glob.glob(os.path.join(ROOT, pattern))
        if not paths:
            sys.exit(f"no file matches {pattern}")
        for path in paths:
            code = read(path).split("#[cfg(test)]")[0]
            lines = [line for line in code.splitlines() if not re.match(r"\s*(//|#\[)", line)]
            words.update(re.findall(r'"([A-Za-z][A-Za-z_]*)"', "\n".join(lines)))
    return words


def vscode_words(language):
    """Words of the TextMate grammar: alternatives of the patterns `words-CLASS` in its repository."""
    grammar = json.loads(read(os.path.join(EDITORS, f"vscode/syntaxes/{language}.tmLanguage.json")))
    found = {}
    for name in CLASSES:
        entry = grammar["repository"].get(f"words-{name}", {"patterns": []})
        words = []
        for pattern in entry.get("patterns", [entry]):
            for group in re.findall(r"\(([A-Za-z_|]+)\)", pattern["match"]):
                words += group.split("|")
        found[name] = words
    return found


def nvim_words(language):
    """Words of the Vim syntax file: lines `syn keyword ispl{Class} ..` and lists `let s:ispl_CLASS`."""
    text = read(os.path.join(EDITORS, f"nvim/syntax/{language}.vim"))
    found = {}
    for name in CLASSES:
        words = []
        for line in re.findall(rf"^syn keyword {language}{name.capitalize()} (.*)$", text, re.M):
            words += [word for word in line.split() if "=" not in word and word != "contained"]
        for group in re.findall(rf"^syn match {language}{name.capitalize()} (.*)$", text, re.M):
            for alternatives in re.findall(r"<%\(([A-Za-z_|]+)\)", group):
                words += alternatives.split("|")
        found[name] = words
    return found


def emacs_words(language):
    """Words of the Emacs modes: entries `(CLASS "word" ..)` of `masque-LANGUAGE-words`."""
    text = read(os.path.join(EDITORS, "emacs/masque-mode.el"))
    table = re.search(rf"\(defconst masque-{language}-words\n  '\((.*?)\)\)\n", text, re.S)
    if not table:
        sys.exit(f"masque-mode.el has no masque-{language}-words")
    found = {name: [] for name in CLASSES}
    for name, words in re.findall(r"\((\w+)((?:\s+\"\w+\")*)", table.group(1)):
        found[name] = re.findall(r'"(\w+)"', words)
    return found


def main():
    errors = []
    for language, entry in json.loads(read(os.path.join(EDITORS, "keywords.json"))).items():
        listed = {word for name in CLASSES for word in entry[name]}
        in_parser = parser_words(entry["sources"])
        for word in sorted(in_parser - listed - set(entry["no keywords"])):
            errors.append(f"{language}: the parser knows `{word}`, keywords.json does not")
        for word in sorted((listed - set(entry["defined elsewhere"])) - in_parser):
            errors.append(f"{language}: keywords.json has `{word}`, the parser does not")
        for word in sorted(set(entry["no keywords"]) - in_parser):
            errors.append(f"{language}: keywords.json excludes `{word}`, which the parser does not have")
        for editor, words in [("vscode", vscode_words), ("nvim", nvim_words), ("emacs", emacs_words)]:
            for name, found in words(language).items():
                expected = entry[name]
                for word in sorted(set(expected) - set(found)):
                    errors.append(f"{editor}, {language}: {name} `{word}` is missing")
                for word in sorted(set(found) - set(expected)):
                    errors.append(f"{editor}, {language}: `{word}` is not a {name} in keywords.json")
    for error in errors:
        print(error, file=sys.stderr)
    if errors:
        sys.exit(1)
    print("the keywords of all editors and parsers agree")


main()
