"""Random systems: built with the package, and with a meaning that is computed here, in Python."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from hypothesis import strategies as st

import masque_mc
from masque_mc import System, ite

#: An expression as a tree: an operator and its operands.
Tree = tuple[Any, ...]
#: Names of the agents with their numbers of variables.
MAX_AGENTS = 3


@dataclass(frozen=True)
class Described:
    """A system as data."""

    #: For each agent: variables (name, kind), actions with their conditions, whether there is another action
    #: otherwise, and assignments (variable, value, condition).
    agents: tuple[Any, ...]
    initially: Tree
    properties: tuple[Any, ...]


class Choices:
    """Random choices. The strategies of hypothesis are made once, because making them for each tree takes far longer
    than drawing."""

    _NUMBERS = st.integers(0, 719)

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def below(self, n: int) -> int:
        return self._draw(self._NUMBERS) % n

    def one(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    def flag(self) -> bool:
        return self.below(2) == 1


def numbers(choices: Choices, variables: list[tuple[str, str]], depth: int) -> Tree:
    names = [name for name, kind in variables if kind == "range"]
    kind = choices.below(3 if depth == 0 else 6)
    if kind == 0 or (kind < 3 and not names):
        return ("number", choices.below(5) - 1)
    if kind < 3:
        return ("variable", choices.one(names))
    if kind < 5:
        operator = choices.one(["+", "-", "*"])
        return (operator, numbers(choices, variables, depth - 1), numbers(choices, variables, depth - 1))
    condition = conditions(choices, variables, [], depth - 1)
    return ("ite", condition, numbers(choices, variables, depth - 1), numbers(choices, variables, depth - 1))


def conditions(
    choices: Choices, variables: list[tuple[str, str]], actions: list[tuple[str, str]], depth: int
) -> Tree:
    booleans = [name for name, kind in variables if kind == "boolean"]
    enums = [name for name, kind in variables if kind == "enum"]
    kind = choices.below(4 if depth == 0 else 8)
    if kind == 1 and booleans:
        return ("variable", choices.one(booleans))
    if kind == 2 and enums:
        return ("is", choices.one(enums), choices.one(["red", "green"]))
    if kind == 3 and actions:
        return ("action", choices.one(actions))
    if kind < 4:
        return ("constant", choices.flag())
    if kind == 4:
        return ("not", conditions(choices, variables, actions, depth - 1))
    if kind == 5:
        operator = choices.one(["=", "<>", "<", "<="])
        return (operator, numbers(choices, variables, depth - 1), numbers(choices, variables, depth - 1))
    operator = choices.one(["and", "or", "xor", "implies", "iff"])
    one = conditions(choices, variables, actions, depth - 1)
    return (operator, one, conditions(choices, variables, actions, depth - 1))


@st.composite
def systems(draw: st.DrawFn) -> Described:
    choices = Choices(draw)
    n_agents = 2 + choices.below(MAX_AGENTS - 1)
    names = ["Environment" if index == 0 else f"A{index}" for index in range(n_agents)]
    shapes = [
        [(f"{name}.v{index}", choices.one(["boolean", "range", "enum"])) for index in range(1 + choices.below(2))]
        for name in names
    ]
    all_actions = [(name, f"a{index}") for name in names for index in range(1 + choices.below(2))]
    agents = []
    for name, own in zip(names, shapes):
        seen = own if name == "Environment" else own + shapes[0]
        actions = [action for action in all_actions if action[0] == name]
        allowed = [(action, conditions(choices, seen, [], 1)) for action in actions]
        lines = []
        for _ in range(choices.below(4)):
            variable, kind = choices.one(own)
            value = (
                numbers(choices, seen, 2) if kind == "range"
                else conditions(choices, seen, [], 2) if kind == "boolean"
                else ("word", choices.one(["red", "green"]))
            )
            lines.append((variable, value, conditions(choices, seen, all_actions, 2)))
        agents.append((name, tuple(own), tuple(allowed), choices.below(4) > 0, tuple(lines)))
    everything = [variable for own in shapes for variable in own]
    properties = tuple(formulas(choices, everything, names, 3) for _ in range(2))
    return Described(tuple(agents), conditions(choices, everything, [], 2), properties)


def formulas(choices: Choices, variables: list[tuple[str, str]], agents: list[str], depth: int) -> Tree:
    def below() -> Tree:
        return formulas(choices, variables, agents, depth - 1)

    def group() -> tuple[str, ...]:
        chosen = [choices.one(agents), choices.one(agents)]
        return tuple(dict.fromkeys(chosen))

    kind = 0 if depth == 0 else choices.below(9)
    if kind <= 1:
        return ("here", conditions(choices, variables, [], 1))
    if kind <= 3:
        return (choices.one(["EX", "AX", "EF", "AF", "EG", "AG"]), below())
    if kind == 4:
        return (choices.one(["EU", "AU", "EW", "AW", "ER", "AR"]), below(), below())
    if kind == 5:
        return ("K", choices.one(agents), below())
    if kind == 6:
        return (choices.one(["GK", "DK", "GCK"]), group(), below())
    if kind == 7:
        return ("can", choices.one("XFG"), group(), below())
    if choices.flag():
        return ("not", below())
    return (choices.one(["and", "or", "implies"]), below(), below())


# Building with the package.


class Builder:
    """Builds a described system."""

    def __init__(self, described: Described) -> None:
        self.system = System()
        self.names: dict[str, Any] = {}
        self.actions: dict[tuple[str, str], Any] = {}
        agents = {}
        for name, own, allowed, has_other, _ in described.agents:
            agent = self.system.agent(name)
            agents[name] = agent
            for full_name, kind in own:
                short = full_name.split(".")[1]
                visible = name == "Environment"
                self.names[full_name] = (
                    agent.bool(short, visible=visible) if kind == "boolean"
                    else agent.range(short, 0, 2, visible=visible) if kind == "range"
                    else agent.enum(short, ["red", "green"], visible=visible)
                )
            for (_, action), condition in allowed:
                self.actions[name, action] = agent.action(action, when=self.value(condition))
            if has_other:
                agent.otherwise("rest")
        for name, _, _, _, lines in described.agents:
            for variable, value, condition in lines:
                agents[name].next(self.names[variable], self.value(value), when=self.value(condition))
        self.system.initially(self.value(described.initially))
        for index, formula in enumerate(described.properties):
            self.system.property(f"p{index}", self.formula(formula))

    def value(self, tree: Tree) -> Any:
        kind, *rest = tree
        if kind in ("number", "constant"):
            return masque_mc._formula.expr(rest[0])
        if kind == "word":
            return rest[0]
        if kind == "variable":
            return self.names[rest[0]]
        if kind == "is":
            return self.names[rest[0]] == rest[1]
        if kind == "action":
            return self.actions[rest[0]]
        operands = [self.value(operand) for operand in rest]
        if kind == "ite":
            return ite(*operands)
        if kind == "not":
            return ~operands[0]
        one, other = operands
        return {
            "+": lambda: one + other, "-": lambda: one - other, "*": lambda: one * other,
            "and": lambda: one & other, "or": lambda: one | other, "xor": lambda: one ^ other,
            "implies": lambda: one >> other, "iff": lambda: one.iff(other),
            "=": lambda: one == other, "<>": lambda: one != other,
            "<": lambda: one < other, "<=": lambda: one <= other,
        }[kind]()

    def formula(self, tree: Tree) -> Any:
        kind, *rest = tree
        if kind == "here":
            return self.value(rest[0])
        if kind == "can":
            operator, group, below = rest
            return getattr(masque_mc.Can(list(group)), operator)(self.formula(below))
        if kind == "K":
            return masque_mc.K(rest[0], self.formula(rest[1]))
        if kind in ("GK", "DK", "GCK"):
            return getattr(masque_mc, kind)(list(rest[0]), self.formula(rest[1]))
        operands = [self.formula(operand) for operand in rest]
        if kind == "not":
            return ~operands[0]
        if kind == "and":
            return operands[0] & operands[1]
        if kind == "or":
            return operands[0] | operands[1]
        if kind == "implies":
            return operands[0] >> operands[1]
        return getattr(masque_mc, kind)(*operands)


# The meaning in Python.

DOMAINS: dict[str, list[Any]] = {"boolean": [False, True], "range": [0, 1, 2], "enum": ["red", "green"]}


def meaning(tree: Tree, state: dict[str, Any], joint: dict[str, str]) -> Any:
    """The value of an expression in a state, in a step with these actions."""
    kind, *rest = tree
    if kind in ("number", "constant", "word"):
        return rest[0]
    if kind == "variable":
        return state[rest[0]]
    if kind == "is":
        return state[rest[0]] == rest[1]
    if kind == "action":
        agent, action = rest[0]
        return joint[agent] == action
    values = [meaning(operand, state, joint) for operand in rest]
    if kind == "ite":
        return values[1] if values[0] else values[2]
    if kind == "not":
        return not values[0]
    one, other = values
    return {
        "+": lambda: one + other, "-": lambda: one - other, "*": lambda: one * other,
        "and": lambda: one and other, "or": lambda: one or other, "xor": lambda: one != other,
        "implies": lambda: not one or other, "iff": lambda: one == other,
        "=": lambda: one == other, "<>": lambda: one != other,
        "<": lambda: one < other, "<=": lambda: one <= other,
    }[kind]()


def variables_of(described: Described) -> list[tuple[str, str]]:
    return [variable for _, own, _, _, _ in described.agents for variable in own]


def initial_states(described: Described) -> set[tuple[Any, ...]]:
    variables = variables_of(described)
    names = [name for name, _ in variables]
    found = set()
    for values in itertools.product(*(DOMAINS[kind] for _, kind in variables)):
        if meaning(described.initially, dict(zip(names, values)), {}):
            found.add(values)
    return found


def successors(described: Described, values: tuple[Any, ...]) -> set[tuple[tuple[str, ...], tuple[Any, ...]]]:
    """Joint actions, one action for each agent, with the states after them."""
    variables = variables_of(described)
    names = [name for name, _ in variables]
    state = dict(zip(names, values))
    choices = []
    for _, _, allowed, has_other, _ in described.agents:
        enabled = [action for (_, action), condition in allowed if meaning(condition, state, {})]
        choices.append(enabled or (["rest"] if has_other else []))
    found = set()
    for actions in itertools.product(*choices):
        joint = {agent[0]: action for agent, action in zip(described.agents, actions)}
        nexts: list[list[Any]] = []
        for _, own, _, _, lines in described.agents:
            for name, kind in own:
                applied = [
                    meaning(value, state, joint)
                    for variable, value, condition in lines
                    if variable == name and meaning(condition, state, joint)
                ]
                nexts.append([value for value in applied if value in DOMAINS[kind]] if applied else [state[name]])
        found.update((actions, after) for after in itertools.product(*nexts))
    return found


def reachable(described: Described, limit: int) -> Optional[dict[tuple[Any, ...], Any]]:
    """The reachable states with their steps; ``None`` if there are more than ``limit``."""
    found: dict[tuple[Any, ...], Any] = {}
    open_states = sorted(initial_states(described), key=repr)
    while open_states:
        state = open_states.pop()
        if state in found:
            continue
        if len(found) >= limit:
            return None
        found[state] = successors(described, state)
        open_states.extend(after for _, after in found[state])
    return found
