"""Loading, checking, results and exceptions."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import masque_mc
from masque_mc import CheckError, LoadError, PropertyFailed

LAMP = "des (0, 2, 2)\n(0, press, 1)\n(1, release, 0)\n"
COUNTER = """
param N = 3;
Agent Counter
  Vars: n : 0..N; end Vars
  Actions = {tick};
  Protocol: Other : {tick}; end Protocol
  Evolution: n = n + 1 if n < N; end Evolution
end Agent
InitStates Counter.n = 0; end InitStates
Formulae
  ends : AF Counter.n = N;
  never : AG Counter.n < N;
end Formulae
"""
#: 12 agents with 402 states each: more states than the explicit engine can store. Diagrams decide it in seconds.
SWITCHES = "\n".join(
    f"Agent S{i} Vars: on : boolean; n : 0..200; end Vars Actions = {{flip, wait}}; Protocol: Other : {{flip, wait}}; "
    f"end Protocol Evolution: on = ~(S{i}.on) if Action = flip; n = (n * 7 + 3) mod 201 if Action = wait; "
    "end Evolution end Agent"
    for i in range(12)
) + "\nInitStates " + " and ".join(f"S{i}.n = 1" for i in range(12)) + "; end InitStates\nFormulae "
SWITCHES += "AG(" + " + ".join(f"S{i}.n" for i in range(12)) + " <> 1999); end Formulae"


def test_a_file_and_its_parameters(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "counter.ispl"
    path.write_text(COUNTER)
    results = masque_mc.load(path).check()
    assert [(one.name, one.verdict) for one in results] == [("ends", "holds"), ("never", "fails")]
    assert results.states == 4
    assert masque_mc.load(str(path), N=9).check().states == 10
    assert masque_mc.load(path, parameters={"N": 5}).check().states == 6
    walk = results["never"].evidence.walks[0]
    assert [state["Counter.n"] for state in walk] == [0, 1, 2, 3]
    assert [step.actions for step in walk.steps] == [{"Counter": "tick"}] * 3


def test_results_by_name_position_and_in_order() -> None:
    results = masque_mc.loads(COUNTER).check()
    assert results["never"] is results[1] and len(results) == 2 and "ends" in results
    assert results[0].holds is True and results[1].holds is False and not results.all_hold
    with pytest.raises(KeyError):
        results["other"]
    with pytest.raises(PropertyFailed) as failed:
        results.raise_for_failures()
    assert [one.name for one in failed.value.failures] == ["never"]
    assert json.loads(results.to_json())["schema"] == "masque.check/1"


def test_selection() -> None:
    model = masque_mc.loads(COUNTER)
    assert [one.name for one in model.check(only="never")] == ["never"]
    assert [one.name for one in model.check(skip=["never"])] == ["ends"]
    assert model.check(only="ends").raise_for_failures().all_hold
    with pytest.raises(CheckError, match="nonsense"):
        model.check(only="nonsense")


@pytest.mark.parametrize("engine", ["auto", "explicit", "symbolic"])
def test_engines_agree(engine: str) -> None:
    results = masque_mc.loads(COUNTER).check(engine=engine)
    assert [one.verdict for one in results] == ["holds", "fails"] and results.states == 4


def test_wrong_arguments() -> None:
    model = masque_mc.loads(LAMP, "aut")
    for wrong in ({"engine": "fast"}, {"evidence": "some"}, {"timeout": -1}, {"timeout": float("nan")},
                  {"memory": "lots"}, {"memory": -1}):
        with pytest.raises(ValueError):
            model.check(**wrong)  # type: ignore[arg-type]


def test_diagnostics_have_places() -> None:
    with pytest.raises(LoadError) as error:
        masque_mc.loads(COUNTER.replace("n < N; end Evolution", "m < N; end Evolution"), "ispl", name="bad")
    first = error.value.diagnostics[0]
    assert first.severity == "error" and first.place is not None
    assert (first.place.file, first.place.line) == ("bad.ispl", 7)
    assert "bad.ispl" in str(error.value) and "^" in str(error.value)
    with pytest.raises(LoadError) as missing:
        masque_mc.load("no/such/file.ispl")
    assert missing.value.diagnostics[0].code == "file/not-found"


def test_findings_are_diagnostics() -> None:
    text = COUNTER.replace(" if n < N", " if true")
    codes = [one.code for one in masque_mc.loads(text, "ispl").check().diagnostics]
    assert any(code.startswith("ispl/") for code in codes)


def test_progress_and_its_exception() -> None:
    calls: list[tuple[int, int]] = []
    model = masque_mc.loads(COUNTER)
    model.check(progress=lambda decided, total, states: calls.append((decided, total)))
    assert calls and calls[-1] == (2, 2)

    class Stop(Exception):
        pass

    def stop(decided: int, total: int, states: object) -> None:
        raise Stop

    with pytest.raises(Stop):
        model.check(progress=stop)
    with pytest.raises(Stop):
        masque_mc.loads(SWITCHES, "ispl").check(progress=stop, timeout=20)


def test_a_small_model_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    assert masque_mc.loads(COUNTER).check()["ends"].holds
    with pytest.raises(TypeError):
        masque_mc.loads(SWITCHES, "ispl").check(timeout=1)


def test_a_large_model_is_checked_in_a_child_with_the_same_result() -> None:
    model = masque_mc.loads(COUNTER, N=20_000)
    assert not model._native.is_small()
    results = model.check(only="never")
    assert results.states == 20_001 and results["never"].holds is False
    evidence = results["never"].evidence
    assert len(evidence.walks[0]) == 20_001
    assert evidence.to_html().startswith("<!DOCTYPE html>") and "digraph" in evidence.to_dot()
    small = masque_mc.loads(COUNTER)
    here = small.check()
    what = {"only": [], "skip": [], "show": "fails", "engine": None, "count": False}
    asked = {"what": what, "memory": None, "timeout": None}
    there = masque_mc.Results(small._check_in_child(asked, None, None))
    assert there.to_json() == here.to_json() and str(there) == str(here)
    assert [one.evidence and one.evidence.walks for one in there] == [one.evidence and one.evidence.walks for one in here]
    assert there.to_html() == here.to_html()


def test_changed_files_are_noticed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "counter.ispl"
    path.write_text(COUNTER)
    model = masque_mc.load(path, N=20_000)
    path.write_text(COUNTER.replace("tick", "tock"))
    with pytest.raises(CheckError, match="changed"):
        model.check()


class Small:
    """A native model that claims to be small, so that it is checked in this process."""

    def __init__(self, model: masque_mc.Model) -> None:
        self._made = model._native

    def is_small(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        return getattr(self._made, name)


def checked_here(text: str) -> masque_mc.Model:
    """An ISPL model that is checked in this process, whatever its size."""
    model = masque_mc.loads(text, "ispl")
    return masque_mc.Model(Small(model), model._source)  # type: ignore[arg-type]


def test_limits_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masque_mc._model, "SMALL_SECONDS", 60)
    monkeypatch.setattr(subprocess, "Popen", None)
    model = checked_here(SWITCHES)
    start = time.monotonic()
    (result,) = model.check(timeout=1, engine="explicit")
    assert (result.verdict, result.reason) == ("unknown", "timeout") and time.monotonic() - start < 20
    (result,) = model.check(memory="100M", timeout=60, engine="explicit")
    assert (result.verdict, result.reason) == ("unknown", "memory")


def test_a_check_that_takes_long_goes_on_in_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masque_mc._model, "SMALL_SECONDS", 0.0)
    results = checked_here(COUNTER).check()
    assert isinstance(results._source, masque_mc._child.SentReport)
    assert [one.verdict for one in results] == ["holds", "fails"]


def test_a_time_limit_gives_unknown() -> None:
    start = time.monotonic()
    (result,) = masque_mc.loads(SWITCHES, "ispl").check(timeout=2, engine="explicit")
    assert result.verdict == "unknown" and result.reason == "timeout" and result.holds is None
    assert time.monotonic() - start < 20


def test_a_memory_limit_gives_unknown() -> None:
    (result,) = masque_mc.loads(SWITCHES, "ispl").check(memory="100M", timeout=60, engine="explicit")
    assert (result.verdict, result.reason) == ("unknown", "memory")


INTERRUPTED = """
import os, signal, sys, threading, time
import masque_mc
model = masque_mc.loads(open(sys.argv[1]).read(), "ispl")
threading.Timer(float(sys.argv[2]), lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    model.check(engine="explicit")
except KeyboardInterrupt:
    assert time.monotonic() - start < 20
    print("interrupted")
"""


@pytest.mark.parametrize("delay", [0.3, 1.5])
def test_an_interrupt_ends_a_check(tmp_path: pathlib.Path, delay: float) -> None:
    path = tmp_path / "switches.ispl"
    path.write_text(SWITCHES)
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, path, str(delay)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout == "interrupted\n", ran.stderr


#: A model that claims to be small, so that it is checked in the process.
INTERRUPTED_HERE = """
import os, signal, sys, threading, time
import masque_mc
from masque_mc import _model
_model.SMALL_SECONDS = 60
model = masque_mc.loads(open(sys.argv[1]).read(), "ispl")

native = model._native

class Small:
    def is_small(self):
        return True

    def __getattr__(self, name):
        return getattr(native, name)

model = masque_mc.Model(Small(), model._source)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    if sys.argv[2] == "check":
        model.check(engine="explicit")
    else:
        model.states().where("S0.n * S1.n * S2.n * S3.n * S4.n * S5.n * S6.n = 1234567").count
except KeyboardInterrupt:
    assert time.monotonic() - start < 20
    print("interrupted")
"""


@pytest.mark.parametrize("what", ["check", "question"])
def test_an_interrupt_in_this_process(tmp_path: pathlib.Path, what: str) -> None:
    path = tmp_path / "switches.ispl"
    path.write_text(SWITCHES)
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_HERE, path, what], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout == "interrupted\n", ran.stderr


def test_several_threads() -> None:
    model = masque_mc.loads(COUNTER)
    failures: list[object] = []

    def work() -> None:
        for _ in range(20):
            if [one.verdict for one in model.check()] != ["holds", "fails"] or model.states().count != 4:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failures


def test_several_threads_with_children() -> None:
    model = masque_mc.loads(COUNTER, N=3000)
    assert not model._native.is_small()
    found: list[object] = []

    def work() -> None:
        found.extend(one.verdict for one in model.check(evidence="none"))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert found == ["holds", "fails"] * 3


FORKED = """
import os, sys, masque_mc
model = masque_mc.loads(open(sys.argv[1]).read(), "ispl")
state = model.initial_states()[0]
assert model.check()["ends"].holds
child = os.fork()
if child == 0:
    ok = model.check()["ends"].holds and model.states().count == 4
    ok = ok and len(state.successors()) == 1 and state.satisfies("Counter.n = 0")
    os._exit(0 if ok else 1)
_, status = os.waitpid(child, 0)
assert status == 0
assert len(state.successors()) == 1
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "counter.ispl"
    path.write_text(COUNTER)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, path], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.stdout == "done\n", ran.stderr


def n_threads() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("Threads:")).split()[1])


def resident_kilobytes() -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_no_thread_is_started_before_its_use() -> None:
    code = "import masque_mc, threading, re; print(re.search(r'Threads:\\s*(\\d+)', open('/proc/self/status').read())[1])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "1\n"


#: Kilobytes by which the process may grow: less than 1000 models or results that are not freed.
MAX_GROWN_KILOBYTES = 4000


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_and_threads_stay_flat() -> None:
    """``LOADS=10000`` sets the number of loads and checks."""
    n_loads = int(os.environ.get("LOADS", "1000"))

    def grown(times: int, kept: list[object]) -> int:
        before = resident_kilobytes()
        for number in range(1, times + 1):
            model = masque_mc.loads(COUNTER)
            kept.append((model, model.check()))
            model.initial_states()
            if not is_keeping:
                kept.clear()
            if number in (1000, 5000, 10_000):
                print(f"{number} loads and checks: {resident_kilobytes()} kB")
        time.sleep(0.5)
        return resident_kilobytes() - before

    is_keeping = False
    grown(100, [])
    threads = n_threads()
    assert grown(n_loads, []) < MAX_GROWN_KILOBYTES and n_threads() <= threads + 4
    # What is not freed is noticed.
    is_keeping = True
    assert grown(1000, []) > MAX_GROWN_KILOBYTES


@pytest.mark.skipif(not os.path.exists("/bin/false"), reason="needs /bin/false")
def test_a_dead_child_is_an_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(CheckError, match="ended"):
        masque_mc.loads(SWITCHES, "ispl").check()
