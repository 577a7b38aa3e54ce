"""Results of checks."""

from __future__ import annotations

import importlib
import json
from typing import Any, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _html
from ._errors import Diagnostic, Place, PropertyFailed
from ._evidence import Evidence, ReportSource

__all__ = ["Result", "Results"]


class Result:
    """The result of one property.

    >>> import masque_mc
    >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", language="aut", properties=["EF deadlock"])
    >>> result = model.check()[0]
    >>> result.holds, result.verdict, result.formula
    (True, 'holds', 'EF deadlock')
    """

    def __init__(self, source: ReportSource, index: int, data: Mapping[str, Any]) -> None:
        #: Name of the property, or its number from 1.
        self.name: str = str(data["name"])
        #: The formula as written.
        self.formula: str = str(data["text"])
        #: ``holds``, ``fails`` or ``unknown``.
        self.verdict: str = str(data["verdict"])
        #: Whether the property holds; ``None`` if that is unknown.
        self.holds: Optional[bool] = {"holds": True, "fails": False}.get(self.verdict)
        #: The reason for ``unknown``: ``timeout``, ``memory``, ``interrupted``, ..
        self.reason: Optional[str] = data["reason"]
        #: Remarks, for example that the property holds vacuously.
        self.remarks: list[str] = list(data.get("remarks", []))
        #: All data about the property in the JSON report.
        self.data: Mapping[str, Any] = data
        shown = data["evidence"]
        #: A counterexample or a witness, if there is one.
        self.evidence: Optional[Evidence] = None if shown is None else Evidence(source, index, shown)

    def __repr__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        return f"<Result {self.name}: {self.verdict}{why}>"

    def _repr_html_(self) -> str:
        head = f"<p>{_html.escaped(self.name)} {_html.verdict(self.verdict)}: <code>{_html.escaped(self.formula)}</code></p>"
        return head + (self.evidence._repr_html_() if self.evidence else "")


class Results(Sequence[Result]):
    """The results of a check: by name or position, in the order of the text.

    >>> import masque_mc
    >>> text = "agent a is loop p := any endloop property x initially: EF p; property y: AG p;"
    >>> results = masque_mc.loads(text, language="bdi").check()
    >>> [(result.name, result.holds) for result in results]
    [('x', True), ('y', False)]
    >>> results["y"].verdict, results.all_hold
    ('fails', False)
    """

    def __init__(self, source: ReportSource) -> None:
        self._source = source
        run: Mapping[str, Any] = json.loads(source.json())["runs"][0]
        #: The data of the JSON report (schema ``masque.check/1``, one run).
        self.data: Mapping[str, Any] = run
        self._all = [Result(source, index, one) for index, one in enumerate(run["properties"])]
        #: The exact number of reachable states, if they were counted.
        self.states: Optional[int] = None if run["states"] is None else int(run["states"])

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Deadlocks, overflows, warnings and notes.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", language="aut").check().diagnostics
        []
        """
        found = []
        for one in self.data["diagnostics"]:
            place = None
            for span in one["spans"]:
                if span["primary"]:
                    place = Place(span["file"], span["start"]["line"], span["start"]["column"])
            found.append(Diagnostic(one["severity"], one["code"], one["message"], one.get("help"), place))
        return found

    @property
    def all_hold(self) -> bool:
        """Whether every property holds.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 0, 1)\\n", language="aut", properties=["tt"]).check().all_hold
        True
        """
        return all(result.holds for result in self._all)

    def raise_for_failures(self) -> "Results":
        """Raises :class:`PropertyFailed` unless every property holds; returns the results.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 0, 1)\\n", language="aut", properties=["tt"])
        >>> len(model.check().raise_for_failures())
        1
        """
        failures = [result for result in self._all if not result.holds]
        if failures:
            raise PropertyFailed(failures)
        return self

    def to_json(self) -> str:
        """The report ``masque.check/1``, as ``masque check --format json`` prints it.

        >>> import json, masque_mc
        >>> report = masque_mc.loads("des (0, 0, 1)\\n", language="aut").check().to_json()
        >>> json.loads(report)["schema"]
        'masque.check/1'
        """
        return self._source.json()

    def to_html(self) -> str:
        """All evidence as a page for a browser.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 0, 1)\\n", language="aut", properties=["ff"])
        >>> "</html>" in model.check().to_html()
        True
        """
        return self._source.html(None)

    def to_frame(self) -> Any:
        """The results as a pandas frame. Needs pandas.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 0, 1)\\n", language="aut", properties=["tt"])
        >>> list(model.check().to_frame().columns)
        ['name', 'formula', 'verdict', 'reason']
        """
        pandas: Any = importlib.import_module("pandas")

        columns = ["name", "formula", "verdict", "reason"]
        rows = [[getattr(result, column) for column in columns] for result in self._all]
        return pandas.DataFrame(rows, columns=columns)

    @overload
    def __getitem__(self, key: Union[int, str]) -> Result: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Result]: ...
    def __getitem__(self, key: Union[int, str, slice]) -> Union[Result, Sequence[Result]]:
        if isinstance(key, str):
            for result in self._all:
                if result.name == key:
                    return result
            names = ", ".join(result.name for result in self._all)
            raise KeyError(f"there is no property `{key}`; the properties are {names or 'none'}")
        return self._all[key]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._all)

    def __contains__(self, key: object) -> bool:
        return key in self._all or any(result.name == key for result in self._all)

    def __str__(self) -> str:
        return self._source.text()

    def __repr__(self) -> str:
        return f"<Results: {', '.join(f'{one.name} {one.verdict}' for one in self._all)}>"

    def _repr_html_(self) -> str:
        rows = [
            [_html.escaped(one.name), f"<code>{_html.escaped(one.formula)}</code>", _html.verdict(one.verdict),
             _html.escaped(one.reason or "; ".join(one.remarks))]
            for one in self._all
        ]
        states = "" if self.states is None else f"<p>{self.states} reachable states</p>"
        return _html.table(["property", "formula", "verdict", ""], rows) + states
