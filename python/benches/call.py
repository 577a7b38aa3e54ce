"""The cost of calls from Python on a small model: `python benches/call.py`.

The native call is the call of the library with the conversion of its arguments; `Model.check` also reads the report.
"""

from __future__ import annotations

import time
from typing import Callable

import masque_mc

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


def measure(name: str, call: Callable[[], object], times: int = 500) -> None:
    """Prints the median and the minimum of the durations of a call, in microseconds."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        durations.append((time.perf_counter() - start) * 1e6)
    durations.sort()
    print(f"{name:24} median {durations[times // 2]:8.0f} us, minimum {durations[0]:8.0f} us")


def main() -> None:
    """Measures loading, the native check, and the check."""
    model = masque_mc.loads(MODEL, "ispl")
    what = {"only": [], "skip": [], "show": "fails", "engine": None, "count": False}
    measure("loads", lambda: masque_mc.loads(MODEL, "ispl"))
    measure("native check", lambda: model._native.check(what, None, None, None))  # type: ignore[arg-type]
    measure("Model.check", model.check)
    state = model.initial_states()[0]
    measure("State.satisfies", lambda: state.satisfies("Counter.n = 0"))


if __name__ == "__main__":
    main()
