"""Monitors: the same results as `masque monitor`, and what only Python can do with them."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from test_check import SWITCHES, n_threads

import masque_mc
from masque_mc import CheckError, LoadError, Monitor, Violated

COMMAND_LINE = os.environ.get("MASQUE")

#: A team in which a merge needs a review, and must be logged afterwards.
TEAM = """
a(planner, P) :: task(T) => a(coder, C) <- todo(T) then done(T) <= a(coder, C).
a(coder, C) ::
    task(T) <= a(planner, P) then
    ( null <- edit(T) then ( null <- review(T) then null <- merge(T) then null <- log(T) or null <- merge(T) )
      or null <- give_up(T) ) then
    done(T) => a(planner, P).
agent a(planner, pat).  agent a(coder, cody).
know pat: todo(fix).
know cody: edit(fix).  know cody: review(fix).  know cody: merge(fix).  know cody: log(fix).  know cody: give_up(fix).
rule ops: (A, O, !log(T)) after #(merge(T))@A until out(done(T)).
property merged : <-* . #(merge(_))>tt ;
property told : <-* . out(done(_))>tt ;
property ends : AF final ;
property now : final ;
"""
LAMP = """
Agent Environment
  Obsvars: lit : boolean; end Obsvars
  Vars: broken : boolean; end Vars
  Actions = {wait};
  Protocol: Other : {wait}; end Protocol
  Evolution: lit = ~lit if Guest.Action = switch and broken = false; broken = true if Guest.Action = smash; end Evolution
end Agent
Agent Guest
  Vars: n : 0..3; end Vars
  Actions = {switch, smash, look};
  Protocol: n < 3 : {switch, look}; n = 2 : {smash}; Other : {look}; end Protocol
  Evolution: n = n + 1 if n < 3 and Action = switch; end Evolution
end Agent
Evaluation dark if Environment.lit = false; end Evaluation
InitStates Environment.lit = false and Environment.broken = false and Guest.n = 0; end InitStates
Formulae
  possible : EF Environment.lit;  ends : AF Guest.n = 3;  broken : EF Environment.broken;  now : Environment.lit;
end Formulae
"""
MAP = """
session = "{run}"
time = "at"
observable = ["out(_)", "#(edit(_))", "#(merge(_))"]

[[event]]
when = { kind = "says" }
from = "{agent}"
message = "'{what}'(fix)"

[[event]]
when = { kind = "does" }
by = "{agent}"
constraint = "'{what}'(fix)"

[[event]]
when = { kind = "over" }
end = true
"""


def plain_records(chooser: random.Random) -> list[dict[str, Any]]:
    """Records of the team without a map; most are possible."""
    acts: list[dict[str, Any]] = [
        {"from": "pat", "to": "cody", "message": "task(fix)"},
        {"from": "pat", "message": {"task": ["fix"]}},
        {"by": "cody", "constraint": "edit(fix)"},
        {"by": "cody", "constraint": "review(_)"},
        {"by": "cody", "constraint": "merge(fix)"},
        {"by": "cody", "constraint": "log(fix)"},
        {"from": "cody", "message": "done(fix)"},
        {"by": "cody", "constraint": "give_up(X)"},
        {"from": "pat", "message": "done(other)"},
        {"form": "pat"},
    ]
    records = []
    for session in range(chooser.randrange(1, 5)):
        begin = chooser.randrange(len(acts)) if chooser.random() < 0.2 else 0
        for act in acts[begin:]:
            if chooser.random() < 0.6:
                records.append({**act, "session": f"s{session}"})
    if chooser.random() < 0.5:
        chooser.shuffle(records)
    return records


def mapped_records(chooser: random.Random) -> list[dict[str, Any]]:
    acts = [("pat", "says", "task"), ("cody", "does", "edit"), ("cody", "does", "merge"), ("cody", "says", "done"),
            ("cody", "thinks", "hm"), ("cody", "over", "")]
    records = []
    for index in range(chooser.randrange(1, 25)):
        agent, kind, what = acts[index % len(acts)] if chooser.random() < 0.8 else chooser.choice(acts)
        at = f"2026-03-02T09:{chooser.randrange(60):02}:00Z"
        records.append({"agent": agent, "kind": kind, "what": what, "run": index // 6, "at": at})
    return records


def lamp_records(chooser: random.Random) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for _ in range(chooser.randrange(1, 9)):
        action = chooser.choice(["switch", "switch", "look", "smash", "jump"] if chooser.random() < 0.2 else ["switch", "look"])
        record: dict[str, Any] = {"Guest.Action": action}
        if chooser.random() < 0.4:
            record["Environment.lit"] = chooser.random() < 0.5
        if chooser.random() < 0.3:
            record["Guest.n"] = chooser.randrange(4)
        records.append(record)
    return records


#: Name, file and text, records, and the options of the command line and of Python.
CASES: list[tuple[str, str, str, Any, list[str], dict[str, Any]]] = [
    ("plain", "team.lcc", TEAM, plain_records, [], {}),
    ("observed", "team.lcc", TEAM, plain_records, ["--observe", "out(_)", "--observe", "#(merge(_))"],
     {"observe": ["out(_)", "#(merge(_))"]}),
    ("enforced", "team.lcc", TEAM, plain_records, ["--enforce"], {"enforce": True}),
    ("map", "team.lcc", TEAM, mapped_records, ["--map", "MAP"], {"map_text": MAP}),
    ("ordered", "team.lcc", TEAM, mapped_records, ["--map", "MAP"], {"map_text": 'order = "time"\n' + MAP}),
    ("enforced map", "team.lcc", TEAM, mapped_records, ["--map", "MAP", "--enforce", "--on-unknown", "allow"],
     {"map_text": MAP, "enforce": True, "allow_unknown": True}),
    ("idle", "team.lcc", TEAM, mapped_records, ["--map", "MAP", "--idle", "600s"], {"map_text": MAP, "idle": 600}),
    ("few sessions", "team.lcc", TEAM, plain_records, ["--sessions", "2"], {"max_sessions": 2}),
    ("system", "lamp.ispl", LAMP, lamp_records, [], {}),
    ("unseen", "lamp.ispl", LAMP, lamp_records, ["--unseen", "Guest.Action = look"], {"unseen": "Guest.Action = look"}),
    ("view", "lamp.ispl", LAMP, lamp_records, ["--as", "Guest"], {"viewer": "Guest"}),
]


def by_command(folder: pathlib.Path, model: pathlib.Path, words: list[str]) -> list[dict[str, Any]]:
    """The lines of `masque monitor`, except the first."""
    assert COMMAND_LINE is not None
    command = [COMMAND_LINE, "monitor", "-v", "--format", "json", model, "--input", folder / "log.jsonl", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert lines, ran.stderr
    return lines[1:]


@pytest.mark.skipif(COMMAND_LINE is None, reason="needs the program in MASQUE")
@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_command_line_gives_the_same_result(tmp_path: pathlib.Path, case: Any) -> None:
    """``LOGS=200`` sets the number of logs per case."""
    _, name, text, records_of, words, options = case
    path = tmp_path / name
    path.write_text(text)
    (tmp_path / "map.toml").write_text(options.get("map_text", ""))
    words = [str(tmp_path / "map.toml") if word == "MAP" else word for word in words]
    seen: set[str] = set()
    for seed in range(int(os.environ.get("LOGS", "12"))):
        records = records_of(random.Random(seed))
        if not records:
            continue
        (tmp_path / "log.jsonl").write_text("\n".join(json.dumps(record) for record in records) + "\n")
        expected = by_command(tmp_path, path, words)
        monitor = Monitor(path, **options)
        events = monitor.feed(tmp_path / "log.jsonl")
        monitor.close()

        def typed(kind: str) -> list[dict[str, Any]]:
            return [line for line in expected if line["type"] == kind]

        judged = [line for line in typed("event") if line["verdict"] != "bad_record"]
        # What waited for earlier records is judged when the log is closed.
        assert [event.data for event in [*events, *monitor.waited]] == judged, seed
        assert [closed.data for closed in monitor.closed] == typed("session"), seed
        assert len(monitor.problems) == len(typed("problem")), seed
        (summary,) = typed("summary")
        for key in ("events", "sessions", "violated", "denied", "lost", "open", "perhaps_open", "unknown", "not_judged",
                    "ignored", "bad_records", "late_records"):
            assert getattr(monitor.summary, key) == summary[key], (seed, key)
        seen.update(event.verdict for event in events)
    assert len(seen) > 1 or case[0] == "ordered", seen


def test_one_event_after_another_is_the_same_as_a_log() -> None:
    records = [record for record in plain_records(random.Random(3)) if "form" not in record]
    log, single = Monitor.of_text(TEAM), Monitor.of_text(TEAM)
    for expected, record in zip(log.feed(records), records):
        may = single.may(record)
        found = single.observe(record)
        assert (found.data, may.verdict) == (expected.data, expected.verdict)
        assert (found.instead, found.goals) == (may.instead, may.goals)


def test_a_violation_says_what_was_possible() -> None:
    text = TEAM + "rule ops: (A, _, +merge(T)) <- trusted(A).\n"
    monitor = Monitor.of_text(text, observe=["out(_)", "#(edit(_))", "#(merge(_))"])
    assert monitor.observe({"from": "pat", "message": "task(fix)"}).possible
    assert monitor.observe({"by": "cody", "constraint": "edit(fix)"}).possible
    may = monitor.may({"by": "cody", "constraint": "merge(fix)"})
    assert may.possible is False and "VIOLATED" in str(may)
    judgement = monitor.observe({"by": "cody", "constraint": "merge(fix)"})
    assert judgement.possible is False and judgement.because and "trusted" in judgement.because[0]
    assert any("protocol.lcc" in rule or "model.lcc" in rule for rule in judgement.rules)
    assert judgement.closed is not None and judgement.closed.reason == "violated" and monitor.sessions == []
    html = judgement._repr_html_()
    assert "violated" in html and "trusted" in html and "<li>" in html
    with pytest.raises(Violated) as raised:
        judgement.raise_for_violation()
    assert raised.value.judgement is judgement
    assert monitor.observe({"by": "cody", "constraint": "log(fix)"}).verdict == "after_violation"
    with pytest.raises(CheckError, match="closed"):
        monitor.obligations()
    page = monitor._repr_html_()
    assert page.startswith("<iframe") and "cody" in page


def test_obligations_goals_and_facts() -> None:
    acts = [f"#({act}(_))" for act in ("edit", "review", "merge", "log")]
    monitor = Monitor.of_text(TEAM, observe=["out(_)", *acts])
    assert monitor.goals() == {"merged": "certain", "told": "certain", "ends": "certain"}
    assert monitor.facts() == {"now": "impossible"}
    records = [{"message": "task(fix)"}, {"constraint": "edit(fix)"}, {"constraint": "review(fix)"}]
    assert all(one.possible for one in monitor.feed(records))
    judgement = monitor.observe({"constraint": "merge(fix)"})
    assert [one.status for one in judgement.obligations] == ["owed"]
    (owed,) = monitor.obligations()
    assert owed.status == "owed" and "cody owes log(fix)" in owed.owes and monitor.goals()["merged"] == "reached"
    assert monitor.n_states() >= 1
    closed = monitor.end()
    assert closed is not None and [one.status for one in closed.obligations] == ["open"]
    assert monitor.summary.open == 1 and not monitor.summary.is_fine and "log(fix)" in str(closed)


def test_an_enforcing_monitor_denies_and_goes_on() -> None:
    monitor = Monitor.of_text(TEAM, enforce=True)
    denied = monitor.observe({"message": "done(fix)"})
    assert denied.allowed is False and denied.possible is False and monitor.sessions == [None]
    allowed = monitor.observe({"message": "task(fix)"})
    assert allowed.allowed is True and monitor.summary.denied == 1


def test_records_that_a_map_does_not_use() -> None:
    monitor = Monitor.of_text(TEAM, map_text=MAP)
    thinks = {"agent": "cody", "kind": "thinks", "what": "hm", "run": 1, "at": "2026-03-02T09:00:00Z"}
    assert monitor.may(thinks).verdict == monitor.observe(thinks).verdict == "ignored"
    assert monitor.observe(thinks).possible and monitor.summary.ignored == 2
    with pytest.raises(CheckError, match="ends its session"):
        monitor.observe({**thinks, "kind": "over"})
    monitor.feed([{**thinks, "kind": "over"}])
    ordered = Monitor.of_text(TEAM, map_text='order = "time"\n' + MAP)
    with pytest.raises(CheckError, match="order"):
        ordered.observe(thinks)


def test_wrong_records_and_arguments(tmp_path: pathlib.Path) -> None:
    monitor = Monitor.of_text(TEAM)
    wrong: list[Any] = [{"form": "pat"}, {}, "no JSON", {"message": "f("}, {"message": float("nan")}, {"message": object()}]
    for record in wrong:
        with pytest.raises((CheckError, ValueError)):
            monitor.observe(record)
        with pytest.raises((CheckError, ValueError)):
            monitor.may(record)
    assert monitor.sessions in ([], [None]) and monitor.summary.violated == 0
    with pytest.raises(LoadError, match="no map"):
        Monitor.of_text(TEAM, map="otel")
    with pytest.raises(LoadError):
        Monitor.of_text(TEAM, map=tmp_path / "missing.toml")
    with pytest.raises(LoadError):
        Monitor.of_text(TEAM, map_text="[[event]")
    with pytest.raises(LoadError):
        Monitor.of_text(TEAM, observe="out(")
    with pytest.raises(CheckError, match="ISPL"):
        Monitor.of_text(TEAM, unseen="true")
    with pytest.raises(CheckError, match="protocols"):
        Monitor.of_text(LAMP, "ispl", observe="out(_)")
    with pytest.raises(LoadError, match="Gust"):
        Monitor.of_text(LAMP, "ispl", viewer="Gust")
    with pytest.raises(CheckError, match="BDI"):
        Monitor(masque_mc.loads("agent a is loop p := any endloop", "bdi"))
    with pytest.raises(ValueError, match="one map"):
        Monitor.of_text(TEAM, map="mcp", map_text=MAP)
    with pytest.raises(CheckError, match="order"):
        Monitor.of_text(TEAM, map_text='order = "time"\n' + MAP, enforce=True)


def test_several_threads_have_their_sessions() -> None:
    monitor = Monitor.of_text(TEAM)
    failures: list[object] = []

    def work(name: str) -> None:
        for index in range(20):
            session = f"{name}{index}"
            if not monitor.observe({"message": "task(fix)"}, session=session).possible:
                failures.append(session)
            if monitor.observe({"message": "task(fix)"}, session=session).possible is not False:
                failures.append(session)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failures and monitor.summary.sessions == 80 == monitor.summary.violated


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_threads_end_with_their_monitors() -> None:
    before = n_threads()
    for _ in range(50):
        assert Monitor.of_text(TEAM).observe({"message": "task(fix)"}).possible
    deadline = time.monotonic() + 20
    while n_threads() > before + 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert n_threads() <= before + 2


FORKED = """
import os, sys, masque_mc
monitor = masque_mc.Monitor(sys.argv[1])
assert monitor.observe({"message": "task(fix)"}).possible
child = os.fork()
if child == 0:
    try:
        monitor.observe({"message": "done(fix)"})
        os._exit(1)
    except masque_mc.CheckError as error:
        assert "fork" in str(error)
    ok = masque_mc.Monitor(sys.argv[1]).observe({"message": "task(fix)"}).possible
    os._exit(0 if ok else 2)
_, status = os.waitpid(child, 0)
assert status == 0
assert monitor.observe({"message": "done(fix)"}).possible
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "team.lcc"
    path.write_text(TEAM)
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "done\n", ran.stderr


INTERRUPTED = """
import os, signal, sys, threading, time
import masque_mc
model = masque_mc.loads(open(sys.argv[1]).read(), "ispl")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    masque_mc.Monitor(model)
except KeyboardInterrupt:
    assert time.monotonic() - start < 20
    print("interrupted")
"""


def test_an_interrupt_ends_the_opening(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "switches.ispl"
    path.write_text(SWITCHES)
    command = [sys.executable, "-c", INTERRUPTED, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "interrupted\n", ran.stderr


def test_limits_end_the_opening() -> None:
    model = masque_mc.loads(SWITCHES, "ispl")
    with pytest.raises(CheckError, match="time"):
        Monitor(model, timeout=0.2)
