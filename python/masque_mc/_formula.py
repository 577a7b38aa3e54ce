"""Expressions over variables, and formulas.

An :class:`Expr` is a value or a condition of a model that is being built. A :class:`Formula` has operators of time,
knowledge, norms or strategies (``_operators``). Both become ISPL text; brackets are always written, so precedence does not matter.
"""

from __future__ import annotations

import re
from typing import Iterable, Optional, Sequence, Union, overload

__all__ = ["Expr", "Formula", "FormulaLike", "all_of", "any_of", "false", "ite", "true"]

#: What stands for a value in an expression.
ExprLike = Union["Expr", bool, int, str]
#: What stands for a condition.
ConditionLike = Union["Expr", bool]
#: What stands for a formula: a formula, a condition, or a text in the language of the model.
FormulaLike = Union["Formula", "Expr", str, bool]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
#: Maximum number of cases that the conditional expressions of one expression may have.
MAX_CASES = 4096


class Expr:
    """A value or a condition over the variables of a :class:`System`.

    The operators are ``+ - * // %`` on numbers, ``== != < <= > >=`` on values, and ``& | ~ ^ >>`` on conditions, where
    ``>>`` is implication. ``//`` divides exactly, as ``/`` does in ISPL.

    >>> from masque_mc import System
    >>> n = System().agent("Counter").range("n", 0, 3)
    >>> print((n + 1 < 3) & ~(n == 0))
    ((Counter.n + 1) < 3) and (!(Counter.n = 0))
    """

    __slots__ = ("_cases",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str, *, cases: Optional[Sequence[tuple[Optional[str], str]]] = None) -> None:
        #: Conditions and texts: the expression has the value of the first text whose condition is true. The conditions
        #: exclude each other and are complete; an expression without `ite` has one case without a condition.
        self._cases: tuple[tuple[Optional[str], str], ...] = tuple(cases) if cases is not None else ((None, text),)

    def _join(self, other: ExprLike, operator: str) -> Expr:
        cases = []
        for guard, left in self._cases:
            for other_guard, right in expr(other)._cases:
                cases.append((_both(guard, other_guard), f"{_operand(left)} {operator} {_operand(right)}"))
        return _with_cases(cases)

    def _reverse(self, other: ExprLike, operator: str) -> Expr:
        return expr(other)._join(self, operator)

    def _condition(self) -> str:
        """The expression as a condition, without cases."""
        if len(self._cases) == 1:
            return self._cases[0][1]
        return " or ".join(f"({_operand(guard or 'true')} and {_operand(text)})" for guard, text in self._cases)

    def __add__(self, other: ExprLike) -> Expr:
        return self._join(other, "+")

    def __radd__(self, other: ExprLike) -> Expr:
        return self._reverse(other, "+")

    def __sub__(self, other: ExprLike) -> Expr:
        return self._join(other, "-")

    def __rsub__(self, other: ExprLike) -> Expr:
        return self._reverse(other, "-")

    def __mul__(self, other: ExprLike) -> Expr:
        return self._join(other, "*")

    def __rmul__(self, other: ExprLike) -> Expr:
        return self._reverse(other, "*")

    def __floordiv__(self, other: ExprLike) -> Expr:
        return self._join(other, "/")

    def __truediv__(self, other: ExprLike) -> Expr:
        return self._join(other, "/")

    def __mod__(self, other: ExprLike) -> Expr:
        return self._join(other, "mod")

    def __neg__(self) -> Expr:
        return expr(0)._join(self, "-")

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return self._join(_value(other), "=")

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return self._join(_value(other), "<>")

    def __lt__(self, other: ExprLike) -> Expr:
        return self._join(other, "<")

    def __le__(self, other: ExprLike) -> Expr:
        return self._join(other, "<=")

    def __gt__(self, other: ExprLike) -> Expr:
        return self._join(other, ">")

    def __ge__(self, other: ExprLike) -> Expr:
        return self._join(other, ">=")

    @overload
    def _connect(self, other: ConditionLike, operator: str) -> Expr: ...
    @overload
    def _connect(self, other: Union[Formula, str], operator: str) -> Formula: ...
    def _connect(self, other: FormulaLike, operator: str) -> Union[Expr, Formula]:
        if isinstance(other, (Formula, str)):
            return Formula(self._condition())._connect(other, operator)
        right = expr(other)
        return Expr(f"{_operand(self._condition())} {operator} {_operand(right._condition())}")

    @overload
    def __and__(self, other: ConditionLike) -> Expr: ...
    @overload
    def __and__(self, other: Union[Formula, str]) -> Formula: ...
    def __and__(self, other: FormulaLike) -> Union[Expr, Formula]:
        return self._connect(other, "and")

    @overload
    def __or__(self, other: ConditionLike) -> Expr: ...
    @overload
    def __or__(self, other: Union[Formula, str]) -> Formula: ...
    def __or__(self, other: FormulaLike) -> Union[Expr, Formula]:
        return self._connect(other, "or")

    @overload
    def __rshift__(self, other: ConditionLike) -> Expr: ...
    @overload
    def __rshift__(self, other: Union[Formula, str]) -> Formula: ...
    def __rshift__(self, other: FormulaLike) -> Union[Expr, Formula]:
        return self._connect(other, "->")

    def __rand__(self, other: bool) -> Expr:
        return expr(other)._connect(self, "and")

    def __ror__(self, other: bool) -> Expr:
        return expr(other)._connect(self, "or")

    def __xor__(self, other: ConditionLike) -> Expr:
        return ~self._connect(other, "<->")

    def __invert__(self) -> Expr:
        return Expr(f"!({self._condition()})")

    def iff(self, other: ConditionLike) -> Expr:
        """Equivalence.

        >>> from masque_mc import System
        >>> agent = System().agent("A")
        >>> print(agent.bool("x").iff(agent.bool("y")))
        A.x <-> A.y
        """
        return self._connect(other, "<->")

    def __bool__(self) -> bool:
        raise TypeError("an expression over variables has no truth value in Python: use `&`, `|`, `~` and `ite`")

    def __str__(self) -> str:
        return self._condition()

    def __repr__(self) -> str:
        if len(self._cases) == 1:
            return f"<Expr {self}>"
        return f"<Expr {'; '.join(f'{value} if {guard}' for guard, value in self._cases)}>"


def _both(one: Optional[str], other: Optional[str]) -> Optional[str]:
    if one is None or other is None:
        return one if other is None else other
    return f"{_operand(one)} and {_operand(other)}"


def _with_cases(cases: Sequence[tuple[Optional[str], str]]) -> Expr:
    if len(cases) > MAX_CASES:
        raise ValueError(f"the conditional expressions of one expression have more than {MAX_CASES} cases")
    return Expr("", cases=cases)


_ATOM = re.compile(r"-?[A-Za-z0-9_.\[\]]+\Z")


def _operand(text: str) -> str:
    """A text that may stand beside an operator."""
    return text if _ATOM.match(text) and not text.startswith("-") else f"({text})"


def _value(value: object) -> ExprLike:
    if isinstance(value, (Expr, bool, int, str)):
        return value
    raise TypeError(f"a value is an expression, a boolean, a number or a name, not {type(value).__name__}")


def expr(value: ExprLike) -> Expr:
    """A value as an expression. A text is the name of a value of an enumeration."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool):
        return Expr("true" if value else "false")
    if isinstance(value, int):
        return Expr(str(value))
    if isinstance(value, str):
        if not _NAME.match(value):
            raise ValueError(f"`{value}` is not the name of a value: use letters, digits and underscores")
        return Expr(value)
    raise TypeError(f"a value is an expression, a boolean, a number or a name, not {type(value).__name__}")


def condition_text(value: ExprLike) -> str:
    """A condition as ISPL text."""
    return expr(value)._condition()


def ite(condition: ExprLike, then: ExprLike, otherwise: ExprLike) -> Expr:
    """The value of ``then`` where a condition is true, and elsewhere that of ``otherwise``.

    >>> from masque_mc import System
    >>> n = System().agent("Counter").range("n", 0, 3)
    >>> print(ite(n < 3, n + 1, 0) == 2)
    ((Counter.n < 3) and ((Counter.n + 1) = 2)) or ((!(Counter.n < 3)) and (0 = 2))
    """
    text = condition_text(condition)
    cases = [(_both(text, guard), value) for guard, value in expr(then)._cases]
    cases += [(_both(f"!({text})", guard), value) for guard, value in expr(otherwise)._cases]
    return _with_cases(cases)


#: The condition that is always true.
true = Expr("true")
#: The condition that is never true.
false = Expr("false")


class Formula:
    """A formula of the logics of interpreted systems, with the connectives ``& | ~ >>`` and ``iff``.

    >>> from masque_mc import AG, K
    >>> print(AG("p") & ~K("Alice", "q"))
    (AG (p)) and (!(K(Alice, q)))
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def _connect(self, other: FormulaLike, operator: str) -> Formula:
        return Formula(f"{_operand(self._text)} {operator} {_operand(formula_text(other))}")

    def __and__(self, other: FormulaLike) -> Formula:
        return self._connect(other, "and")

    def __rand__(self, other: FormulaLike) -> Formula:
        return Formula(formula_text(other))._connect(self, "and")

    def __or__(self, other: FormulaLike) -> Formula:
        return self._connect(other, "or")

    def __ror__(self, other: FormulaLike) -> Formula:
        return Formula(formula_text(other))._connect(self, "or")

    def __rshift__(self, other: FormulaLike) -> Formula:
        return self._connect(other, "->")

    def __rrshift__(self, other: FormulaLike) -> Formula:
        return Formula(formula_text(other))._connect(self, "->")

    def __invert__(self) -> Formula:
        return Formula(f"!({self._text})")

    def iff(self, other: FormulaLike) -> Formula:
        """Equivalence.

        >>> from masque_mc import AG
        >>> print(AG("p").iff("q"))
        (AG (p)) <-> q
        """
        return self._connect(other, "<->")

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Formula) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        raise TypeError("a formula has no truth value in Python: use `&`, `|` and `~`, or check a model")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Formula {self._text}>"


def formula_text(formula: FormulaLike) -> str:
    """A formula as text."""
    if isinstance(formula, (Formula, Expr)):
        return str(formula)
    if isinstance(formula, bool):
        return "true" if formula else "false"
    if isinstance(formula, str):
        return formula
    raise TypeError(f"a formula is a Formula, an Expr or a text, not {type(formula).__name__}")


def agent_name(agent: object) -> str:
    """The name of an agent, given by its name or as an agent of a :class:`System`."""
    name = getattr(agent, "name", agent)
    if not isinstance(name, str):
        raise TypeError(f"an agent is given by its name, not by {type(agent).__name__}")
    return name


def group_text(group: object) -> str:
    """A group as text: the name of a group or an agent, or several agents."""
    if isinstance(group, (list, tuple, set, frozenset)):
        names = [agent_name(agent) for agent in group]
        return "{" + ", ".join(sorted(names) if isinstance(group, (set, frozenset)) else names) + "}"
    return agent_name(group)


@overload
def all_of(parts: Iterable[Expr]) -> Expr: ...
@overload
def all_of(parts: Iterable[FormulaLike]) -> Union[Expr, Formula]: ...
def all_of(parts: Iterable[FormulaLike]) -> Union[Expr, Formula]:
    """The conjunction: a condition if all parts are conditions, otherwise a formula; true if there are none.

    >>> from masque_mc import System
    >>> table = System().agent("Table")
    >>> print(all_of([table.bool("p"), table.bool("q")]))
    (Table.p) and (Table.q)
    >>> print(all_of(["p", "q"]))
    (p) and (q)
    """
    return _joined(list(parts), "and", true)


@overload
def any_of(parts: Iterable[Expr]) -> Expr: ...
@overload
def any_of(parts: Iterable[FormulaLike]) -> Union[Expr, Formula]: ...
def any_of(parts: Iterable[FormulaLike]) -> Union[Expr, Formula]:
    """The disjunction: a condition if all parts are conditions, otherwise a formula; false if there are none.

    >>> from masque_mc import System
    >>> system = System()
    >>> coins = [system.agent(f"Table{i}").bool("heads") for i in range(2)]
    >>> system.initially(any_of(coins))
    >>> system.build().states().count
    3
    """
    return _joined(list(parts), "or", false)


def _joined(parts: list[FormulaLike], operator: str, neutral: Expr) -> Union[Expr, Formula]:
    """Parts with an operator between them."""
    if not parts:
        return neutral
    if all(isinstance(part, (Expr, bool)) for part in parts):
        return Expr(f" {operator} ".join(f"({condition_text(part)})" for part in parts if isinstance(part, (Expr, bool))))
    return Formula(f" {operator} ".join(f"({formula_text(part)})" for part in parts))
