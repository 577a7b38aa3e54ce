"""Parameter studies: one model with several values of its parameters."""

from __future__ import annotations

import importlib
import itertools
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _html
from ._model import Memory, Model, PathLike, load
from ._results import Results

__all__ = ["Bench", "BenchRow", "bench"]


@dataclass(frozen=True)
class BenchRow:
    """The check of a model with certain values of its parameters.

    >>> BenchRow({"N": 2}, 7, 0.01, {"safe": "holds"}).states
    7
    """

    #: The values of the parameters.
    parameters: Mapping[str, int]
    #: Number of reachable states, if they were counted.
    states: Optional[int]
    #: Duration of loading and checking, in seconds.
    seconds: float
    #: Verdicts by the names of the properties.
    verdicts: Mapping[str, str]

    @property
    def is_decided(self) -> bool:
        """Whether no verdict is unknown.

        >>> BenchRow({"N": 2}, None, 1.0, {"safe": "unknown"}).is_decided
        False
        """
        return "unknown" not in self.verdicts.values()


class Bench(Sequence[BenchRow]):
    """The rows of a parameter study.

    >>> rows = Bench([BenchRow({"N": 2}, 7, 0.01, {"safe": "holds"})])
    >>> rows[0].parameters, rows.to_rows()[0]["safe"]
    ({'N': 2}, 'holds')
    """

    def __init__(self, rows: Iterable[BenchRow]) -> None:
        self._rows = list(rows)

    def to_rows(self) -> list[dict[str, object]]:
        """Rows as dictionaries: parameters, ``states``, ``seconds``, and the verdict of each property.

        >>> Bench([BenchRow({"N": 2}, 7, 0.01, {})]).to_rows()
        [{'N': 2, 'states': 7, 'seconds': 0.01}]
        """
        return [
            {**row.parameters, "states": row.states, "seconds": row.seconds, **row.verdicts} for row in self._rows
        ]

    def to_frame(self) -> Any:
        """The rows as a pandas frame. Needs pandas.

        >>> Bench([BenchRow({"N": 2}, 7, 0.01, {})]).to_frame().shape
        (1, 3)
        """
        pandas: Any = importlib.import_module("pandas")

        return pandas.DataFrame(self.to_rows())

    def plot(self, x: Optional[str] = None, y: str = "seconds", *, ax: Any = None) -> Any:
        """Draws ``seconds`` or ``states`` over a parameter, on a logarithmic scale. Needs matplotlib. Returns the axes.

        >>> import matplotlib
        >>> matplotlib.use("Agg")
        >>> Bench([BenchRow({"N": 2}, 7, 0.01, {}), BenchRow({"N": 3}, 20, 0.02, {})]).plot().get_xlabel()
        'N'
        """
        if y not in ("seconds", "states"):
            raise ValueError(f"y is `seconds` or `states`, not `{y}`")
        if ax is None:
            pyplot: Any = importlib.import_module("matplotlib.pyplot")

            _, ax = pyplot.subplots()
        if x is None:
            if not self._rows or not self._rows[0].parameters:
                raise ValueError("there is no parameter to draw over")
            x = next(iter(self._rows[0].parameters))
        drawn = [row for row in self._rows if getattr(row, y) is not None and x in row.parameters]
        ax.plot([row.parameters[x] for row in drawn], [getattr(row, y) for row in drawn], marker="o")
        ax.set_yscale("log")
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        return ax

    @overload
    def __getitem__(self, key: int) -> BenchRow: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[BenchRow]: ...
    def __getitem__(self, key: Union[int, slice]) -> Union[BenchRow, Sequence[BenchRow]]:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[BenchRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"<Bench: {len(self._rows)} rows>"

    def _repr_html_(self) -> str:
        rows = self.to_rows()
        names = list(dict.fromkeys(name for row in rows for name in row))
        cells = [[_html.escaped(_shown(row.get(name, ""))) for name in names] for row in rows]
        return _html.table(names, cells)


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def bench(
    model: Union[PathLike, Callable[..., Model]],
    *,
    timeout: Optional[float] = None,
    memory: Optional[Memory] = None,
    engine: Optional[str] = None,
    only: Union[None, str, Iterable[str]] = None,
    **parameters: Union[int, Iterable[int]],
) -> Bench:
    """Checks a model with all combinations of the values of its parameters, for example ``bench(path, N=range(2, 10))``.

    ``model`` is an ISPL file, or a function that returns a model when it is called with the parameters. The limits are
    those of each check.

    >>> import masque_mc
    >>> def lamps(N):
    ...     system = masque_mc.System()
    ...     for number in range(N):
    ...         system.agent(f"Lamp{number}").bool("on")
    ...     return system.build()
    >>> [row.states for row in masque_mc.bench(lamps, N=range(1, 4))]
    [2, 4, 8]
    """
    names = list(parameters)
    choices = [[value] if isinstance(value, int) else list(value) for value in parameters.values()]
    asked = only if only is None or isinstance(only, str) else list(only)
    rows = []
    for values in itertools.product(*choices):
        chosen = dict(zip(names, values))
        start = time.perf_counter()
        one = model(**chosen) if callable(model) else load(model, parameters=chosen)
        results: Results = one.check(only=asked, timeout=timeout, memory=memory, engine=engine, evidence="none")
        seconds = time.perf_counter() - start
        verdicts = {result.name: result.verdict for result in results}
        rows.append(BenchRow(chosen, results.states, seconds, verdicts))
    return Bench(rows)
