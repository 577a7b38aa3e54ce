"""Values of variables: texts of the checker as Python values, and back."""

from __future__ import annotations

import re
from typing import Iterable, Union

#: A value of a variable: a boolean, a number, or the name of a value of an enumeration.
Value = Union[bool, int, str]

_NUMBER = re.compile(r"-?[0-9]+\Z")


def value_of(text: str) -> Value:
    """The value that a text of the checker denotes."""
    if text == "true":
        return True
    if text == "false":
        return False
    return int(text) if _NUMBER.match(text) else text


def text_of(value: Value) -> str:
    """The text of a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def values_of(named: Iterable[tuple[str, str]]) -> dict[str, Value]:
    """Named texts as named values."""
    return {name: value_of(text) for name, text in named}


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 walk``, ``2 walks``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
