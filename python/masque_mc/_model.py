"""Models: loading and checking."""

from __future__ import annotations

import operator
import os
import time
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import _child, _native
from ._bdi import World
from ._errors import CheckError, Diagnostic, diagnostics_of
from ._evidence import ReportSource, Step
from ._formula import FormulaLike, agent_name, formula_text
from ._results import Results
from ._states import MAX_LISTED, State, States
from ._values import Value, text_of

__all__ = ["Model", "load", "loads"]

#: Seconds after which a check in this process gives up and a child process begins it again.
SMALL_SECONDS = 5.0

#: The languages by the extensions of their files.
LANGUAGES = ("ispl", "bdi", "lcc", "aut")

PathLike = Union[str, os.PathLike[str]]
Progress = Callable[[int, int, Optional[int]], object]
Memory = Union[int, str]
#: What answers questions about states, in this process or in another.
Questions = Union[_native.States, _child.ChildStates]

_UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _bytes(memory: Optional[Memory]) -> Optional[int]:
    """A number of bytes, given as a number or as a text such as ``500M``."""
    if memory is None:
        return None
    if isinstance(memory, str):
        unit = _UNITS.get(memory[-1:].upper())
        if unit is None or not memory[:-1].strip().isdigit():
            raise ValueError(f"`{memory}` is not a size: write a number and a unit, such as 500M or 2G")
        memory = int(memory[:-1]) * unit
    if memory < 0:
        raise ValueError("a memory limit is not negative")
    return min(memory, (1 << 63) - 1)


def _seconds(timeout: Optional[float]) -> Optional[float]:
    if timeout is None:
        return None
    if not isinstance(timeout, (int, float)):
        raise TypeError(f"a time limit is a number of seconds, not {type(timeout).__name__}")
    if not timeout >= 0:
        raise ValueError("a time limit is a number of seconds that is not negative")
    return float(timeout)


def _names(names: Union[None, str, Iterable[str]]) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _integer(name: str, value: object) -> int:
    """The value of a parameter. Numbers of other libraries count, as long as they are whole."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"the parameter `{name}` is a whole number, not {value!r}") from None


def _request(
    parameters: Mapping[str, int],
    options: Optional[Mapping[str, object]],
    properties: Iterable[FormulaLike],
    property_files: Iterable[PathLike],
) -> _native.Request:
    return {
        "parameters": [(name, _integer(name, value)) for name, value in parameters.items()],
        "options": [(name, str(value)) for name, value in (options or {}).items()],
        "properties": [formula_text(formula) for formula in properties],
        "property_files": [os.fspath(path) for path in property_files],
    }


def load(
    path: Union[PathLike, Sequence[PathLike]],
    *,
    options: Optional[Mapping[str, object]] = None,
    properties: Iterable[FormulaLike] = (),
    property_files: Iterable[PathLike] = (),
    parameters: Optional[Mapping[str, int]] = None,
    **more_parameters: int,
) -> Model:
    """Loads a file, or the files of one protocol. Further keyword arguments give the parameters of an ISPL file their
    values, as ``parameters`` does.

    ``options`` override options of BDI and LCC files, ``properties`` are further formulas, and ``property_files`` are
    files of formulas. Raises :class:`LoadError` if there are errors.

    >>> import masque_mc, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "lamp.aut"
    >>> _ = file.write_text("des (0, 2, 2)\\n(0, press, 1)\\n(1, release, 0)\\n")
    >>> masque_mc.load(file, properties=["AG EF <press>tt"]).check().all_hold
    True
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    files = [os.fspath(one) for one in paths]
    request = _request({**(parameters or {}), **more_parameters}, options, properties, property_files)
    source = {"files": files, "text": None, "imports": [], "request": request}
    return Model(_native.load(files, request), source)


def loads(
    text: str,
    language: Optional[str] = None,
    *,
    name: Optional[str] = None,
    imports: Optional[Mapping[str, str]] = None,
    options: Optional[Mapping[str, object]] = None,
    properties: Iterable[FormulaLike] = (),
    property_files: Iterable[PathLike] = (),
    parameters: Optional[Mapping[str, int]] = None,
    **more_parameters: int,
) -> Model:
    """Loads a text in a ``language``: ``ispl``, ``bdi``, ``lcc`` or ``aut``. Without one, the words of the text decide.

    ``name`` is the name of the text in messages, and ``imports`` has texts that it may import, by name.

    >>> import masque_mc
    >>> model = masque_mc.loads("agent a is loop p := any endloop property x initially: EF p;", "bdi")
    >>> model.language, model.properties, model.agents
    ('bdi', ['x'], ['a'])
    """
    if language is not None and language not in LANGUAGES:
        raise ValueError(f"there is no language `{language}`; use {', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}")
    if name is None:
        name = f"model.{language}" if language else "model"
    elif language and not name.endswith(f".{language}"):
        name = f"{name}.{language}"
    request = _request({**(parameters or {}), **more_parameters}, options, properties, property_files)
    others = list((imports or {}).items())
    source = {"files": None, "text": (name, text), "imports": others, "request": request}
    return Model(_native.loads(name, text, others, request), source)


class Model:
    """A model in any language of Masque, from :func:`load`, :func:`loads` or :meth:`System.build`.

    A model may be used by several threads at the same time, and after a fork.

    >>> import masque_mc
    >>> model = masque_mc.loads("des (0, 2, 2)\\n(0, press, 1)\\n(1, release, 0)\\n", "aut", properties=["AG EF <press>tt"])
    >>> model.check()[0].holds
    True
    """

    def __init__(self, native: _native.Model, source: Mapping[str, Any]) -> None:
        self._native = native
        self._source = source
        self._folder = os.getcwd()
        #: What answers questions about states, by the process that opened it: the threads of a parent do not exist in a fork.
        self._states: dict[int, Questions] = {}
        self._question_limits: tuple[Optional[float], Optional[int]] = (None, None)

    @property
    def name(self) -> str:
        """The name of the first file, and the number of further files.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 0, 1)\\n", name="one.aut").name
        'one.aut'
        """
        return self._native.name()

    @property
    def language(self) -> str:
        """The language: ``ispl``, ``bdi``, ``lcc`` or ``aut``.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 0, 1)\\n", "aut").language
        'aut'
        """
        return self._native.language()

    @property
    def properties(self) -> list[str]:
        """The names of the properties, in the order of the text.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 0, 1)\\n", "aut", properties=["tt", "ff"]).properties
        ['1', '2']
        """
        return self._native.properties()

    @property
    def agents(self) -> list[str]:
        """The names of the agents; none for a transition system.

        >>> import masque_mc
        >>> masque_mc.loads("agent a is loop p := any endloop", "bdi").agents
        ['a']
        """
        return self._native.agents()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and notes about the texts.

        >>> import masque_mc
        >>> masque_mc.loads("des (0, 0, 1)\\n", "aut").diagnostics
        []
        """
        return diagnostics_of(self._native.messages())

    def check(
        self,
        *,
        only: Union[None, str, Iterable[str]] = None,
        skip: Union[None, str, Iterable[str]] = None,
        timeout: Optional[float] = None,
        memory: Optional[Memory] = None,
        engine: Optional[str] = None,
        evidence: str = "fails",
        count_states: bool = False,
        progress: Optional[Progress] = None,
    ) -> Results:
        """Decides the properties.

        ``only`` and ``skip`` select properties by name, position or pattern. ``timeout`` is in seconds and ``memory`` in
        bytes, or a text such as ``"2G"``; what is not decided within them is unknown. ``engine`` is ``auto``,
        ``explicit`` or ``symbolic`` and changes no verdict. ``evidence`` is ``fails`` (counterexamples), ``all`` (also
        witnesses) or ``none``. ``count_states`` counts the states of a protocol or a transition system, too; those of an ISPL
        model are always counted. ``progress(decided, total, states)`` is called many times a second; its exception ends the
        check and is raised here.

        Small models are checked in this process, others in a child process.

        >>> import masque_mc
        >>> text = "agent a is loop p := any endloop property x initially: EF p; property y: AG p;"
        >>> masque_mc.loads(text, "bdi").check(only="x", timeout=60, memory="1G").all_hold
        True
        """
        seconds, limit = _seconds(timeout), _bytes(memory)
        shown = {"fails": "fails", "all": "all", "none": "none"}.get(evidence)
        if shown is None:
            raise ValueError(f"evidence is `fails`, `all` or `none`, not `{evidence}`")
        what: _native.Asked = {
            "only": _names(only),
            "skip": _names(skip),
            "show": shown,
            "engine": engine,
            "count": bool(count_states),
        }
        start = time.monotonic()
        if self._native.is_small():
            here = SMALL_SECONDS if seconds is None else min(seconds, SMALL_SECONDS)
            report = self._native.check(what, here, limit, progress)
            is_cut = time.monotonic() - start >= here
            if not is_cut or (seconds is not None and seconds <= here):
                return Results(report)
        left = None if seconds is None else max(0.0, seconds - (time.monotonic() - start))
        asked = {"what": what, "timeout": left, "memory": limit}
        return Results(self._check_in_child(asked, left, progress))

    def _check_in_child(
        self, asked: Mapping[str, Any], timeout: Optional[float], progress: Optional[Progress]
    ) -> ReportSource:
        task = self._task({"check": asked, "has_progress": progress is not None})
        return _child.check(task, self._folder, timeout, progress)

    def _task(self, work: Mapping[str, Any]) -> dict[str, Any]:
        """The model for a child process, which loads it again, and what it has to do."""
        return {**self._source, "digest": _child.digest(self._native.texts()), **work}

    def limit_questions(self, *, timeout: Optional[float] = None, memory: Optional[Memory] = None) -> None:
        """Sets limits for questions about states: seconds for each, and memory for all. Beyond them, a question is a
        :class:`CheckError`. Without this call there are no limits.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 0, 1)\\n", "aut")
        >>> model.limit_questions(timeout=10, memory="1G")
        >>> model.states().count
        1
        """
        self._question_limits = (_seconds(timeout), _bytes(memory))
        self._states = {}

    def _questions(self) -> Questions:
        """What answers questions about states: a thread for a small model, otherwise a child process. If several threads
        open one at the same time, the first is used."""
        process = os.getpid()
        found = self._states.get(process)
        if found is None or (isinstance(found, _child.ChildStates) and found.is_ended):
            timeout, memory = self._question_limits
            opened: Questions
            if self._native.is_small():
                opened = self._native.states(timeout, memory)
            else:
                task = self._task({"questions": {"timeout": timeout, "memory": memory}})
                opened = _child.ChildStates(task, self._folder, timeout)
            if found is not None and self._states.get(process) is found:
                del self._states[process]
            found = self._states.setdefault(process, opened)
        return found

    def states(self, *, limit: Optional[int] = MAX_LISTED) -> States:
        """The reachable states: iterate, count, or select with ``where``. Iterating finds states as they are needed, at most
        ``limit``; ``None`` is no limit but that of a model, which knows about a million states.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 2, 2)\\n(0, press, 1)\\n(1, release, 0)\\n", "aut")
        >>> states = model.states()
        >>> states.count, [state["state"] for state in states]
        (2, [0, 1])
        """
        return States(self, None, limit)

    def initial_states(self, limit: int = 10_000) -> list[State]:
        """The initial states, at most ``limit``.

        >>> import masque_mc
        >>> [state["state"] for state in masque_mc.loads("des (0, 0, 1)\\n", "aut").initial_states()]
        [0]
        """
        native = self._questions()
        numbers, _, _ = native.initial(0, limit)
        return State._of(self, native, numbers)

    def successors(self, state: State, limit: int = 10_000) -> list[tuple[Step, State]]:
        """The steps from a state, at most ``limit``: each with the state after it.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 2, 2)\\n(0, press, 1)\\n(1, release, 0)\\n", "aut")
        >>> [(step.label, after["state"]) for step, after in model.successors(model.initial_states()[0])]
        [('press', 1)]
        """
        state._number_in(self)
        return state.successors(limit)

    def holds_at(self, formula: FormulaLike, state: State) -> Optional[bool]:
        """Whether a formula is true at a state; ``None`` if that is unknown or has no meaning there.

        >>> import masque_mc
        >>> model = masque_mc.loads("des (0, 2, 2)\\n(0, press, 1)\\n(1, release, 0)\\n", "aut")
        >>> model.holds_at("<press>tt", model.initial_states()[0])
        True
        """
        state._number_in(self)
        return state.satisfies(formula)

    def knows(self, agent: object, formula: FormulaLike, state: State) -> Optional[bool]:
        """Whether an agent of an ISPL model knows a formula in a state.

        >>> from masque_mc import System
        >>> system = System()
        >>> coin = system.environment().enum("coin", ["heads", "tails"])
        >>> alice = system.agent("Alice")
        >>> model = system.build()
        >>> model.knows(alice, coin == "heads", model.initial_states()[0])
        False
        """
        state._number_in(self)
        return state.satisfies(f"K({agent_name(agent)}, {formula_text(formula)})")

    def indistinguishable(self, agents: object, state: State, limit: int = 10_000) -> list[State]:
        """The reachable states that an agent cannot distinguish from a state of an ISPL model; for a list of agents,
        those that they cannot distinguish when they combine what they see.

        >>> from masque_mc import System
        >>> system = System()
        >>> coin = system.environment().enum("coin", ["heads", "tails"])
        >>> alice = system.agent("Alice")
        >>> model = system.build()
        >>> [other["Environment.coin"] for other in model.indistinguishable("Alice", model.initial_states()[0])]
        ['heads', 'tails']
        """
        group = list(agents) if isinstance(agents, (list, tuple, set, frozenset)) else [agents]
        names = [agent_name(agent) for agent in group]
        number = state._number_in(self)
        native = state._native
        numbers, _, _ = native.indistinguishable(names, number, 0, limit)
        return State._of(self, native, numbers)

    def find(self, values: Mapping[str, Value]) -> Optional[State]:
        """The state of an ISPL model with these values, or the listed state of BDI worlds; ``None`` if there is none.
        A state of an ISPL model need not be reachable.

        >>> from masque_mc import System
        >>> system = System()
        >>> coin = system.agent("Table").enum("coin", ["heads", "tails"])
        >>> system.build().find({"Table.coin": "tails"})["Table.coin"]
        'tails'
        """
        texts = {name: text_of(value) for name, value in values.items()}
        native = self._questions()
        number = native.find(texts)
        return None if number is None else State._of(self, native, [number])[0]

    def worlds(self, *, timeout: Optional[float] = None, memory: Optional[Memory] = None) -> list[World]:
        """The worlds of a BDI model: those of the agents, and those of their beliefs, desires and intentions.

        >>> import masque_mc
        >>> [world.path for world in masque_mc.loads("agent a is loop p := any endloop", "bdi").worlds()]
        ['a']
        """
        if self.language != "bdi":
            raise CheckError(f"only BDI models have worlds; this model is {self.language}")
        worlds = self.check(evidence="none", timeout=timeout, memory=memory).data["worlds"]
        if worlds is None:
            raise CheckError("the worlds could not be built within the limits")
        return [World._of(path, data) for path, data in worlds.items()]

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self.language}, {len(self.properties)} properties>"
