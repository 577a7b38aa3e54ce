"""The cost of calls from Python on a small model: `python python/benches/call.py`, with the release wheel installed.

The extension measures the call of the library inside each check, so the difference is what Python adds: the conversion
of the arguments, a copy of the model, the report as JSON and its reading, and the objects of the results.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import Callable

import masque_mc

#: Number of calls that are measured.
TIMES = 3000

MODEL = """
Agent Counter
  Vars: n : 0..3; end Vars
  Actions = {tick};
  Protocol: Other : {tick}; end Protocol
  Evolution: n = n + 1 if n < 3; end Evolution
end Agent
InitStates Counter.n = 0; end InitStates
Formulae AF Counter.n = 3; AG Counter.n < 3; end Formulae
"""


def shown(name: str, seconds: list[float]) -> None:
    """Prints the median and other quantiles of durations, in microseconds."""
    microseconds = sorted(second * 1e6 for second in seconds)
    quantiles = [microseconds[int(len(microseconds) * part)] for part in (0.1, 0.9)]
    median = statistics.median(microseconds)
    print(f"{name:34} median {median:7.1f} us, 10 % {quantiles[0]:7.1f} us, 90 % {quantiles[1]:7.1f} us")


def measured(call: Callable[[], object], times: int = TIMES) -> list[float]:
    """The durations of calls."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return durations


def main() -> None:
    """Measures checks, what they add to the call of the library, and other calls."""
    model = masque_mc.loads(MODEL, "ispl")
    for _ in range(100):
        model.check()
    totals, inner = [], []
    for _ in range(TIMES):
        start = time.perf_counter()
        results = model.check()
        totals.append(time.perf_counter() - start)
        inner.append(results._source.library_seconds())  # type: ignore[attr-defined]
    shown("Model.check", totals)
    shown("  the call of the library", inner)
    shown("  added by Python", [total - call for total, call in zip(totals, inner)])

    asked = {"only": [], "skip": [], "show": "fails", "engine": None, "count": False}
    added = []
    for _ in range(TIMES):
        start = time.perf_counter()
        report = model._native.check(asked, 5.0, None, None)  # type: ignore[arg-type]
        added.append(time.perf_counter() - start - report.library_seconds())
    shown("  of this: native call", added)
    writing, reading, making = [], [], []
    for _ in range(TIMES):
        report = model._native.check(asked, 5.0, None, None)  # type: ignore[arg-type]
        start = time.perf_counter()
        text = report.json()
        written = time.perf_counter()
        json.loads(text)
        read = time.perf_counter()
        masque_mc.Results(report)
        writing.append(written - start)
        reading.append(read - written)
        making.append(time.perf_counter() - read)
    shown("  of this: report as JSON", writing)
    shown("  of this: reading the JSON", reading)
    shown("  of this: results (reading again)", making)

    shown("loads", measured(lambda: masque_mc.loads(MODEL, "ispl"), 500))
    state = model.initial_states()[0]
    shown("State.satisfies", measured(lambda: state.satisfies("Counter.n = 0"), 500))
    text = "a(hen, H) :: cluck => a(farmer, F) then a(hen, H). a(farmer, F) :: cluck <= a(hen, H) then a(farmer, F)."
    monitor = masque_mc.Monitor.of_text(text + " agent a(hen, h). agent a(farmer, f).")
    shown("Monitor.observe", measured(lambda: monitor.observe({"message": "cluck"}), 500))


if __name__ == "__main__":
    main()
