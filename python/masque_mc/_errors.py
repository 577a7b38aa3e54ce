"""Exceptions of the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Sequence

if TYPE_CHECKING:
    from ._results import Result

__all__ = ["MasqueError", "Diagnostic", "Place", "LoadError", "CheckError", "PropertyFailed"]

#: A message as the native part gives it.
MessageParts = tuple[str, str, str, Optional[str], Optional[tuple[str, int, int]]]


class MasqueError(Exception):
    """The base class of all exceptions of this package.

    >>> issubclass(LoadError, MasqueError) and issubclass(CheckError, MasqueError)
    True
    """


@dataclass(frozen=True)
class Place:
    """A location in a text: file, and line and column from 1.

    >>> str(Place("lamp.ispl", 3, 7))
    'lamp.ispl:3:7'
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """A message about a model: an error, a warning or a note.

    >>> import masque_mc
    >>> try:
    ...     masque_mc.loads("des (0, 1, 2)\\n(0, press, 7)\\n", language="aut")
    ... except masque_mc.LoadError as error:
    ...     found = error.diagnostics[0]
    >>> found.severity, found.place.line
    ('error', 2)
    """

    #: ``error``, ``warning`` or ``note``.
    severity: str
    #: A stable code; ``masque explain CODE`` prints its page.
    code: str
    #: The message, in one sentence.
    message: str
    #: A hint at what the author may have meant, or how to fix it.
    help: Optional[str] = None
    #: Where it is, if it is about a text.
    place: Optional[Place] = None

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.severity}[{self.code}]: {self.message}"


def diagnostics_of(messages: Sequence[MessageParts]) -> list[Diagnostic]:
    """Messages of the native part as diagnostics."""
    return [
        Diagnostic(severity, code, message, help_, None if place is None else Place(*place))
        for severity, code, message, help_, place in messages
    ]


class LoadError(MasqueError, ValueError):
    """A text has errors. ``diagnostics`` has all messages, errors among them; ``str`` shows them in the text.

    >>> import masque_mc
    >>> try:
    ...     masque_mc.loads("agent a is loop p := any endloop property x: EF q;", language="bdi")
    ... except masque_mc.LoadError as error:
    ...     print(error.diagnostics[0].code)
    bdi/unknown-atom
    """

    def __init__(self, text: str, messages: Sequence[MessageParts] = ()) -> None:
        super().__init__(text)
        #: Errors, warnings and notes, in the order of the text.
        self.diagnostics: list[Diagnostic] = diagnostics_of(messages)


class CheckError(MasqueError, RuntimeError):
    """A check or a question has no result, for example because a property does not exist.

    >>> import masque_mc
    >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, press, 1)\\n", language="aut", properties=["EF deadlock"])
    >>> try:
    ...     model.check(only=["safety"])
    ... except masque_mc.CheckError as error:
    ...     "safety" in str(error)
    True
    """


class PropertyFailed(MasqueError, AssertionError):
    """Raised by :meth:`Results.raise_for_failures`; ``failures`` has the results that do not hold.

    >>> import masque_mc
    >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, press, 1)\\n", language="aut", properties=["AG <press>tt"])
    >>> try:
    ...     model.check().raise_for_failures()
    ... except masque_mc.PropertyFailed as error:
    ...     len(error.failures)
    1
    """

    def __init__(self, failures: Sequence[Result]) -> None:
        self.failures: list[Result] = list(failures)
        lines = [f"{one.name} {one.verdict}: {one.formula}" for one in self.failures]
        super().__init__("\n".join(lines))
