"""Operators of time, knowledge, norms and strategies."""

from __future__ import annotations

from typing import Callable, Optional

from ._formula import Formula, FormulaLike, agent_name, formula_text, group_text

__all__ = [
    "EX", "AX", "EF", "AF", "EG", "AG", "EU", "AU", "EW", "AW", "ER", "AR",
    "K", "GK", "DK", "GCK", "O", "KH", "Can", "mu", "nu",
    "LTL", "CTLStar", "X", "F", "G", "U", "W", "R", "A", "E",
]


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
