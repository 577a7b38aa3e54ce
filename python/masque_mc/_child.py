"""Checks of large models in a process of their own, which a memory limit and an interrupt can end."""

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


def check(task: Mapping[str, Any], folder: str, timeout: Optional[float], progress: Optional[Progress]) -> SentReport:
    """Performs a check in a child process. The child is killed if this function ends by an exception."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "masque_mc._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=_environment(),
            start_new_session=True,
        )
        try:
            return _conversation(child, task, timeout, progress, start)
        except _Ended:
            child.wait()
            errors.seek(0)
            output = errors.read().decode("utf-8", "replace").strip()[-MAX_SHOWN_OUTPUT:]
            raise CheckError(f"the process of the check ended with {child.returncode}: {output}") from None
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass


class _Ended(Exception):
    """The child ended without a result."""


def _conversation(
    child: subprocess.Popen[bytes],
    task: Mapping[str, Any],
    timeout: Optional[float],
    progress: Optional[Progress],
    start: float,
) -> SentReport:
    assert child.stdin is not None and child.stdout is not None
    lines: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(child.stdout, lines), daemon=True).start()
    try:
        child.stdin.write(json.dumps(task).encode("utf-8", "surrogatepass") + b"\n")
        child.stdin.flush()
    except OSError:
        raise _Ended from None
    while True:
        try:
            line = lines.get(timeout=POLL_SECONDS)
        except queue.Empty:
            if timeout is not None and time.monotonic() - start > timeout + GRACE_SECONDS:
                raise CheckError("the process of the check did not end at its time limit") from None
            continue
        if line is None:
            raise _Ended
        message = json.loads(line)
        if "progress" in message:
            if progress is not None:
                decided, total, states = message["progress"]
                progress(decided, total, states)
        elif "report" in message:
            return SentReport(message["report"])
        elif "messages" in message:
            raise LoadError(message["error"], [_message(one) for one in message["messages"]])
        else:
            raise CheckError(message["error"])


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
