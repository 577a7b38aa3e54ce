"""Random systems built in Python: the package against the definition, the command line, and a meaning in Python.

``EXAMPLES=2000`` sets the number of systems.
"""

from __future__ import annotations

import json
import os
import subprocess

from hypothesis import HealthCheck, assume, given, settings
from random_systems import Builder, Described, initial_states, reachable, systems

import masque_mc

EXAMPLES = int(os.environ.get("EXAMPLES", "150"))
COMMAND_LINE = os.environ.get("MASQUE")
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


@CHECKED
@given(systems())
def test_the_command_line_gives_the_same_report(described: Described) -> None:
    assume(initial_states(described))
    assume(COMMAND_LINE is not None)
    assert COMMAND_LINE is not None
    system = Builder(described).system
    results = system.build().check(evidence="all")
    command = [COMMAND_LINE, "check", "--format", "json", "--evidence", "all", "-"]
    ran = subprocess.run(command, input=system.to_ispl().encode(), capture_output=True, check=False)
    (run,) = json.loads(ran.stdout)["runs"]
    for name in ("states", "properties", "parameters"):
        assert run[name] == results.data[name], name


def test_the_comparison_finds_a_wrong_meaning() -> None:
    """The generator makes systems on which a wrong reading of `ite` shows."""
    system = masque_mc.System()
    agent = system.agent("A")
    n = agent.range("n", 0, 2, initial=0)
    agent.next(n, masque_mc.ite(n == 0, 1, 2))
    assert [state["A.n"] for state in system.build().states()] == [0, 1, 2]
