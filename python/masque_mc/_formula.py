"""Expressions over variables, and formulas.

An :class:`Expr` is a value or a condition of a model that is being built. A :class:`Formula` has operators of time,
knowledge, norms or strategies. Both become ISPL text; brackets are always written, so precedence does not matter.
"""

from __future__ import annotations

import re
from typing import Callable, Iterable, Optional, Sequence, Union, overload

__all__ = [
    "Expr", "Formula", "FormulaLike", "ite", "true", "false",
    "EX", "AX", "EF", "AF", "EG", "AG", "EU", "AU", "EW", "AW", "ER", "AR",
    "K", "GK", "DK", "GCK", "O", "KH", "Can", "mu", "nu",
    "LTL", "CTLStar", "X", "F", "G", "U", "W", "R", "A", "E",
]

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
        return f"<Expr {self}>"


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


def _prefix(operator: str) -> Callable[[FormulaLike], Formula]:
    def apply(formula: FormulaLike) -> Formula:
        return Formula(f"{operator} ({formula_text(formula)})")

    return apply


def _until(quantifier: str, operator: str, before: FormulaLike, goal: FormulaLike) -> Formula:
    return Formula(f"{quantifier}(({formula_text(before)}) {operator} ({formula_text(goal)}))")


def EX(formula: FormulaLike) -> Formula:
    """On some path, ``formula`` is true in the next state.

    >>> print(EX("p"))
    EX (p)
    """
    return _prefix("EX")(formula)


def AX(formula: FormulaLike) -> Formula:
    """In every next state, ``formula`` is true.

    >>> print(AX("p"))
    AX (p)
    """
    return _prefix("AX")(formula)


def EF(formula: FormulaLike) -> Formula:
    """On some path, ``formula`` becomes true.

    >>> print(EF("p"))
    EF (p)
    """
    return _prefix("EF")(formula)


def AF(formula: FormulaLike) -> Formula:
    """On every path, ``formula`` becomes true.

    >>> print(AF("p"))
    AF (p)
    """
    return _prefix("AF")(formula)


def EG(formula: FormulaLike) -> Formula:
    """On some path, ``formula`` is always true.

    >>> print(EG("p"))
    EG (p)
    """
    return _prefix("EG")(formula)


def AG(formula: FormulaLike) -> Formula:
    """On every path, ``formula`` is always true.

    >>> print(AG("p"))
    AG (p)
    """
    return _prefix("AG")(formula)


def EU(before: FormulaLike, goal: FormulaLike) -> Formula:
    """On some path, ``goal`` becomes true, and ``before`` is true until then.

    >>> print(EU("p", "q"))
    E((p) U (q))
    """
    return _until("E", "U", before, goal)


def AU(before: FormulaLike, goal: FormulaLike) -> Formula:
    """On every path, ``goal`` becomes true, and ``before`` is true until then.

    >>> print(AU("p", "q"))
    A((p) U (q))
    """
    return _until("A", "U", before, goal)


def EW(before: FormulaLike, goal: FormulaLike) -> Formula:
    """As :func:`EU`, or ``before`` is always true.

    >>> print(EW("p", "q"))
    E((p) W (q))
    """
    return _until("E", "W", before, goal)


def AW(before: FormulaLike, goal: FormulaLike) -> Formula:
    """As :func:`AU`, or ``before`` is always true.

    >>> print(AW("p", "q"))
    A((p) W (q))
    """
    return _until("A", "W", before, goal)


def ER(release: FormulaLike, kept: FormulaLike) -> Formula:
    """On some path, ``kept`` is true up to and including the moment when ``release`` becomes true, or always.

    >>> print(ER("p", "q"))
    E((p) R (q))
    """
    return _until("E", "R", release, kept)


def AR(release: FormulaLike, kept: FormulaLike) -> Formula:
    """On every path, ``kept`` is true up to and including the moment when ``release`` becomes true, or always.

    >>> print(AR("p", "q"))
    A((p) R (q))
    """
    return _until("A", "R", release, kept)


def K(agent: object, formula: FormulaLike) -> Formula:
    """The agent knows ``formula``.

    >>> print(K("Alice", "p"))
    K(Alice, p)
    """
    return Formula(f"K({agent_name(agent)}, {formula_text(formula)})")


def GK(group: object, formula: FormulaLike) -> Formula:
    """Everyone in the group knows ``formula``.

    >>> print(GK(["Alice", "Bob"], "p"))
    GK({Alice, Bob}, p)
    """
    return Formula(f"GK({group_text(group)}, {formula_text(formula)})")


def DK(group: object, formula: FormulaLike) -> Formula:
    """Distributed knowledge: the group would know ``formula`` if its members combined what they see.

    >>> print(DK(["Alice", "Bob"], "p"))
    DK({Alice, Bob}, p)
    """
    return Formula(f"DK({group_text(group)}, {formula_text(formula)})")


def GCK(group: object, formula: FormulaLike) -> Formula:
    """Common knowledge of the group.

    >>> print(GCK(["Alice", "Bob"], "p"))
    GCK({Alice, Bob}, p)
    """
    return Formula(f"GCK({group_text(group)}, {formula_text(formula)})")


def O(agent: object, formula: FormulaLike) -> Formula:  # noqa: E743
    """``formula`` is true wherever the agent behaves correctly.

    >>> print(O("Alice", "p"))
    O(Alice, p)
    """
    return Formula(f"O({agent_name(agent)}, {formula_text(formula)})")


def KH(agent: object, group: object, formula: FormulaLike) -> Formula:
    """The agent knows ``formula`` if it may assume that the group behaves correctly.

    >>> print(KH("Alice", "Bob", "p"))
    KH(Alice, Bob, p)
    """
    return Formula(f"KH({agent_name(agent)}, {group_text(group)}, {formula_text(formula)})")


class Can:
    """What a group can enforce, whatever the other agents do. With ``uniform=True``, by strategies that depend only on
    what the members see.

    >>> print(Can("Alice").F("p"))
    <Alice> F (p)
    >>> print(Can(["Alice", "Bob"], uniform=True).U("p", "q"))
    <{Alice, Bob}, uniform>((p) U (q))
    """

    def __init__(self, group: object, *, uniform: Optional[bool] = None) -> None:
        mode = {None: "", True: ", uniform", False: ", perfect"}[uniform]
        self._group = f"<{group_text(group)}{mode}>"

    def X(self, formula: FormulaLike) -> Formula:
        """The group enforces ``formula`` in the next state.

        >>> print(Can("Alice").X("p"))
        <Alice> X (p)
        """
        return Formula(f"{self._group} X ({formula_text(formula)})")

    def F(self, formula: FormulaLike) -> Formula:
        """The group enforces that ``formula`` becomes true.

        >>> print(Can("Alice").F("p"))
        <Alice> F (p)
        """
        return Formula(f"{self._group} F ({formula_text(formula)})")

    def G(self, formula: FormulaLike) -> Formula:
        """The group enforces that ``formula`` is always true.

        >>> print(Can("Alice").G("p"))
        <Alice> G (p)
        """
        return Formula(f"{self._group} G ({formula_text(formula)})")

    def U(self, before: FormulaLike, goal: FormulaLike) -> Formula:
        """The group enforces that ``goal`` becomes true, and ``before`` is true until then.

        >>> print(Can("Alice").U("p", "q"))
        <Alice>((p) U (q))
        """
        return Formula(f"{self._group}(({formula_text(before)}) U ({formula_text(goal)}))")


def _fixpoint(kind: str, name: str, body: Callable[[Formula], FormulaLike]) -> Formula:
    return Formula(f"({kind} {name}. ({formula_text(body(Formula(name)))}))")


def mu(name: str, body: Callable[[Formula], FormulaLike]) -> Formula:
    """The least fixpoint.

    >>> print(mu("Z", lambda z: EX(z) | "p"))
    (mu Z. ((EX (Z)) or p))
    """
    return _fixpoint("mu", name, body)


def nu(name: str, body: Callable[[Formula], FormulaLike]) -> Formula:
    """The greatest fixpoint.

    >>> print(nu("Z", lambda z: AX(z) & "p"))
    (nu Z. ((AX (Z)) and p))
    """
    return _fixpoint("nu", name, body)


def LTL(path: FormulaLike) -> Formula:
    """A path formula is true of every infinite path.

    >>> print(LTL(G(F("p"))))
    LTL (G (F (p)))
    """
    return _prefix("LTL")(path)


def CTLStar(formula: FormulaLike) -> Formula:
    """A formula of CTL*.

    >>> print(CTLStar(E(G(F("p")))))
    CTL* (E (G (F (p))))
    """
    return _prefix("CTL*")(formula)


def A(path: FormulaLike) -> Formula:
    """In CTL*: a path formula is true of every path.

    >>> print(A(F("p")))
    A (F (p))
    """
    return _prefix("A")(path)


def E(path: FormulaLike) -> Formula:
    """In CTL*: a path formula is true of some path.

    >>> print(E(F("p")))
    E (F (p))
    """
    return _prefix("E")(path)


def X(path: FormulaLike) -> Formula:
    """In a path formula: in the next state.

    >>> print(X("p"))
    X (p)
    """
    return _prefix("X")(path)


def F(path: FormulaLike) -> Formula:
    """In a path formula: at some time.

    >>> print(F("p"))
    F (p)
    """
    return _prefix("F")(path)


def G(path: FormulaLike) -> Formula:
    """In a path formula: always.

    >>> print(G("p"))
    G (p)
    """
    return _prefix("G")(path)


def U(before: FormulaLike, goal: FormulaLike) -> Formula:
    """In a path formula: ``goal`` becomes true, and ``before`` is true until then.

    >>> print(U("p", "q"))
    ((p) U (q))
    """
    return _until("", "U", before, goal)


def W(before: FormulaLike, goal: FormulaLike) -> Formula:
    """In a path formula: as :func:`U`, or ``before`` is always true.

    >>> print(W("p", "q"))
    ((p) W (q))
    """
    return _until("", "W", before, goal)


def R(release: FormulaLike, kept: FormulaLike) -> Formula:
    """In a path formula: ``kept`` is true up to and including the moment when ``release`` becomes true, or always.

    >>> print(R("p", "q"))
    ((p) R (q))
    """
    return _until("", "R", release, kept)


def all_of(formulas: Iterable[FormulaLike]) -> Formula:
    """The conjunction of formulas; true if there are none.

    >>> print(all_of(["p", "q"]))
    (p) and (q)
    """
    return Formula(" and ".join(f"({formula_text(one)})" for one in formulas) or "true")


def any_of(formulas: Iterable[FormulaLike]) -> Formula:
    """The disjunction of formulas; false if there are none.

    >>> print(any_of(["p", "q"]))
    (p) or (q)
    """
    return Formula(" or ".join(f"({formula_text(one)})" for one in formulas) or "false")
