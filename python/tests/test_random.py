"""Random systems built in Python: the package against the definition, the command line, and a meaning in Python.

``EXAMPLES=2000`` sets the number of systems.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
from typing import Any, Optional

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from random_systems import Builder, Described, initial_states, reachable, systems

import masque_mc

EXAMPLES = int(os.environ.get("EXAMPLES", "150"))
COMMAND_LINE = os.environ.get("MASQUE")
#: Number of systems that one run of the program checks.
BATCH = 10
#: Kinds of evidence that were compared.
SEEN: set[tuple[str, str]] = set()
CHECKED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 1000,
    suppress_health_check=list(HealthCheck),
)


@CHECKED
@given(systems())
def test_states_and_steps_have_the_meaning_of_the_calls(described: Described) -> None:
    expected = reachable(described, 300)
    assume(expected is not None and initial_states(described))
    assert expected is not None
    model = Builder(described).system.build()
    found = {tuple(state.values()): state for state in model.states()}
    assert set(found) == set(expected)
    assert {tuple(state.values()) for state in model.initial_states()} == initial_states(described)
    for values, state in list(found.items())[:5]:
        steps = {(tuple(step.actions.values()), tuple(after.values())) for step, after in model.successors(state)}
        assert steps == expected[values]


@CHECKED
@given(systems())
def test_verdicts_are_those_of_the_definition(described: Described) -> None:
    assume(initial_states(described))
    model = Builder(described).system.build()
    results = model.check()
    defined = model._native.by_definition(5000)
    assert defined is not None
    states, verdicts = defined
    assert results.states == states
    assert [result.holds for result in results] == verdicts


@pytest.mark.skipif(COMMAND_LINE is None, reason="needs the program in MASQUE")
@settings(CHECKED, max_examples=max(1, EXAMPLES // BATCH), phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.lists(systems().filter(lambda described: bool(initial_states(described))), min_size=BATCH, max_size=BATCH))
def test_the_command_line_gives_the_same_reports(batch: list[Described]) -> None:
    """Verdicts, states, and the evidence with all its walks. One run of the program checks many systems."""
    assert COMMAND_LINE is not None
    built = [Builder(described).system for described in batch]
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / f"system{index:04}.ispl" for index in range(len(built))]
        for path, system in zip(paths, built):
            path.write_text(system.to_ispl())
        command = [COMMAND_LINE, "check", "--format", "json", "--evidence", "all", *paths]
        ran = subprocess.run(command, capture_output=True, check=False)
    runs = json.loads(ran.stdout)["runs"]
    assert len(runs) == len(built)
    for system, run in zip(built, runs):
        results = system.build().check(evidence="all")
        for name in ("states", "properties", "parameters"):
            assert run[name] == results.data[name], f"{name} of\n{system.to_ispl()}"
        SEEN.update(("walk", result.verdict) for result in results if result.evidence and result.evidence.walks)
        for result, sent in zip(results, run["properties"]):
            if result.evidence is not None:
                assert_walks_are_the_runs(result.evidence, sent["evidence"])


#: A run: its states, the actions of its steps, and where it loops.
Run = tuple[tuple[str, ...], tuple[str, ...], Optional[int]]


def assert_walks_are_the_runs(evidence: masque_mc.Evidence, sent: dict[str, Any]) -> None:
    """Compares the walks with steps of evidence with the runs in the JSON evidence of the program, in both directions."""
    states = [as_text({name: value_of(text) for name, text in state.items()}) for state in sent["states"]]
    runs = {
        (tuple(states[index] for index in run["states"]), tuple(map(as_text, run["actions"])), run["loop"])
        for reason in sent["reasons"]
        for run in runs_of(reason["because"])
        if run["actions"]
    }
    walks: set[Run] = {
        (tuple(as_text(dict(state)) for state in walk), tuple(as_text(step.actions) for step in walk.steps), walk.loop)
        for walk in evidence.walks
        if walk.steps
    }
    start = sent["start"]
    begin = (tuple(states[index] for index in start["states"]), tuple(map(as_text, start["actions"])), start["loop"])
    assert walks <= runs | {begin}, (walks, runs)
    # A run that is a part of another one is not shown twice.
    assert all(run in walks or any(is_part(run, walk) for walk in walks) for run in runs), (walks, runs)


def is_part(run: Run, walk: Run) -> bool:
    """Whether a finite run is a part of a walk."""
    (states, actions, loop), (all_states, all_actions, _) = run, walk
    ends = range(len(all_states) - len(states) + 1)
    return loop is None and any(
        all_states[at : at + len(states)] == states and all_actions[at : at + len(actions)] == actions for at in ends
    )


def as_text(named: Any) -> str:
    return json.dumps(named, sort_keys=True)


def value_of(text: str) -> object:
    return {"true": True, "false": False}.get(text, int(text) if text.lstrip("-").isdigit() else text)


def runs_of(because: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a reason: a path, the play of a strategy, or the ways to states that agents consider possible."""
    parts = [because, *because.get("links", [])]
    return [part[name] for part in parts for name in ("run", "play", "path") if part.get(name) is not None]


@pytest.mark.skipif(COMMAND_LINE is None, reason="needs the program in MASQUE")
def test_the_comparison_has_seen_walks() -> None:
    """Runs after the comparison: counterexamples and witnesses with walks were among the evidence."""
    if not SEEN:
        pytest.skip("runs after the comparison")
    assert {("walk", "holds"), ("walk", "fails")} <= SEEN


def test_the_comparison_finds_a_wrong_meaning() -> None:
    """The generator makes systems on which a wrong reading of `ite` shows."""
    system = masque_mc.System()
    agent = system.agent("A")
    n = agent.range("n", 0, 2, initial=0)
    agent.next(n, masque_mc.ite(n == 0, 1, 2))
    assert [state["A.n"] for state in system.build().states()] == [0, 1, 2]
