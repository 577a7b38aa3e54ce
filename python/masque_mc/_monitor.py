"""Monitors: what agents do is compared with a model, event by event."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Optional, Union

from . import _html, _native
from ._errors import CheckError, MasqueError
from ._model import Memory, Model, PathLike, _bytes, _seconds, load, loads
from ._values import counted

if TYPE_CHECKING:
    from ._native import _Status

__all__ = ["Closed", "Judgement", "Monitor", "MonitorSummary", "Obligation", "Violated"]

#: Number of records that are judged in one call.
BATCH = 200

#: A record: a mapping, or a JSON object as text.
Record = Union[Mapping[str, object], str]


class Violated(MasqueError, AssertionError):
    """Raised by :meth:`Judgement.raise_for_violation`; ``judgement`` says what was possible instead.

    >>> monitor = Monitor.of_text("a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). "
    ...                           "agent a(hen, h). agent a(farmer, f).")
    >>> try:
    ...     monitor.may({"message": "egg"}).raise_for_violation()
    ... except Violated as error:
    ...     error.judgement.instead
    ['h -> f: cluck']
    """

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement
        super().__init__(str(judgement))


@dataclass(frozen=True)
class Obligation:
    """An obligation of a protocol, with the values of its variables.

    >>> str(Obligation("obligation_1", "rex owes log(merge)", {}, "owed"))
    'rex owes log(merge) (obligation_1): owed'
    """

    #: Name of the obligation.
    name: str
    #: Who owes what to whom.
    owes: str
    #: Values of the variables that the triggering event bound.
    bindings: Mapping[str, str]
    #: ``owed``, ``perhaps_owed``, ``met``, ``discharged`` or ``never_due``; at the end ``open`` or ``perhaps_open``.
    status: str

    @staticmethod
    def _of(data: Mapping[str, Any]) -> Obligation:
        return Obligation(data["obligation"], data["owes"], dict(data["bindings"]), data["status"])

    def __str__(self) -> str:
        return f"{self.owes} ({self.name}): {self.status}"


@dataclass(frozen=True)
class Closed:
    """A session that is closed: why, and what is left at its end.

    >>> monitor = Monitor.of_text("a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). "
    ...                           "agent a(hen, h). agent a(farmer, f). property fed : <-* . in(cluck)>tt ;")
    >>> closed = monitor.end()
    >>> closed is None  # no record has opened the session
    True
    >>> _ = monitor.observe({"message": "cluck"})
    >>> monitor.end().goals
    {'fed': 'certain'}
    """

    #: Key of the session.
    session: Optional[str]
    #: ``over``: no further step is possible; ``ended``: by a record or a call; ``violated``; ``log_end``; ``idle``;
    #: ``too_many`` sessions were open; ``stopped``: a limit was reached.
    reason: str
    #: Number of events.
    events: int
    #: Obligations that are ``open`` or ``perhaps_open``.
    obligations: tuple[Obligation, ...]
    #: Goals that were not reached for sure, with their last status.
    goals: Mapping[str, str]
    #: Why the end is not known.
    unknown: Optional[str]
    #: All data in the result ``masque.monitor/1``.
    data: Mapping[str, Any] = field(repr=False, compare=False)
    _text: str = field(repr=False, compare=False)

    @staticmethod
    def _of(data: Mapping[str, Any], text: str) -> Closed:
        return Closed(
            data["session"],
            data["reason"],
            data["events"],
            tuple(Obligation._of(one) for one in data["obligations"]),
            {one["goal"]: one["status"] for one in data["goals"]},
            data["unknown"],
            data,
            text,
        )

    def __str__(self) -> str:
        name = "session" if self.session is None else f"session {self.session}"
        return self._text or f"{name}: {self.reason}"


class Judgement:
    """The judgement of an event. ``str`` shows it as ``masque monitor -v`` does.

    >>> monitor = Monitor.of_text("a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). "
    ...                           "agent a(hen, h). agent a(farmer, f).")
    >>> judgement = monitor.observe({"from": "h", "message": "cluck"})
    >>> judgement.possible, judgement.verdict, judgement.closed
    (True, 'possible', None)
    """

    def __init__(self, data: Mapping[str, Any], text: str) -> None:
        #: ``possible``; ``violated``: no run continues with the event; ``unknown``; ``after_end``: no step was possible any
        #: more; ``after_violation``: not judged. With ``enforce`` and a map also ``ignored``.
        self.verdict: str = data["verdict"]
        #: Whether the event is possible after those before it; ``None`` if that is unknown or was not judged.
        self.possible: Optional[bool] = {"possible": True, "ignored": True, "violated": False, "after_end": False}.get(
            self.verdict
        )
        #: Whether a monitor that enforces allows the event; ``None`` for another monitor.
        self.allowed: Optional[bool] = {"allow": True, "deny": False}.get(data.get("decision", ""))
        #: Key of the session.
        self.session: Optional[str] = data["session"]
        #: What was observed, as far as the record describes it.
        self.event: Mapping[str, Any] = data["event"]
        #: Why the verdict is unknown.
        self.reason: Optional[str] = data["reason"]
        #: For a violation: what was possible instead.
        self.instead: list[str] = list(data["instead"])
        #: For a violation: why the event was not possible.
        self.because: list[str] = [one["text"] for one in data["because"]]
        #: For a violation: the rules that forbade the event, with their places.
        self.rules: list[str] = [
            f"{rule['file']}:{rule['line']}: {rule['rule']}" for one in data["because"] for rule in one["rules"]
        ]
        #: Goals whose status changed: ``reached``, ``certain``, ``possible``, ``at_risk``, ``lost`` or ``unknown``.
        self.goals: dict[str, str] = {one["goal"]: one["status"] for one in data["goals"]}
        #: Other properties whose truth changed: ``certain``, ``possible``, ``impossible`` or ``unknown``.
        self.facts: dict[str, str] = {one["property"]: one["truth"] for one in data["facts"]}
        #: Obligations whose status changed.
        self.obligations: list[Obligation] = [Obligation._of(one) for one in data["obligations"]]
        #: Number of possible states; ``None`` if the event was not judged.
        self.states: Optional[int] = data["states"]
        #: The session, if the event closed it.
        self.closed: Optional[Closed] = None
        #: All data in the result ``masque.monitor/1``.
        self.data: Mapping[str, Any] = data
        self._text = text

    def raise_for_violation(self) -> Judgement:
        """Raises :class:`Violated` if the event is not possible or not allowed; returns the judgement.

        >>> monitor = Monitor.of_text("a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). "
        ...                           "agent a(hen, h). agent a(farmer, f).")
        >>> monitor.observe({"message": "cluck"}).raise_for_violation().possible
        True
        """
        if self.possible is False or self.allowed is False:
            raise Violated(self)
        return self

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        what = self._text.splitlines()[0].partition(": ")[2] if self._text else self.verdict
        return f"<Judgement {what}>"

    def _repr_html_(self) -> str:
        word = {"possible": "holds", "ignored": "holds", "unknown": "unknown"}.get(self.verdict, "fails")
        _, _, what = self._text.splitlines()[0].partition("  ")
        head = f"<p>{_html.verdict(word, self.verdict)}: <code>{_html.escaped(what)}</code></p>"
        items = [_html.escaped(text) for text in (*self.because, *self.rules)]
        items += [f"possible instead: <code>{_html.escaped(text)}</code>" for text in self.instead]
        items += [f"goal {_html.escaped(name)}: {_html.escaped(status)}" for name, status in self.goals.items()]
        items += [f"{_html.escaped(name)}: {_html.escaped(truth)}" for name, truth in self.facts.items()]
        items += [_html.escaped(one) for one in self.obligations]
        if self.reason:
            items.append(f"not decided: {_html.escaped(self.reason)}")
        return head + _html.bullets(items)


@dataclass(frozen=True)
class MonitorSummary:
    """The numbers of all events and sessions of a monitor.

    >>> monitor = Monitor.of_text("a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). "
    ...                           "agent a(hen, h). agent a(farmer, f).")
    >>> _ = monitor.observe({"message": "egg"})
    >>> monitor.summary.violated, monitor.summary.is_fine
    (1, False)
    """

    #: Observations.
    events: int
    #: Sessions.
    sessions: int
    #: Sessions with an event that is not possible.
    violated: int
    #: Events that were denied.
    denied: int
    #: Goals that were lost.
    lost: int
    #: Obligations that are open at the end of their sessions.
    open: int
    #: Obligations that are perhaps open.
    perhaps_open: int
    #: Events and sessions about which something is unknown.
    unknown: int
    #: Events in sessions after a violation, which were not judged.
    not_judged: int
    #: Records that match no part of the map.
    ignored: int
    #: Records that could not be used.
    bad_records: int
    #: Records that arrived too late to be put in order.
    late_records: int
    _text: str = field(repr=False, compare=False)

    @staticmethod
    def _of(data: Mapping[str, Any], text: str) -> MonitorSummary:
        names = [name for name in MonitorSummary.__dataclass_fields__ if not name.startswith("_")]
        return MonitorSummary(**{name: data[name] for name in names}, _text=text)

    @property
    def is_fine(self) -> bool:
        """Whether nothing is wrong and nothing unknown: the command line would exit with 0.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").summary.is_fine
        True
        """
        wrong = self.violated + self.denied + self.lost + self.open + self.bad_records
        return wrong + self.unknown + self.perhaps_open + self.late_records == 0

    def __str__(self) -> str:
        return self._text


class Monitor:
    """Compares what agents do with a protocol or an ISPL model while they do it: is an event possible, who owes what, and
    which goals can still be reached? It answers as ``masque monitor`` does (``docs/monitor.md``).

    A record describes an event. For a protocol it has some of the keys ``from``, ``to``, ``by``, ``message``, ``constraint``
    and ``kind``; for an ISPL model its keys are actions and variables, such as ``Lamp.Action``. ``session`` separates
    interactions that have nothing to do with each other, ``time`` is for maps that order records.

    >>> text = '''
    ... a(hen, H) :: ( egg(1) => a(farmer, f) or cluck => a(farmer, f) ).
    ... a(farmer, F) :: ( egg(_) <= a(hen, _) or cluck <= a(hen, _) ).
    ... agent a(hen, h).  agent a(farmer, f).
    ... property fed : <-* . in(egg(1))>tt ;'''
    >>> monitor = Monitor.of_text(text)
    >>> monitor.goals()
    {'fed': 'certain'}
    >>> monitor.may({"from": "h", "message": "egg(2)"}).instead
    ['h -> f: cluck', 'h -> f: egg(1)']
    >>> monitor.observe({"from": "h", "message": "cluck"}).goals
    {'fed': 'lost'}
    """

    def __init__(
        self,
        model: Union[Model, PathLike],
        *,
        observe: Union[str, Iterable[str]] = (),
        unseen: Optional[str] = None,
        viewer: Optional[object] = None,
        map: Optional[PathLike] = None,
        map_text: Optional[str] = None,
        enforce: bool = False,
        allow_unknown: bool = False,
        idle: Optional[float] = None,
        max_sessions: Optional[int] = None,
        timeout: Optional[float] = None,
        memory: Optional[Memory] = None,
    ) -> None:
        """Opens a monitor of a model, or of the model in a file.

        ``observe`` has the patterns of the steps of a protocol that have records, by default ``out(_)``: all messages that are
        sent. For ISPL models, ``unseen`` is a condition on the steps that may have no record, and ``viewer`` the agent whose
        view the records are. ``map`` is a file that says what the records of another program mean, or the name of one that
        comes with Masque, such as ``otel-genai``; ``map_text`` is the text of one.

        With ``enforce`` records are about what is *about* to happen: what is not possible is denied and not added, and the
        session goes on. What is unknown is denied, too, unless ``allow_unknown``.

        Sessions without a record for ``idle`` seconds, by the times of the records, are closed. At most ``max_sessions``
        (100 000) are open. ``timeout`` and ``memory`` limit the opening, and each record: one that needs more is unknown.
        """
        source = model if isinstance(model, Model) else load(model)
        watching: _native.Watching = {
            "observe": [observe] if isinstance(observe, str) else list(observe),
            "unseen": unseen,
            "viewer": None if viewer is None else str(getattr(viewer, "name", viewer)),
            "map": None if map is None else os.fspath(map),
            "map_text": map_text,
            "enforce": enforce,
            "allow_unknown": allow_unknown,
            "sessions": max_sessions,
            "idle": _seconds(idle),
        }
        if map is not None and map_text is not None:
            raise ValueError("a monitor has one map: give `map` or `map_text`")
        #: The model.
        self.model: Model = source
        #: Records that could not be used, each with the reason.
        self.problems: list[str] = []
        #: Sessions that were closed.
        self.closed: list[Closed] = []
        #: Events that waited for earlier records, by a map with ``order = "time"``, until the monitor was closed.
        self.waited: list[Judgement] = []
        self._process = os.getpid()
        self._made = _native.Monitor.open(source._native, watching, _seconds(timeout), _bytes(memory))

    @staticmethod
    def of_text(text: str, language: str = "lcc", **options: Any) -> Monitor:
        """Opens a monitor of a text; the options are those of :class:`Monitor`.

        >>> monitor = Monitor.of_text("a(hen, H) :: null. agent a(hen, h).")
        >>> monitor.model.agents
        ['h']
        """
        return Monitor(loads(text, language), **options)

    @property
    def _native(self) -> _native.Monitor:
        if os.getpid() != self._process:
            raise CheckError("a monitor cannot be used after a fork; open another one in this process")
        return self._made

    def observe(self, record: Record, *, session: Optional[str] = None) -> Judgement:
        """Adds an event to the log of its session, and judges it. A session with an impossible event is closed, unless the
        monitor enforces. ``session`` is the key of the session, if the record does not have it.

        Raises :class:`CheckError` if the record cannot be used, or describes several events by a map; :meth:`feed` accepts such
        records. A record that the map does not use is ``ignored``. If Ctrl-C interrupts the call, the event is not added.

        >>> text = "a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). agent a(hen, h). agent a(farmer, f)."
        >>> monitor = Monitor.of_text(text)
        >>> monitor.observe({"message": "cluck"}, session="monday").possible
        True
        >>> monitor.observe({"message": "cluck", "session": "tuesday"}).possible
        True
        >>> monitor.sessions
        ['monday', 'tuesday']
        """
        n_problems = len(self.problems)
        judgements = self._taken(self._native.observe_one(_record_text(record, session)))
        if not judgements:
            raise CheckError("; ".join(self.problems[n_problems:]))
        return judgements[0]

    def may(self, record: Record, *, session: Optional[str] = None) -> Judgement:
        """Judges an event as :meth:`observe` would, without adding it to the log.

        >>> text = "a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). agent a(hen, h). agent a(farmer, f)."
        >>> monitor = Monitor.of_text(text)
        >>> [monitor.may({"message": message}).possible for message in ("cluck", "egg", "cluck")]
        [True, False, True]
        """
        line, text = self._native.may(_record_text(record, session))
        return Judgement(json.loads(line), text)

    def feed(self, records: Union[Iterable[Record], PathLike]) -> list[Judgement]:
        """Judges many records: mappings, texts, or the lines of a file. Returns the judgements of all events; records that
        cannot be used are in ``problems``. Records are judged in batches; if Ctrl-C interrupts the call, a part of the last
        batch has been used.

        >>> text = "a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). agent a(hen, h). agent a(farmer, f)."
        >>> monitor = Monitor.of_text(text)
        >>> [one.verdict for one in monitor.feed([{"message": "cluck"}, {"message": "egg"}, "no record"])]
        ['possible', 'violated']
        >>> len(monitor.problems)
        1
        """
        if isinstance(records, os.PathLike) or (isinstance(records, str) and not records.lstrip().startswith("{")):
            with open(records, encoding="utf-8", errors="surrogateescape") as file:
                return self._fed(line for line in file if line.strip())
        if isinstance(records, str):
            return self._fed(line for line in records.splitlines() if line.strip())
        return self._fed(_record_text(record, None) for record in records)

    def _fed(self, texts: Iterable[str]) -> list[Judgement]:
        found: list[Judgement] = []
        for batch in _batches(texts):
            found += self._taken(self._native.observe(batch))
        return found

    def _taken(self, lines: Iterable[tuple[str, str]]) -> list[Judgement]:
        """The judgements among the lines of a result. Sessions that are closed, and problems, are kept."""
        judgements: list[Judgement] = []
        for line, text in lines:
            data = json.loads(line)
            if data["type"] == "event" and data["verdict"] != "bad_record":
                judgements.append(Judgement(data, text))
            elif data["type"] == "session":
                closed = Closed._of(data, text)
                self.closed.append(closed)
                if judgements and judgements[-1].session == closed.session:
                    judgements[-1].closed = closed
            elif data["type"] == "problem":
                where = "" if data["line"] is None else f"record {data['line']}: "
                self.problems.append(where + data["message"])
        return judgements

    def obligations(self, session: Optional[str] = None) -> list[Obligation]:
        """The obligations that are owed, or perhaps owed, in a session.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").obligations()
        []
        """
        _, _, owed, _, _ = self._status(session)
        return [Obligation(name, owes, dict(bindings), status) for name, owes, bindings, status in owed]

    def goals(self, session: Optional[str] = None) -> dict[str, str]:
        """The status of each goal in a session: ``reached``, ``certain``, ``possible``, ``at_risk``, ``lost`` or ``unknown``.
        Goals are properties such as ``EF f``, ``AF f`` and ``<-* . P>tt``.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h). property ends : AF final ;").goals()
        {'ends': 'certain'}
        """
        goals, _, _, _, _ = self._status(session)
        return {name: status for name, status, _ in goals}

    def facts(self, session: Optional[str] = None) -> dict[str, str]:
        """The truth of each other property in a session: ``certain``, ``possible``, ``impossible`` or ``unknown``. Steps without
        records may have happened, so it may be possible only.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h). property now : final ;").facts()
        {'now': 'possible'}
        """
        _, facts, _, _, _ = self._status(session)
        return {name: truth for name, truth, _ in facts}

    def n_states(self, session: Optional[str] = None) -> int:
        """The number of states that are possible after the records of a session.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").n_states()
        2
        """
        return self._status(session)[3]

    def _status(self, session: Optional[str]) -> _Status:
        status = self._native.status(session)
        if status is None:
            name = "the session" if session is None else f"the session `{session}`"
            raise CheckError(f"{name} is closed; what was left is in `closed`")
        return status

    @property
    def sessions(self) -> list[Optional[str]]:
        """The keys of the open sessions, the one that was used last at the end; ``None`` is the session of all records
        without a key.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").sessions
        []
        """
        return self._native.open_sessions()

    def end(self, session: Optional[str] = None) -> Optional[Closed]:
        """Ends a session, and returns what is left; ``None`` if it is not open.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").end("monday") is None
        True
        """
        found = self._native.end(session)
        if found is None:
            return None
        self._taken([found])
        return self.closed[-1]

    def close(self) -> MonitorSummary:
        """Ends the log: judges what waits for earlier records, closes all sessions, and returns the numbers. The sessions are
        in ``closed``. A monitor in a ``with`` statement is closed at its end.

        >>> text = "a(hen, H) :: cluck => a(farmer, f). a(farmer, F) :: cluck <= a(hen, _). agent a(hen, h). agent a(farmer, f)."
        >>> with Monitor.of_text(text) as monitor:
        ...     _ = monitor.observe({"message": "cluck"})
        >>> [closed.reason for closed in monitor.closed]
        ['log_end']
        """
        lines = self._native.close()
        self.waited += self._taken(lines[:-1])
        line, text = lines[-1]
        return MonitorSummary._of(json.loads(line), text)

    @property
    def summary(self) -> MonitorSummary:
        """The numbers so far; obligations count when their session is closed.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").summary.events
        0
        """
        line, text = self._native.summary()
        return MonitorSummary._of(json.loads(line), text)

    def to_html(self, path: Optional[PathLike] = None) -> str:
        """All sessions with message charts, as a page for a browser; also written to ``path`` if given.

        >>> Monitor.of_text("a(hen, H) :: null. agent a(hen, h).").to_html().startswith("<!DOCTYPE html>")
        True
        """
        page = self._native.html()
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __str__(self) -> str:
        return str(self.summary)

    def __repr__(self) -> str:
        summary = self.summary
        events, sessions = counted(summary.events, "event"), counted(len(self.sessions), "open session")
        return f"<Monitor of {self.model.name}: {events}, {sessions}>"

    def _repr_html_(self) -> str:
        return _html.frame(self.to_html())


def _record_text(record: Record, session: Optional[str]) -> str:
    """A record as one line of JSON."""
    if isinstance(record, str):
        if session is not None:
            raise ValueError("`session` is for records that are mappings; a text has its own key `session`")
        return record
    if not isinstance(record, Mapping):
        raise TypeError(f"a record is a mapping or a JSON object as text, not {type(record).__name__}")
    whole = dict(record) if session is None else {**record, "session": session}
    try:
        return json.dumps(whole, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the record is not JSON: {error}") from None


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
