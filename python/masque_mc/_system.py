"""Building interpreted systems in Python."""

from __future__ import annotations

import builtins
import re
from typing import Iterable, Mapping, Optional, Sequence, Union

from ._errors import MasqueError
from ._formula import Expr, ExprLike, Formula, FormulaLike, condition_text, expr, formula_text
from ._model import Model, loads

__all__ = ["System", "Agent", "Variable", "Action", "BuildError"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
#: Words that are never names.
_RESERVED = frozenset({"and", "or", "if", "true", "false", "not"})
#: Name of the agent that is everything outside the agents.
ENVIRONMENT = "Environment"


class BuildError(MasqueError, ValueError):
    """A call that builds a system is wrong.

    >>> from masque_mc import BuildError, System
    >>> try:
    ...     System().agent("Alice and Bob")
    ... except BuildError as error:
    ...     print(error)
    `Alice and Bob` is not a name: use letters, digits and underscores, and begin with a letter
    """


def _name(name: str, taken: Iterable[str], what: str) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise BuildError(f"`{name}` is not a name: use letters, digits and underscores, and begin with a letter")
    if name in _RESERVED:
        raise BuildError(f"`{name}` is a word of the language, which cannot be a name")
    if name in taken:
        raise BuildError(f"there is another {what} called `{name}`")
    return name


class Variable(Expr):
    """A variable of an agent, which is also the expression of its value.

    >>> from masque_mc import System
    >>> seen = System().agent("Alice").enum("seen", ["nothing", "heads"])
    >>> seen.name, str(seen), seen.values
    ('seen', 'Alice.seen', ('nothing', 'heads'))
    """

    __slots__ = ("agent", "name", "domain", "is_visible", "values")
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(
        self, agent: Agent, name: str, domain: str, values: tuple[Union[bool, int, str], ...], is_visible: bool
    ) -> None:
        super().__init__(f"{agent.name}.{name}")
        #: The agent that declares it.
        self.agent = agent
        #: Name without the agent.
        self.name = name
        #: Its type as ISPL text.
        self.domain = domain
        #: Whether all agents see it.
        self.is_visible = is_visible
        #: Its possible values; the first and the last for a range.
        self.values = values

    def __repr__(self) -> str:
        return f"<Variable {self}: {self.domain}>"


class Action(Expr):
    """An action of an agent, which is also the condition that the agent performs it in a step.

    >>> from masque_mc import System
    >>> print(System().agent("Alice").action("look"))
    Alice.Action = look
    """

    __slots__ = ("agent", "name")
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, agent: Agent, name: str) -> None:
        super().__init__(f"{agent.name}.Action = {name}")
        #: The agent that can perform it.
        self.agent = agent
        #: Its name.
        self.name = name

    def __repr__(self) -> str:
        return f"<Action {self.name} of {self.agent.name}>"


class Agent:
    """An agent of a :class:`System`: variables, actions, when they may be performed, and how variables change.

    >>> from masque_mc import System, ite
    >>> counter = System().agent("Counter")
    >>> n = counter.range("n", 0, 3, initial=0)
    >>> tick = counter.action("tick", when=n < 3)
    >>> wait = counter.otherwise("wait")
    >>> counter.next(n, ite(tick, n + 1, n))
    >>> print(counter.to_ispl())
    Agent Counter
      Vars:
        n : 0..3;
      end Vars
      Actions = {tick, wait};
      Protocol:
        (Counter.n < 3) : {tick};
        Other : {wait};
      end Protocol
      Evolution:
        n = (Counter.n + 1) if (Counter.Action = tick);
        n = (Counter.n) if (!(Counter.Action = tick));
      end Evolution
    end Agent
    """

    def __init__(self, system: System, name: str, sees: Sequence[Variable]) -> None:
        self._system = system
        #: Name of the agent.
        self.name = name
        self._sees: list[Variable] = []
        self._variables: dict[str, Variable] = {}
        self._actions: dict[str, Action] = {}
        self._protocol: list[tuple[str, list[str]]] = []
        self._otherwise: list[str] = []
        self._lines: list[tuple[str, str]] = []
        self._red: list[str] = []
        self.sees(*sees)

    def _variable(
        self,
        name: str,
        domain: str,
        values: tuple[Union[bool, int, str], ...],
        initial: Optional[ExprLike],
        visible: bool,
    ) -> Variable:
        if visible and self.name != ENVIRONMENT:
            raise BuildError("only variables of the Environment can be visible to other agents")
        variable = Variable(self, _name(name, self._variables, "variable"), domain, values, visible)
        self._variables[name] = variable
        if initial is not None:
            self._system.initially(variable == initial)
        return variable

    def bool(self, name: str, *, initial: Optional[ExprLike] = None, visible: bool = False) -> Variable:
        """Adds a boolean variable. Without ``initial`` it may begin with any value. A ``visible`` variable of the
        Environment is seen by all agents.

        >>> from masque_mc import System
        >>> System().agent("Alice").bool("muddy")
        <Variable Alice.muddy: boolean>
        """
        return self._variable(name, "boolean", (False, True), initial, visible)

    def range(
        self, name: str, first: int, last: int, *, initial: Optional[ExprLike] = None, visible: builtins.bool = False
    ) -> Variable:
        """Adds a variable whose values are the numbers from ``first`` to ``last``.

        >>> from masque_mc import System
        >>> System().agent("Lift").range("floor", -1, 4, initial=0)
        <Variable Lift.floor: -1..4>
        """
        if first > last:
            raise BuildError(f"the range of `{name}` ends before it begins")
        return self._variable(name, f"{int(first)}..{int(last)}", (first, last), initial, visible)

    def enum(
        self, name: str, values: Iterable[str], *, initial: Optional[ExprLike] = None, visible: builtins.bool = False
    ) -> Variable:
        """Adds a variable whose values have names.

        >>> from masque_mc import System
        >>> System().environment().enum("coin", ["heads", "tails"])
        <Variable Environment.coin: {heads, tails}>
        """
        known: list[str] = []
        for value in values:
            known.append(_name(value, known, "value"))
        if not known:
            raise BuildError(f"the enumeration `{name}` has no values")
        return self._variable(name, "{" + ", ".join(known) + "}", tuple(known), initial, visible)

    def sees(self, *variables: Variable) -> None:
        """Lets the agent see variables of the Environment that are not visible to all.

        >>> from masque_mc import System
        >>> system = System()
        >>> system.agent("Bob").sees(system.environment().bool("lit"))
        """
        for variable in variables:
            if variable.agent.name != ENVIRONMENT or self.name == ENVIRONMENT:
                raise BuildError(f"`{variable}` is not a variable of the Environment, so `{self.name}` cannot see it")
            if variable.agent._system is not self._system:
                raise BuildError(f"`{variable}` belongs to another system")
            if not any(known is variable for known in self._sees):
                self._sees.append(variable)

    def action(self, name: str, *, when: ExprLike = True) -> Action:
        """Adds an action, which the agent may perform where a condition over what it sees is true.

        >>> from masque_mc import System
        >>> System().agent("Alice").action("look")
        <Action look of Alice>
        """
        action = Action(self, _name(name, self._actions, "action"))
        self._actions[name] = action
        self._protocol.append((condition_text(when), [name]))
        return action

    def allow(self, *actions: Action, when: ExprLike = True) -> None:
        """Lets the agent also perform actions where another condition is true.

        >>> from masque_mc import System
        >>> alice = System().agent("Alice")
        >>> tired = alice.bool("tired")
        >>> rest = alice.action("rest", when=tired)
        >>> alice.allow(rest, when=~tired)
        """
        for action in actions:
            if action.agent is not self:
                raise BuildError(f"`{action.name}` is not an action of `{self.name}`")
        if actions:
            self._protocol.append((condition_text(when), [action.name for action in actions]))

    def otherwise(self, name: str) -> Action:
        """Adds an action, which the agent may perform only where the conditions of all other actions are false.

        >>> from masque_mc import System
        >>> System().agent("Alice").otherwise("wait")
        <Action wait of Alice>
        """
        action = Action(self, _name(name, self._actions, "action"))
        self._actions[name] = action
        self._otherwise.append(name)
        return action

    def next(self, variable: Variable, value: ExprLike, *, when: ExprLike = True) -> None:
        """Gives a variable of the agent a value in each step in which a condition is true. The value and the condition
        read what the agent sees before the step, and the condition also actions of any agent. Where several calls for a
        variable apply, one of them is chosen; where none does, the variable keeps its value.

        >>> from masque_mc import System
        >>> lamp = System().agent("Lamp")
        >>> on, press = lamp.bool("on", initial=False), lamp.action("press")
        >>> lamp.next(on, ~on, when=press)
        """
        self._check_own(variable)
        self._lines.extend(self._assignments(variable, value, condition_text(when)))

    def line(self, values: Mapping[Variable, ExprLike], *, when: ExprLike = True) -> None:
        """Adds a line that assigns several variables together, for systems with ``semantics="MultiAssignment"``, where
        one of all lines that apply is taken. Values must be without ``ite``, and a boolean value `True` or `False`.

        >>> from masque_mc import System
        >>> pair = System(semantics="MultiAssignment").agent("Pair")
        >>> x, y = pair.range("x", 0, 1), pair.range("y", 0, 1)
        >>> pair.line({x: y, y: x}, when=pair.action("swap"))
        """
        if self._system.semantics != "MultiAssignment":
            raise BuildError('lines of several variables need `System(semantics="MultiAssignment")`')
        parts = []
        for variable, value in values.items():
            self._check_own(variable)
            cases = expr(value)._cases
            if len(cases) != 1:
                raise BuildError("a value of a line has no `ite`; add a line for each case")
            parts.append(f"{variable.name} = {_value_text(cases[0][1])}")
        if parts:
            self._lines.append((" and ".join(parts), condition_text(when)))

    def _check_own(self, variable: Variable) -> None:
        if not isinstance(variable, Variable) or variable.agent is not self:
            raise BuildError(f"`{variable}` is not a variable of `{self.name}`")

    def _assignments(self, variable: Variable, value: ExprLike, condition: str) -> list[tuple[str, str]]:
        """The assignments of a value, and their conditions."""
        lines = []
        for guard, text in expr(value)._cases:
            both = condition if guard is None else guard if condition == "true" else f"({condition}) and ({guard})"
            if variable.domain != "boolean" or text in ("true", "false"):
                lines.append((f"{variable.name} = {_value_text(text)}", both))
                continue
            # A condition is assigned by two lines.
            for word, when in (("true", f"({text})"), ("false", f"!({text})")):
                lines.append((f"{variable.name} = {word}", when if both == "true" else f"({both}) and {when}"))
        return lines

    def incorrect_where(self, condition: ExprLike) -> None:
        """Defines states in which the agent does not behave correctly, for :func:`O` and :func:`KH`.

        >>> from masque_mc import System
        >>> bob = System().agent("Bob")
        >>> bob.incorrect_where(bob.bool("lied"))
        """
        self._red.append(condition_text(condition))

    def to_ispl(self) -> str:
        """The agent as ISPL text.

        >>> from masque_mc import System
        >>> System().agent("Alice").to_ispl().splitlines()[0]
        'Agent Alice'
        """
        out = [f"Agent {self.name}"]
        if self._sees:
            out.append(f"  Lobsvars = {{{', '.join(variable.name for variable in self._sees)}}};")
        for section, visible in (("Obsvars", True), ("Vars", False)):
            found = [one for one in self._variables.values() if one.is_visible == visible]
            if found or not visible:
                out.append(f"  {section}:")
                out += [f"    {one.name} : {one.domain};" for one in found]
                out.append(f"  end {section}")
        if self._red:
            out += ["  RedStates:", f"    {' or '.join(f'({one})' for one in self._red)};", "  end RedStates"]
        names = list(self._actions) or ["none"]
        out += [f"  Actions = {{{', '.join(names)}}};", "  Protocol:"]
        out += [f"    ({condition}) : {{{', '.join(actions)}}};" for condition, actions in self._protocol]
        others = self._otherwise if self._actions else ["none"]
        if others:
            out.append(f"    Other : {{{', '.join(others)}}};")
        out += ["  end Protocol", "  Evolution:"]
        out += [f"    {assignment} if ({condition});" for assignment, condition in self._lines]
        out += ["  end Evolution", "end Agent"]
        return "\n".join(out)

    def __repr__(self) -> str:
        return f"<Agent {self.name}>"


def _value_text(text: str) -> str:
    return text if re.match(r"-?[A-Za-z0-9_]+\Z", text) else f"({text})"


class System:
    """An interpreted system that is built in Python: agents, initial states, propositions, properties.

    In a step all agents perform an action at the same time, and all variables change at the same time. ``semantics`` says
    what happens where several assignments of an agent apply: with ``SingleAssignment`` one is chosen for each variable,
    and with ``MultiAssignment`` one for all variables of the agent.

    >>> from masque_mc import AG, K, System
    >>> system = System()
    >>> coin = system.environment().enum("coin", ["heads", "tails"])
    >>> alice = system.agent("Alice", sees=[coin])
    >>> heads = system.define("heads", coin == "heads")
    >>> system.property("knows", AG(heads >> K(alice, heads)))
    >>> system.property("stays", AG(heads >> AG(heads)))
    >>> [(result.name, result.holds) for result in system.build().check()]
    [('knows', True), ('stays', True)]
    """

    def __init__(self, *, semantics: str = "SingleAssignment") -> None:
        if semantics not in ("SingleAssignment", "MultiAssignment"):
            raise BuildError(f"semantics is `SingleAssignment` or `MultiAssignment`, not `{semantics}`")
        #: How assignments that apply at the same time are read.
        self.semantics = semantics
        self._agents: dict[str, Agent] = {}
        self._initially: list[str] = []
        self._propositions: dict[str, str] = {}
        self._groups: dict[str, list[str]] = {}
        self._fairness: list[str] = []
        self._properties: dict[str, str] = {}

    @property
    def agents(self) -> list[Agent]:
        """The agents, in the order in which they were added.

        >>> from masque_mc import System
        >>> system = System()
        >>> _ = system.agent("Alice")
        >>> system.agents
        [<Agent Alice>]
        """
        return list(self._agents.values())

    def agent(self, name: str, *, sees: Iterable[Variable] = ()) -> Agent:
        """Adds an agent, which sees its own variables, the visible ones of the Environment, and those in ``sees``.

        >>> from masque_mc import System
        >>> System().agent("Alice")
        <Agent Alice>
        """
        agent = Agent(self, _name(name, self._agents, "agent"), list(sees))
        self._agents[name] = agent
        return agent

    def environment(self) -> Agent:
        """The agent ``Environment``, whose variables other agents can see.

        >>> from masque_mc import System
        >>> system = System()
        >>> system.environment() is system.environment()
        True
        """
        known = self._agents.get(ENVIRONMENT)
        return known if known is not None else self.agent(ENVIRONMENT)

    def initially(self, condition: ExprLike) -> None:
        """Restricts the initial states. Several conditions must all be true.

        >>> from masque_mc import System
        >>> system = System()
        >>> lamp = system.agent("Lamp").bool("on")
        >>> system.initially(~lamp)
        >>> system.build().states().count
        1
        """
        self._initially.append(condition_text(condition))

    def define(self, name: str, condition: ExprLike) -> Formula:
        """Names a condition, for formulas.

        >>> from masque_mc import System
        >>> system = System()
        >>> system.define("lit", system.agent("Lamp").bool("on"))
        <Formula lit>
        """
        self._propositions[_name(name, self._propositions, "proposition")] = condition_text(condition)
        return Formula(name)

    def group(self, name: str, agents: Iterable[Agent]) -> str:
        """Names a group of agents, for formulas.

        >>> from masque_mc import System
        >>> system = System()
        >>> system.group("all", [system.agent("Alice"), system.agent("Bob")])
        'all'
        """
        names = [agent.name for agent in agents]
        if not names:
            raise BuildError(f"the group `{name}` has no members")
        self._groups[_name(name, self._groups, "group")] = names
        return name

    def fairness(self, formula: FormulaLike) -> None:
        """Considers only paths on which a formula is true infinitely often.

        >>> from masque_mc import AF, System
        >>> system = System()
        >>> lamp = system.agent("Lamp")
        >>> on, press, wait = lamp.bool("on", initial=False), lamp.action("press"), lamp.action("wait")
        >>> lamp.next(on, ~on, when=press)
        >>> system.fairness(on)
        >>> system.property("lit", AF(on))
        >>> system.build().check().all_hold
        True
        """
        self._fairness.append(formula_text(formula))

    def property(self, name: str, formula: FormulaLike) -> None:
        """Adds a property: it must be true in all initial states.

        >>> from masque_mc import EF, System
        >>> system = System()
        >>> lamp = system.agent("Lamp").bool("on")
        >>> system.property("possible", EF(lamp))
        >>> system.build().properties
        ['possible']
        """
        self._properties[_name(name, self._properties, "property")] = formula_text(formula)

    def to_ispl(self) -> str:
        """The system as ISPL text, with its properties.

        >>> from masque_mc import System, loads
        >>> system = System()
        >>> _ = system.agent("Lamp").bool("on")
        >>> loads(system.to_ispl(), "ispl").states().count
        2
        """
        if not self._agents:
            raise BuildError("the system has no agents")
        out = [f"Semantics = {self.semantics};", ""]
        for agent in self._agents.values():
            out += [agent.to_ispl(), ""]
        out.append("Evaluation")
        out += [f"  {name} if {condition};" for name, condition in self._propositions.items()]
        out += ["end Evaluation", ""]
        conditions = " and ".join(f"({one})" for one in self._initially) or "true"
        out += ["InitStates", f"  {conditions};", "end InitStates", ""]
        if self._groups:
            out.append("Groups")
            out += [f"  {name} = {{{', '.join(names)}}};" for name, names in self._groups.items()]
            out += ["end Groups", ""]
        for section, lines in (
            ("Fairness", self._fairness),
            ("Formulae", [f"{name} : {formula}" for name, formula in self._properties.items()]),
        ):
            if lines:
                out += [section, *(f"  {line};" for line in lines), f"end {section}", ""]
        return "\n".join(out)

    def build(self) -> Model:
        """The checked model. Raises :class:`LoadError` with places in the ISPL text if there are errors.

        >>> from masque_mc import LoadError, System
        >>> system = System()
        >>> hidden = system.agent("Alice").bool("secret")
        >>> bob = system.agent("Bob")
        >>> _ = bob.action("copy", when=hidden)
        >>> try:
        ...     system.build()
        ... except LoadError as error:
        ...     error.diagnostics[0].place is not None
        True
        """
        return loads(self.to_ispl(), "ispl", name="system.ispl")

    def __str__(self) -> str:
        return self.to_ispl()

    def __repr__(self) -> str:
        return f"<System: {', '.join(self._agents)}>"
