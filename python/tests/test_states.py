"""States, steps and knowledge; sessions, worlds and parameter studies."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import time

import pytest

import masque_mc
from masque_mc import AG, BuildError, CheckError, EF, K, LoadError, Session, System, ite


def coin() -> tuple[masque_mc.Model, masque_mc.Variable]:
    system = System()
    side = system.environment().enum("coin", ["heads", "tails"])
    system.agent("Alice", sees=[side]).action("look")
    bob = system.agent("Bob")
    heard = bob.bool("heard", initial=False)
    bob.next(heard, True, when=(bob.action("listen") & (heard == False)))  # noqa: E712
    bob.action("sleep")
    return system.build(), side


def test_states_and_knowledge() -> None:
    model, side = coin()
    states = model.states()
    assert states.count == len(states) == 4 == len(list(states))
    heads = states.where(side == "heads")
    assert heads.count == 2 and heads.where("Bob.heard").count == 1
    (state,) = heads.where("!Bob.heard")
    assert state["Environment.coin"] == "heads" and state["Bob.heard"] is False
    assert model.knows("Alice", side == "heads", state) is True
    assert model.knows("Bob", side == "heads", state) is False
    assert {other["Environment.coin"] for other in model.indistinguishable("Bob", state)} == {"heads", "tails"}
    assert len(model.indistinguishable("Alice", state)) == 2
    assert len(model.indistinguishable(["Alice", "Bob"], state)) == 1
    after = {str(step.actions["Bob"]): found["Bob.heard"] for step, found in model.successors(state)}
    assert after == {"listen": True, "sleep": False}
    assert model.find(dict(state)) == state and hash(model.find(dict(state))) == hash(state)


def test_errors_of_questions() -> None:
    model, _ = coin()
    state = model.initial_states()[0]
    with pytest.raises(LoadError) as error:
        state.satisfies("K(Carol, true)")
    assert error.value.diagnostics[0].code.startswith("ispl/")
    with pytest.raises(CheckError, match="agent"):
        model.indistinguishable("Carol", state)
    other, _ = coin()
    with pytest.raises(ValueError, match="another model"):
        other.knows("Bob", "true", state)


def test_mistakes_in_building() -> None:
    system = System()
    alice = system.agent("Alice")
    secret = alice.bool("secret")
    for wrong in (
        lambda: system.agent("Alice"),
        lambda: alice.bool("secret"),
        lambda: alice.bool("if"),
        lambda: alice.range("n", 2, 1),
        lambda: alice.enum("e", []),
        lambda: alice.enum("e", ["a", "a"]),
        lambda: alice.bool("seen", visible=True),
        lambda: system.agent("Bob", sees=[secret]),
        lambda: system.agent("Carol").next(secret, True),
        lambda: System(semantics="both"),
        lambda: System().to_ispl(),
        lambda: system.group("empty", []),
    ):
        with pytest.raises(BuildError):
            wrong()
    with pytest.raises(TypeError, match="truth value"):
        bool(secret)
    with pytest.raises(TypeError, match="truth value"):
        secret and True  # noqa: B018
    with pytest.raises(ValueError, match="cases"):
        value = ite(secret, 1, 2)
        for _ in range(15):
            value = value + value


def test_formulas_as_objects_and_as_text() -> None:
    system = System()
    side = system.environment().enum("coin", ["heads", "tails"])
    alice = system.agent("Alice", sees=[side])
    heads = system.define("heads", side == "heads")
    system.property("object", AG(heads >> K(alice, heads)) & EF(~heads))
    system.property("text", "AG(heads -> K(Alice, heads))")
    system.property("mixed", AG((side == "heads") >> K(alice, "heads")))
    model = system.build()
    assert [one.holds for one in model.check()] == [False, True, True]


def test_other_languages() -> None:
    lamp = masque_mc.loads("des (0, 2, 2)\n(0, press, 1)\n(1, release, 0)\n", "aut")
    assert [state.satisfies("<press>tt") for state in lamp.states()] == [True, False]
    worlds = masque_mc.loads("agent a is loop p := any endloop property x: AG p;", "bdi")
    assert worlds.states().count >= 2 and worlds.worlds()[0].program == "a"
    with pytest.raises(CheckError, match="views"):
        worlds.indistinguishable("a", worlds.initial_states()[0])
    with pytest.raises(CheckError, match="worlds"):
        lamp.worlds()


ARCHIVE = """
a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
a(clerk, C) :: opened(F) <= a(reader, R).
agent a(reader, rita).  agent a(clerk, carl).  know rita: open(diary).
rule archive: (S, _, +open(_)) <- member(S).  know archive: member(rita).
property ends : AF final ;
"""


def test_sessions(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "archive.lcc"
    path.write_text(ARCHIVE)
    session = Session(path)
    assert session.team == ["rita", "carl"] and list(session.properties) == ["ends"]
    assert session.check("ends").holds and session.check("EF final").holds
    assert session.update(remove="know archive: member(rita).") == (0, 1)
    answer = session.check("ends")
    assert answer.holds is False and answer.trace is not None and answer.trace.end == "stuck"
    assert "member(rita)" in answer.trace.blame[0]
    assert session.blame() == list(answer.trace.blame)
    assert answer.to_svg().startswith("<svg") and "<svg" in answer._repr_html_()
    session.update(add="know archive: member(rita).")
    (move,) = session.moves()
    assert session.advance(move) == move.label
    with pytest.raises(CheckError, match="not possible"):
        session.advance("#(open(diary))@rita")
    with pytest.raises(LoadError):
        session.update(add="agent a(.")
    with pytest.raises(LoadError):
        session.check("AF (")
    while session.moves():
        session.advance(0)
    assert session.is_final


#: Ten agents with six steps each, in any order: more states than can be explored in a second.
WORKERS = (
    "a(w, W) :: " + " then ".join(f"null <- s{step}(_)" for step in range(6)) + " then done(W) => a(boss, b).\n"
    "a(boss, B) :: done(_) <= a(w, _) then a(boss, B).\nserver a(boss, b).\n"
    + "".join(f"agent a(w, w{n}).\n" + "".join(f"know w{n}: s{step}(x).\n" for step in range(6)) for n in range(10))
)


def test_limits_of_sessions() -> None:
    session = Session.of_text(WORKERS)
    start = time.monotonic()
    answer = session.check("AG EF final", timeout=0.5)
    assert (answer.verdict, answer.reason) == ("unknown", "timeout") and time.monotonic() - start < 20
    assert session.check("AG EF final", memory="20M", timeout=60).reason == "memory"
    assert session.check("<->tt", timeout=60).holds


SESSION_INTERRUPTED = """
import os, signal, sys, threading, time
import masque_mc
session = masque_mc.Session(sys.argv[1])
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    session.check("AG EF final")
except KeyboardInterrupt:
    assert time.monotonic() - start < 20
    assert session.moves()
    print("interrupted")
"""


def test_an_interrupt_ends_a_question_to_a_session(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "workers.lcc"
    path.write_text(WORKERS)
    command = [sys.executable, "-c", SESSION_INTERRUPTED, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "interrupted\n", ran.stderr


def test_sessions_follow_imports(tmp_path: pathlib.Path) -> None:
    clauses, team = ARCHIVE.split("agent a", 1)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "clauses.lcc").write_text(clauses)
    (tmp_path / "archive.lcc").write_text('import "rules/clauses.lcc".\nagent a' + team)
    (tmp_path / "more.mu").write_text("possible : EF final ;\n")
    session = Session(tmp_path / "archive.lcc", tmp_path / "more.mu")
    assert list(session.properties) == ["ends", "possible"] and session.check("ends").holds
    # The same file as a text: it can import another text, and no file.
    texts = {"archive.lcc": (tmp_path / "archive.lcc").read_text(), "rules/clauses.lcc": clauses}
    assert Session(texts=texts).check("ends").holds
    with pytest.raises(LoadError) as error:
        Session(texts={"archive.lcc": texts["archive.lcc"]})
    assert error.value.diagnostics[0].code == "lcc/import-not-found"
    (tmp_path / "rules" / "clauses.lcc").unlink()
    with pytest.raises(LoadError, match="clauses.lcc"):
        Session(tmp_path / "archive.lcc")
    with pytest.raises(LoadError):
        Session(tmp_path / "missing.lcc")
    (tmp_path / "other.ispl").write_text("Agent A end Agent")
    with pytest.raises(CheckError, match="LCC"):
        Session(tmp_path / "other.ispl")


def test_parameter_studies(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "counter.ispl"
    path.write_text(
        "param N = 1; param M = 1; Agent C Vars: n : 0..N; end Vars Actions = {t}; Protocol: Other : {t}; end Protocol "
        "Evolution: n = n + 1 if n < N; end Evolution end Agent InitStates C.n = 0; end InitStates "
        "Formulae ends : AF C.n = N and M > 0; end Formulae"
    )
    rows = masque_mc.bench(path, N=range(2, 5), M=1)
    assert [(row.parameters, row.states, dict(row.verdicts)) for row in rows] == [
        ({"N": n, "M": 1}, n + 1, {"ends": "holds"}) for n in (2, 3, 4)
    ]
    assert all(row.seconds > 0 and row.is_decided for row in rows)
    assert "<table>" in rows._repr_html_()
