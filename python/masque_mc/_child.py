"""Child processes for large models, which a memory limit and an interrupt can end."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from typing import Any, Callable, Mapping, Optional

from ._errors import CheckError, LoadError

#: Seconds after a time limit at which a process that has not ended is killed.
GRACE_SECONDS = 5.0
#: Seconds between two looks at signals and at the clock.
POLL_SECONDS = 0.05
#: Maximum number of characters of the error output of a process in an exception.
MAX_SHOWN_OUTPUT = 2000

Progress = Callable[[int, int, Optional[int]], object]


class SentReport:
    """A report that a child process sent."""

    def __init__(self, sent: Mapping[str, Any]) -> None:
        self._sent = sent

    def json(self) -> str:
        return str(self._sent["json"])

    def text(self) -> str:
        return str(self._sent["text"])

    def evidence_texts(self) -> list[Optional[str]]:
        return list(self._sent["evidence_texts"])

    def walks(self, property: int) -> list[Any]:
        return list(self._sent["walks"][property])

    def html(self, property: Optional[int]) -> str:
        pages = self._sent["html"]
        return str(self._sent["html_of_all"] if property is None else pages[property])

    def dot(self, property: Optional[int]) -> str:
        graphs = self._sent["dot"]
        return str(self._sent["dot_of_all"] if property is None else graphs[property])


def digest(texts: list[tuple[str, str]]) -> str:
    """A number that identifies the texts of a model."""
    data = json.dumps(texts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


class NoAnswer(CheckError):
    """A child ended, or did not answer in time."""


class Child:
    """A process that loads a model and works on it. It is killed by :meth:`end`, and when it is not used any more."""

    def __init__(self, task: Mapping[str, Any], folder: str) -> None:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "masque_mc._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env=_environment(),
            start_new_session=True,
        )
        self.end = weakref.finalize(self, _end, self._process, self._errors, os.getpid())
        self._lines: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        self.send(task)

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode("utf-8", "surrogatepass") + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failure() from None

    def received(self, timeout: Optional[float], progress: Optional[Progress] = None) -> Mapping[str, Any]:
        """The next message that is not about progress. Errors in it are raised."""
        start = time.monotonic()
        while True:
            try:
                line = self._lines.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if timeout is not None and time.monotonic() - start > timeout + GRACE_SECONDS:
                    raise NoAnswer("the process of the check did not end at its time limit") from None
                continue
            if line is None:
                raise self._failure()
            message: Mapping[str, Any] = json.loads(line)
            if "messages" in message:
                raise LoadError(message["error"], [_message(one) for one in message["messages"]])
            if "error" in message:
                raise CheckError(message["error"])
            if "progress" not in message:
                return message
            if progress is not None:
                decided, total, states = message["progress"]
                progress(decided, total, states)

    def _failure(self) -> NoAnswer:
        """The error about a process that ended by itself."""
        try:
            code: object = self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            code = "a closed output"
        self._errors.seek(0)
        output = self._errors.read().decode("utf-8", "replace").strip()[-MAX_SHOWN_OUTPUT:]
        return NoAnswer(f"the process of the check ended with {code}: {output}")


def _end(process: subprocess.Popen[bytes], errors: Any, owner: int) -> None:
    """Kills a process, unless this is a fork of the process that started it."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, errors):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            pass


def check(task: Mapping[str, Any], folder: str, timeout: Optional[float], progress: Optional[Progress]) -> SentReport:
    """Performs a check in a child process. The child is killed if this function ends by an exception."""
    child = Child(task, folder)
    try:
        return SentReport(child.received(timeout, progress)["report"])
    finally:
        child.end()


class ChildStates:
    """Answers questions about states in a child process, as ``_native.States`` does in this one."""

    def __init__(self, task: Mapping[str, Any], folder: str, timeout: Optional[float]) -> None:
        self._lock = threading.Lock()
        self._timeout = timeout
        self._child = Child(task, folder)
        #: Whether the child has ended, so that its numbers of states mean nothing.
        self.is_ended = False
        try:
            self._child.received(timeout)
        except BaseException:
            self._child.end()
            raise

    def _ask(self, question: str, *arguments: object) -> Any:
        with self._lock:
            if self.is_ended:
                raise CheckError("the process that answered questions about these states was interrupted; ask again")
            try:
                self._child.send({"question": question, "arguments": arguments})
                return self._child.received(self._timeout)["answer"]
            except BaseException as error:
                # An error that the child sent is an answer. After anything else, its next message is not the next answer.
                if isinstance(error, NoAnswer) or not isinstance(error, (LoadError, CheckError)):
                    self.is_ended = True
                    self._child.end()
                raise

    def initial(self, start: int, end: int) -> Any:
        return self._ask("initial", start, end)

    def listed(self, formula: Optional[str], start: int, end: int) -> Any:
        return self._ask("listed", formula, start, end)

    def values(self, numbers: list[int]) -> Any:
        return self._ask("values", numbers)

    def steps(self, number: int, start: int, end: int) -> Any:
        return self._ask("steps", number, start, end)

    def is_true(self, formula: str, number: int) -> Any:
        return self._ask("is_true", formula, number)

    def indistinguishable(self, agents: list[str], number: int, start: int, end: int) -> Any:
        return self._ask("indistinguishable", agents, number, start, end)

    def find(self, values: dict[str, str]) -> Any:
        return self._ask("find", values)


def _message(parts: list[Any]) -> Any:
    severity, code, text, help_, place = parts
    return (severity, code, text, help_, None if place is None else tuple(place))


def _read(pipe: Any, lines: queue.SimpleQueue[Optional[bytes]]) -> None:
    try:
        for line in pipe:
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(None)


def _environment() -> dict[str, str]:
    """The environment of the child, which finds this package even if the parent changed its path."""
    environment = dict(os.environ)
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    known = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = folder if not known else folder + os.pathsep + known
    return environment
