"""The worlds of BDI models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

__all__ = ["World"]


@dataclass(frozen=True)
class World:
    """A world of a BDI model, and the numbers of its states: ``built = bad + dead + unreachable + kept``.

    >>> import masque_mc
    >>> world = masque_mc.loads("agent a is loop p := any endloop", "bdi").worlds()[0]
    >>> world.program, world.status, world.kept == world.built
    ('a', 'ok', True)
    """

    #: Path to the world, such as ``alice.bel(bob)``.
    path: str
    #: Program of the world: an agent, or a view.
    program: str
    #: ``ok``, ``removed (no initial state)`` or ``removed (not total)``.
    status: str
    #: Number of states that the program reaches.
    built: int
    #: Number of incoherent states.
    bad: int
    #: Number of other states without a future.
    dead: int
    #: Number of states that could be reached only through removed states.
    unreachable: int
    #: Number of states that remain.
    kept: int
    #: Number of initial states that remain.
    initial: int
    #: Explicit attitudes.
    explicit: tuple[str, ...]
    #: All data about the world in the JSON report.
    data: Mapping[str, Any]

    @staticmethod
    def _of(path: str, data: Mapping[str, Any]) -> World:
        counts = {name: int(data[name]) for name in ("built", "bad", "dead", "unreachable", "initial")}
        return World(
            path=path,
            program=data["program"],
            status=data["status"],
            kept=int(data["final"]),
            explicit=tuple(data["explicit"]),
            data=data,
            **counts,
        )
