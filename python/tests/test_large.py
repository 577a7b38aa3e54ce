"""Questions about the states of large models, which a child process answers; long lists of states."""

from __future__ import annotations

import gc
import os
import pathlib
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from test_check import COUNTER, SWITCHES
from test_states import coin

import masque_mc
from masque_mc import CheckError, LoadError, _child


def in_child(model: masque_mc.Model) -> _child.ChildStates:
    """What answers questions about a model in a child process, although it is small."""
    task = model._task({"questions": {"timeout": None, "memory": None}})
    return _child.ChildStates(task, os.getcwd(), None)


def test_a_child_gives_the_same_answers() -> None:
    model, _ = coin()
    here: Any = model._native.states(None, None)
    there = in_child(model)
    questions: list[tuple[str, tuple[object, ...]]] = [
        ("initial", (0, 10)),
        ("listed", (None, 0, 10)),
        ("listed", ("K(Alice, Environment.coin = heads)", 0, 1)),
        ("values", ([0, 1, 2],)),
        ("steps", (0, 0, 10)),
        ("is_true", ("EF Bob.heard", 0)),
        ("indistinguishable", (["Alice", "Bob"], 0, 0, 10)),
        ("find", ({"Environment.coin": "tails", "Bob.heard": "true"},)),
    ]

    def plain(value: object) -> object:
        return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value

    for name, arguments in questions:
        assert plain(getattr(there, name)(*arguments)) == plain(getattr(here, name)(*arguments)), name
    # An error is an answer; the child goes on.
    with pytest.raises(LoadError) as error:
        there.is_true("K(Carol, true)", 0)
    assert error.value.diagnostics[0].code.startswith("ispl/")
    with pytest.raises(CheckError, match="agent"):
        there.indistinguishable(["Carol"], 0, 0, 1)
    assert there.is_true("EF Bob.heard", 0) is True


def test_states_of_a_large_model() -> None:
    model = masque_mc.loads(COUNTER, N=20_000)
    states = model.states()
    assert isinstance(model._questions(), _child.ChildStates)
    assert states.count == 20_001 and states.where("Counter.n < 7").count == 7
    (state,) = model.initial_states()
    ((step, after),) = model.successors(state)
    assert step.actions == {"Counter": "tick"} and after["Counter.n"] == 1
    assert model.knows("Counter", "Counter.n = 0", state) is True
    assert len(model.indistinguishable("Counter", state)) == 1
    assert model.find({"Counter.n": 19_999}) is not None
    assert len(list(states)) == 10_000 == len(states.to_frame())


def test_long_lists_are_lazy_up_to_a_limit() -> None:
    model = masque_mc.loads(COUNTER, N=40_000)
    found = iter(model.states(limit=None))
    assert [next(found)["Counter.n"] for _ in range(3)] == [0, 1, 2]
    values = [state["Counter.n"] for state in model.states(limit=30_000)]
    assert values == list(range(30_000))
    assert sum(1 for _ in model.states(limit=None).where("Counter.n > 100")) == 39_900
    assert list(model.states(limit=0)) == []


def test_long_lists_of_other_languages() -> None:
    chain = "".join(f"({i}, a, {i + 1})\n" for i in range(12_000))
    model = masque_mc.loads(f"des (0, 12000, 12001)\n{chain}", "aut")
    assert sum(1 for _ in model.states()) == 10_000
    assert sum(1 for _ in model.states(limit=11_000)) == 11_000


def test_an_unlimited_list_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masque_mc._states, "MAX_KNOWN", 700)
    model = masque_mc.loads(COUNTER, N=1000)
    found = []
    with pytest.raises(CheckError, match="more than 700"):
        found.extend(model.states(limit=None))
    assert sum(1 for _ in model.states(limit=700)) == 700


def test_limits_of_questions() -> None:
    model = masque_mc.loads(SWITCHES, "ispl", properties=["AG(S0.n * S1.n * S2.n * S3.n * S4.n <> 77)"])
    model.limit_questions(timeout=1)
    start = time.monotonic()
    with pytest.raises(CheckError):
        model.states().where("S0.n * S1.n * S2.n * S3.n * S4.n * S5.n * S6.n = 1234567").count
    assert time.monotonic() - start < 60
    model.limit_questions(memory="30M")
    with pytest.raises(CheckError):
        model.states().where("S0.n * S1.n * S2.n * S3.n * S4.n * S5.n * S6.n = 1234567").count


def test_a_dead_child_is_replaced() -> None:
    model = masque_mc.loads(COUNTER, N=20_000)
    state = model.initial_states()[0]
    questions = model._questions()
    assert isinstance(questions, _child.ChildStates)
    questions._child._process.kill()
    with pytest.raises(CheckError, match="ended"):
        state.satisfies("Counter.n = 0")
    # The state is found again by its values.
    assert state.satisfies("Counter.n = 0") is True and model._questions() is not questions


def test_the_child_ends_with_the_model() -> None:
    model = masque_mc.loads(COUNTER, N=20_000)
    assert model.states().count == 20_001
    questions = model._questions()
    assert isinstance(questions, _child.ChildStates)
    process = questions._child._process
    del model, questions
    gc.collect()
    assert process.poll() is not None


def test_several_threads_ask_one_child() -> None:
    model = masque_mc.loads(COUNTER, N=20_000)
    failures: list[object] = []

    def work() -> None:
        for number in range(10):
            state = model.find({"Counter.n": number})
            if state is None or state.satisfies(f"Counter.n = {number}") is not True:
                failures.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failures


ASKED_AND_INTERRUPTED = """
import os, signal, sys, threading, time
import masque_mc
model = masque_mc.loads(open(sys.argv[1]).read(), "ispl")
states = model.states()
model._questions()
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    states.where("S0.n * S1.n * S2.n * S3.n * S4.n * S5.n * S6.n = 1234567").count
except KeyboardInterrupt:
    assert time.monotonic() - start < 20
    assert model._states[os.getpid()].is_ended
    print("interrupted")
"""


def test_an_interrupt_ends_a_question(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "switches.ispl"
    path.write_text(SWITCHES)
    command = [sys.executable, "-c", ASKED_AND_INTERRUPTED, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "interrupted\n", ran.stderr


#: Threads use the model and the session while the process forks; the child must not wait for them.
FORKED_IN_USE = """
import os, sys, threading, time
import masque_mc
model = masque_mc.loads(open(sys.argv[1]).read(), "ispl", N=int(sys.argv[2]))
session = masque_mc.Session.of_text(
    "a(hen, H) :: egg(X) => a(farmer, f) <- has(X) then a(hen, H) or null. a(farmer, F) :: egg(_) <= a(hen, _) then a(farmer, F). "
    "agent a(hen, h). agent a(farmer, f). know h: has(1). know h: has(2).")
is_over = False

def work():
    while not is_over:
        model.check()
        model.states().count
        session.check("AG EF final", evidence=False)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(8):
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        ok = model.check()["ends"].holds and model.states().count == int(sys.argv[2]) + 1
        try:
            session.check("EF final")
        except masque_mc.CheckError as error:
            ok = ok and "fork" in str(error)
        os._exit(0 if ok else 1)
    start = time.monotonic()
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - start > 60:
            os.kill(child, 9)
            sys.exit("a deadlock in the child")
        time.sleep(0.02)
    assert status == 0, status
is_over = True
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("last", [3, 3000])
def test_a_fork_while_other_threads_work(tmp_path: pathlib.Path, last: int) -> None:
    path = tmp_path / "counter.ispl"
    path.write_text(COUNTER)
    command = [sys.executable, "-W", "ignore", "-c", FORKED_IN_USE, str(path), str(last)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.stdout == "done\n", ran.stderr
