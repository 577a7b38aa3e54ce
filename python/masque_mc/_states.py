"""States of a model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from . import _html
from ._errors import CheckError
from ._evidence import Step
from ._formula import FormulaLike, formula_text
from ._values import Value, values_of

if TYPE_CHECKING:
    from ._model import Model, Questions

__all__ = ["State", "States"]

#: Number of states whose values are fetched at a time.
PAGE = 500
#: Maximum number of states that are found at a time. Each time finds all states before them again, so it doubles.
MAX_FOUND = 1 << 16
#: Default of the maximum number of states that are listed.
MAX_LISTED = 10_000
#: Maximum number of states that a model knows.
MAX_KNOWN = 1 << 20


class State(Mapping[str, Value]):
    """A state of a model: a mapping from the names of variables to their values.

    >>> from masque_mc import System
    >>> system = System()
    >>> coin = system.agent("Table").enum("coin", ["heads", "tails"])
    >>> state = system.build().initial_states()[0]
    >>> dict(state), state.satisfies(coin == "heads")
    ({'Table.coin': 'heads'}, True)
    """

    __slots__ = ("_model", "_native", "_number", "_values")

    def __init__(self, model: Model, native: Questions, number: int, values: Mapping[str, Value]) -> None:
        self._model = model
        self._native = native
        self._number = number
        self._values = values

    @staticmethod
    def _of(model: Model, native: Questions, numbers: list[int]) -> list[State]:
        """The states with numbers."""
        found = native.values(numbers)
        return [State(model, native, number, values_of(named)) for number, named in zip(numbers, found)]

    def _number_in(self, model: Model) -> int:
        """The number of the state in a model. After a fork, states have new numbers, and are found by their values."""
        if self._model is not model:
            raise ValueError("the state belongs to another model")
        if model._questions() is not self._native:
            found = model.find(dict(self._values))
            if found is None:
                raise CheckError("the state is unknown in this process")
            self._native, self._number = found._native, found._number
        return self._number

    def satisfies(self, formula: FormulaLike) -> Optional[bool]:
        """Whether a formula is true here; ``None`` if that is unknown, or the formula has no meaning here.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", "aut")
        >>> [state.satisfies("<a>tt") for state in model.states()]
        [True, False]
        """
        number = self._number_in(self._model)
        return self._native.is_true(formula_text(formula), number)

    def successors(self, limit: int = MAX_LISTED) -> list[tuple[Step, State]]:
        """The steps from here, at most ``limit``: each with the state after it.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", "aut")
        >>> [(str(step), dict(after)) for step, after in model.initial_states()[0].successors()]
        [('a', {'state': 1})]
        """
        number = self._number_in(self._model)
        steps, _, _ = self._native.steps(number, 0, limit)
        states = State._of(self._model, self._native, [to for _, _, to in steps])
        return [(Step(label, dict(actions)), state) for (label, actions, _), state in zip(steps, states)]

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, State):
            return self._model is other._model and self._values == other._values
        return NotImplemented

    def __repr__(self) -> str:
        return f"<State {', '.join(f'{name} = {value}' for name, value in self._values.items())}>"

    def _repr_html_(self) -> str:
        rows = [[_html.escaped(name), _html.escaped(value)] for name, value in self._values.items()]
        return _html.table(["variable", "value"], rows)


class States:
    """The reachable states of a model, or those that satisfy a formula.

    Iterating finds them as they are needed, at most the ``limit`` of :meth:`Model.states`; ``count`` is exact for all. With
    fairness constraints, only states on a fair path count.

    >>> from masque_mc import System
    >>> system = System()
    >>> coin = system.agent("Table").enum("coin", ["heads", "tails"])
    >>> states = system.build().states()
    >>> len(states), states.where(coin == "tails").count
    (2, 1)
    """

    def __init__(self, model: Model, formula: Optional[str], limit: Optional[int]) -> None:
        self._model = model
        self._formula = formula
        self._limit = limit

    def where(self, formula: FormulaLike) -> States:
        """The states of this selection at which a formula is true as well.

        >>> import masque_mc
        >>> states = masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", "aut").states()
        >>> [dict(state) for state in states.where("deadlock")]
        [{'state': 1}]
        """
        text = formula_text(formula)
        if self._formula is None:
            return States(self._model, text, self._limit)
        joint = "and" if self._model.language == "ispl" else "&&"
        return States(self._model, f"({self._formula}) {joint} ({text})", self._limit)

    @property
    def count(self) -> int:
        """The exact number of states. Raises :class:`CheckError` if it is not known, because a model that is not ISPL has
        more states than a search lists.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", "aut").states().count
        2
        """
        _, _, count = self._model._questions().listed(self._formula, 0, 0)
        if count is None:
            raise CheckError("the number of states is not known; `check(count_states=True).states` counts larger protocols")
        return int(count)

    def first(self, limit: int) -> list[State]:
        """The first states, at most ``limit``.

        >>> import masque_mc
        >>> len(masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", "aut").states().first(1))
        1
        """
        native = self._model._questions()
        numbers, _, _ = native.listed(self._formula, 0, max(0, min(limit, MAX_KNOWN)))
        return State._of(self._model, native, numbers)

    def to_frame(self, limit: int = MAX_LISTED) -> Any:
        """The first states as a pandas frame, one row for each. Needs pandas.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 1, 2)\\n(0, a, 1)\\n", "aut").states().to_frame().shape
        (2, 1)
        """
        pandas: Any = importlib.import_module("pandas")

        return pandas.DataFrame([dict(state) for state in self.first(limit)])

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[State]:
        start, most = 0, MAX_KNOWN if self._limit is None else min(self._limit, MAX_KNOWN)
        while start < most:
            end = min(start + max(PAGE, min(start, MAX_FOUND)), most)
            native = self._model._questions()
            numbers, has_more, _ = native.listed(self._formula, start, end)
            for first in range(0, len(numbers), PAGE):
                yield from State._of(self._model, native, numbers[first : first + PAGE])
            if not has_more or not numbers:
                return
            start = end
        if self._limit is None or self._limit > most:
            raise CheckError(f"there are more than {most} states, which is the maximum number that can be listed")

    def __repr__(self) -> str:
        which = "" if self._formula is None else f" where {self._formula}"
        return f"<States of {self._model.name}{which}>"
