"""Sessions of LCC protocols: checking while agents interact."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Iterable, Mapping, Optional, Union

from . import _html, _native
from ._errors import CheckError, Diagnostic, diagnostics_of
from ._model import Memory, PathLike, _bytes, _seconds

__all__ = ["Session", "Answer", "Move", "Trace"]


@dataclass(frozen=True)
class Move:
    """An event that is possible in the current state of a session.

    >>> Move(0, "#@a(reader,rita) {open(diary)}", ()).label
    '#@a(reader,rita) {open(diary)}'
    """

    #: Position among the possible events.
    number: int
    #: The event, as the patterns of formulas match it.
    label: str
    #: What remains of the clauses of the agents afterwards.
    then: tuple[str, ...]

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Trace:
    """A trace of a protocol.

    >>> Trace(("a",), None, "final", ()).labels
    ('a',)
    """

    #: The events, as the patterns of formulas match them.
    labels: tuple[str, ...]
    #: For an infinite trace: index of the event that follows the last.
    loop: Optional[int]
    #: How the trace ends: ``final``, ``stuck``, ``loop``, ``decided`` or ``open``.
    end: str
    #: For a trace that ends in a deadlock: why each agent is stuck.
    blame: tuple[str, ...]


class Answer:
    """The answer of a session to a question.

    >>> session = Session.of_text("a(hen, H) :: null. agent a(hen, h).")
    >>> answer = session.check("AF final")
    >>> answer.holds, answer.verdict
    (True, 'holds')
    """

    def __init__(self, native: _native.Answer) -> None:
        self._native = native
        #: Name of the property, or the formula.
        self.name: str = native.name()
        #: ``holds``, ``fails`` or ``unknown``.
        self.verdict: str = native.verdict()
        #: Whether it holds; ``None`` if that is unknown.
        self.holds: Optional[bool] = {"holds": True, "fails": False}.get(self.verdict)
        #: The reason for ``unknown``.
        self.reason: Optional[str] = native.reason()
        #: Patterns and atoms of the formula that match nothing because of a name.
        self.remarks: list[str] = native.remarks()
        parts = native.trace()
        #: A trace that shows the verdict, if there is one.
        self.trace: Optional[Trace] = (
            None if parts is None else Trace(tuple(parts[0]), parts[1], parts[2], tuple(parts[3]))
        )

    def to_svg(self) -> Optional[str]:
        """The trace as a message chart, if there is one.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").check("AF final").to_svg()[:4]
        '<svg'
        """
        return self._native.chart()

    def __repr__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"<Answer {self.name}: {self.verdict}{why}>"

    def _repr_html_(self) -> str:
        return f"<p>{_html.escaped(self.name)} {_html.verdict(self.verdict)}</p>" + (self.to_svg() or "")


class Session:
    """A protocol that stays open while agents interact: its rules and facts may change, the interaction moves on, and
    properties are checked again.

    >>> text = '''
    ... a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
    ... a(clerk, C) :: opened(F) <= a(reader, R).
    ... agent a(reader, rita). agent a(clerk, carl). know rita: open(diary).
    ... property ends : AF final ;'''
    >>> session = Session.of_text(text)
    >>> session.check("ends").holds
    True
    >>> [move.label for move in session.moves()]
    ['#@a(reader,rita) {open(diary)}']
    >>> session.advance("#(open(diary))@rita")
    '#@a(reader,rita) {open(diary)}'
    """

    def __init__(
        self,
        *paths: PathLike,
        texts: Optional[Mapping[str, str]] = None,
        properties: Optional[Mapping[str, str]] = None,
        options: Optional[Mapping[str, object]] = None,
    ) -> None:
        """Opens files, and ``texts`` by name. Files whose names end in ``.mu`` have properties; ``properties`` are texts of
        properties by name. Files may import files, relative to their folder; without any file, texts import each other by
        name, and no file.
        """
        given = [(name, str(value)) for name, value in (options or {}).items()]
        files = [os.fspath(path) for path in paths]
        for path in files:
            if os.path.splitext(path)[1] in (".ispl", ".bdi", ".aut"):
                raise CheckError(f"`{path}` is not a protocol: a session is for LCC files")
        self._native = _native.Session.open(
            files, list((texts or {}).items()), list((properties or {}).items()), given
        )

    @staticmethod
    def of_text(text: str, **options: object) -> Session:
        """Opens a text.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").team
        ['h']
        """
        return Session(texts={"protocol.lcc": text}, options=options)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings about the texts.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").diagnostics
        []
        """
        return diagnostics_of(self._native.warnings())

    @property
    def properties(self) -> dict[str, str]:
        """The properties of the texts, obligations included, by name.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h). property ends : AF final ;").properties
        {'ends': 'AF final'}
        """
        return dict(self._native.properties())

    @property
    def team(self) -> list[str]:
        """The ids of the agents.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h1). agent a(hen, h2).").team
        ['h1', 'h2']
        """
        return self._native.team()

    @property
    def state(self) -> list[str]:
        """The current state, as statements of the language.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").state
        ['now a(hen, h) :: a(hen, h).']
        """
        return self._native.state()[0]

    @property
    def is_final(self) -> bool:
        """Whether no message is under way, and each agent has finished or is an idle server.

        >>> Session.of_text("a(hen, H) :: null. server a(hen, h).").is_final
        True
        """
        return self._native.state()[1]

    def blame(self) -> list[str]:
        """Why each agent is stuck; nothing unless the current state is a deadlock.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").blame()
        []
        """
        return self._native.blame()

    def check(
        self,
        question: str,
        *,
        evidence: bool = True,
        timeout: Optional[float] = None,
        memory: Optional[Memory] = None,
    ) -> Answer:
        """Answers a question about the current state: the name of a property, or a formula.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").check("EF final").holds
        True
        """
        is_formula = question not in self.properties
        return Answer(self._native.check(question, is_formula, evidence, _seconds(timeout), _bytes(memory)))

    def update(self, add: Union[str, Iterable[str]] = (), remove: Union[str, Iterable[str]] = ()) -> tuple[int, int]:
        """Adds and removes statements, all or none. Returns the numbers of both.

        >>> session = Session.of_text("a(hen, H) :: null. agent a(hen, h1).")
        >>> session.update(add="agent a(hen, h2).")
        (1, 0)
        """
        return self._native.update(_texts(add), _texts(remove))

    def moves(self) -> list[Move]:
        """The events that are possible now.

        >>> Session.of_text("a(hen, H) :: null. agent a(hen, h).").moves()[0].number
        0
        """
        found, _ = self._native.moves()
        return [Move(number, label, tuple(then)) for number, label, then in found]

    def advance(self, move: Union[Move, int, str]) -> str:
        """Advances by a move, the number of a move, or the event that matches a pattern. Returns the label of the event.

        >>> session = Session.of_text("a(hen, H) :: null. agent a(hen, h).")
        >>> session.advance(0)
        '#@a(hen,h) {}'
        """
        if isinstance(move, Move):
            return self._native.advance("number", str(move.number))
        if isinstance(move, int):
            return self._native.advance("number", str(move))
        return self._native.advance("pattern", move)

    def __repr__(self) -> str:
        return f"<Session of {', '.join(self.team)}>"


def _texts(texts: Union[str, Iterable[str]]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)
