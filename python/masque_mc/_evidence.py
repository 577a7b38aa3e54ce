"""Evidence for verdicts: counterexamples and witnesses."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Protocol, Union

from . import _html
from ._values import Value, counted, values_of

if TYPE_CHECKING:
    from ._native import _WalkParts

__all__ = ["Evidence", "Walk", "Step"]


class ReportSource(Protocol):
    """What a report can give; a native report, or one that a child process sent."""

    def json(self) -> str: ...
    def text(self) -> str: ...
    def evidence_texts(self) -> list[Optional[str]]: ...
    def walks(self, property: int) -> list[_WalkParts]: ...
    def html(self, property: Optional[int]) -> str: ...
    def dot(self, property: Optional[int]) -> str: ...


@dataclass(frozen=True)
class Step:
    """A step of a walk: its label, and for an interpreted system the action of each agent.

    >>> step = Step("Alice: look", {"Alice": "look"})
    >>> step.actions["Alice"]
    'look'
    """

    #: What happens, as text.
    label: str
    #: The agents that have actions, with their actions; empty for other languages than ISPL.
    actions: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Walk:
    """A walk through a model: states, and the steps between them.

    >>> import masque_mc
    >>> model = masque_mc.loads("des (0, 2, 2)\\n(0, press, 1)\\n(1, release, 0)\\n", language="aut",
    ...                         properties=["AG <press>tt"])
    >>> walk = model.check()[0].evidence.walks[0]
    >>> [str(step) for step in walk.steps], len(walk), walk.loop
    (['press'], 2, None)
    """

    #: What the walk is.
    name: str
    #: The named values of each state.
    states: tuple[Mapping[str, Value], ...]
    #: One step from each state to the next; an infinite walk has one more, from the last state back.
    steps: tuple[Step, ...]
    #: For an infinite walk: index of the state that follows the last.
    loop: Optional[int] = None

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[Mapping[str, Value]]:
        return iter(self.states)

    def rows(self) -> list[dict[str, object]]:
        """The walk as rows: the values of each state, and the ``step`` that leaves it.

        >>> Walk("path", ({"x": 0}, {"x": 1}), (Step("tick"),)).rows()
        [{'x': 0, 'step': 'tick'}, {'x': 1, 'step': None}]
        """
        labels: list[Optional[str]] = [step.label for step in self.steps]
        labels += [None] * (len(self.states) - len(labels))
        return [{**state, "step": label} for state, label in zip(self.states, labels)]

    def _repr_html_(self) -> str:
        names = list(self.states[0]) if self.states else []
        rows = []
        before: Mapping[str, Value] = {}
        for index, row in enumerate(self.rows()):
            cells = [str(index)]
            for name in names:
                text = _html.escaped(row.get(name, ""))
                changed = index > 0 and before.get(name) != row.get(name)
                cells.append(f"<b>{text}</b>" if changed else text)
            cells.append(_html.escaped(row["step"] or ""))
            rows.append(cells)
            before = self.states[index]
        loop = "" if self.loop is None else f"<p>then state {self.loop} again, forever</p>"
        return f"<p>{_html.escaped(self.name)}</p>" + _html.table(["", *names, "step"], rows) + loop


class Evidence:
    """Evidence for a verdict, which has been replayed on the model. ``str`` shows it as the command line does.

    >>> import masque_mc
    >>> model = masque_mc.loads("agent a is loop p := any endloop property always: AG p;", language="bdi")
    >>> evidence = model.check()["always"].evidence
    >>> evidence.to_html().startswith("<!DOCTYPE html>")
    True
    >>> len(evidence.walks) >= 1
    True
    """

    def __init__(self, source: ReportSource, index: int, data: Mapping[str, Any]) -> None:
        self._source = source
        self._index = index
        #: The evidence as data, as in the JSON report (``docs/evidence.md``).
        self.data: Mapping[str, Any] = data
        self._walks: Optional[tuple[Walk, ...]] = None

    @property
    def walks(self) -> tuple[Walk, ...]:
        """The walks of the evidence: counterexamples, witnesses and plays.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", language="aut", properties=["AG <a>tt"])
        >>> [len(walk) for walk in model.check()[0].evidence.walks]
        [2]
        """
        if self._walks is None:
            parts = self._source.walks(self._index)
            self._walks = tuple(
                Walk(
                    name,
                    tuple(values_of(state) for state in states),
                    tuple(Step(label, dict(actions)) for label, actions in steps),
                    loop,
                )
                for name, states, steps, loop in parts
            )
        return self._walks

    def to_html(self, path: Optional[Union[str, os.PathLike[str]]] = None) -> str:
        """The evidence as a page for a browser, without external resources; also written to ``path`` if given.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", language="aut", properties=["AG <a>tt"])
        >>> "<svg" in model.check()[0].evidence.to_html()
        True
        """
        page = self._source.html(self._index)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def to_dot(self) -> str:
        """The evidence as a graph for Graphviz.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", language="aut", properties=["AG <a>tt"])
        >>> model.check()[0].evidence.to_dot().startswith("digraph")
        True
        """
        return self._source.dot(self._index)

    def to_frame(self) -> Any:
        """All walks as one pandas frame: a row per state, with the columns ``walk`` and ``step``. Needs pandas.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", language="aut", properties=["AG <a>tt"])
        >>> list(model.check()[0].evidence.to_frame()["step"])[:1]
        ['a']
        """
        pandas: Any = importlib.import_module("pandas")

        rows = [
            {"walk": number, **row} for number, walk in enumerate(self.walks) for row in walk.rows()
        ]
        return pandas.DataFrame(rows, columns=_columns(rows))

    def __str__(self) -> str:
        return self._source.evidence_texts()[self._index] or ""

    def __repr__(self) -> str:
        return f"<Evidence: {counted(len(self.walks), 'walk')}>"

    def _repr_html_(self) -> str:
        return _html.frame(self.to_html())


def _columns(rows: list[dict[str, object]]) -> list[str]:
    """The names of all columns, in the order of their first use."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return list(names)
