"""The child process of :mod:`masque_mc._child`: reads a task from standard input, and writes JSON lines."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any, Mapping, Optional, TextIO

from . import _native
from ._child import digest
from ._errors import LoadError, MasqueError


def _send(out: TextIO, message: Mapping[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def _read(lines: queue.SimpleQueue[str]) -> None:
    """Reads lines. Ends the process when the other end of standard input is closed, which also happens if the parent dies."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(1)


def _model(task: Mapping[str, Any]) -> _native.Model:
    asked_of = task["request"]
    request: _native.Request = {
        "parameters": [(name, value) for name, value in asked_of["parameters"]],
        "options": [(name, value) for name, value in asked_of["options"]],
        "properties": asked_of["properties"],
        "property_files": asked_of["property_files"],
    }
    if task["files"] is not None:
        model = _native.load(task["files"], request)
    else:
        name, text = task["text"]
        model = _native.loads(name, text, [(name, text) for name, text in task["imports"]], request)
    if digest(model.texts()) != task["digest"]:
        raise MasqueError("the files have changed since the model was loaded")
    return model


def _report(task: Mapping[str, Any], out: TextIO) -> dict[str, Any]:
    model = _model(task)

    def progress(decided: int, total: int, states: Optional[int]) -> None:
        _send(out, {"progress": [decided, total, states]})

    asked = task["check"]
    report = model.check(
        asked["what"], asked["timeout"], asked["memory"], progress if task["has_progress"] else None
    )
    texts = report.evidence_texts()
    shown = [index for index, text in enumerate(texts) if text is not None]
    return {
        "json": report.json(),
        "text": report.text(),
        "evidence_texts": texts,
        "walks": [report.walks(index) if index in shown else [] for index in range(len(texts))],
        "html": [report.html(index) if index in shown else "" for index in range(len(texts))],
        "dot": [report.dot(index) if index in shown else "" for index in range(len(texts))],
        "html_of_all": report.html(None),
        "dot_of_all": report.dot(None),
    }


def _error(error: MasqueError) -> dict[str, Any]:
    """A message with an error."""
    if not isinstance(error, LoadError):
        return {"error": str(error)}
    parts = [
        (one.severity, one.code, one.message, one.help,
         None if one.place is None else (one.place.file, one.place.line, one.place.column))
        for one in error.diagnostics
    ]
    return {"error": str(error), "messages": parts}


def _answer_questions(task: Mapping[str, Any], lines: queue.SimpleQueue[str], out: TextIO) -> None:
    """Answers questions about states until the parent ends this process."""
    limits = task["questions"]
    states = _model(task).states(limits["timeout"], limits["memory"])
    _send(out, {"ready": True})
    while True:
        asked = json.loads(lines.get())
        try:
            message = {"answer": getattr(states, asked["question"])(*asked["arguments"])}
        except MasqueError as error:
            message = _error(error)
        _send(out, message)


def main() -> None:
    """Reads the task and performs it: a check, or questions about states."""
    _native.own_process()
    out = sys.stdout
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    task = json.loads(lines.get())
    message: dict[str, Any]
    try:
        if "questions" in task:
            _answer_questions(task, lines, out)
        message = {"report": _report(task, out)}
    except MasqueError as error:
        message = _error(error)
    _send(out, message)


if __name__ == "__main__":
    main()
    # Threads that were abandoned at a limit must not keep the process alive.
    sys.stdout.flush()
    os._exit(0)
