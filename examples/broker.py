#!/usr/bin/env python3
"""A broker that runs the travel example of Osman, Robertson and Walton (2006).

A customer asks it for a travel agent. The check of the first candidate fails: the candidate is not a
member of syta, the association whose members may query the hotel directory. The team with the second
candidate can finish. The broker starts the interaction, follows it event by event, and checks again
when the rules change midway.

    python3 examples/broker.py [MASQUE]

MASQUE is the program. The default is `masque` on the search path, then the program that `cargo build`
left in this checkout. Only Python's standard library is needed.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models" / "lcc"

# Properties that must hold before a team starts, and while it runs.
REQUIRED = ["deadlock_free", "can_confirm", "always_can_end"]

# Facts of every instance. Only the membership differs between the candidates.
FACTS = """
    common customer(c1, visa).
    common payment_encryption(visa, openpgp).
    know visa: authenticate('X.509').
    know hd: member(sunny, syta).
"""


def find_program():
    """Returns the program from the command line, the search path or this checkout."""
    if len(sys.argv) > 1:
        found = shutil.which(sys.argv[1])
        return found or sys.exit(f"there is no program `{sys.argv[1]}`")
    target = MODELS.parent.parent / "target"
    built = [target / profile / "masque" for profile in ("release", "debug")]
    for program in ["masque", *map(str, built)]:
        if shutil.which(program):
            return shutil.which(program)
    sys.exit("cannot find `masque`: run `cargo build --release`, or name the program: broker.py MASQUE")


class Refused(Exception):
    """An error reply of the service."""


class Masque:
    """A connection to the service: one line per call, one line per reply."""

    def __init__(self, program):
        command = [program, "broker", "--quiet"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.calls = 0

    def call(self, method, **params):
        self.calls += 1
        message = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("the service ended without a reply")
        reply = json.loads(line)
        assert reply["id"] == self.calls
        if "error" in reply:
            raise Refused(reply["error"])
        return reply["result"]

    def end(self):
        self.call("shutdown")
        self.process.stdin.close()
        return self.process.wait(timeout=10)


def instance(agent):
    """Returns the travel example with `agent` as the travel agent."""

    def file(name):
        text = (MODELS / name).read_text(encoding="utf-8")
        # In the files the travel agent is called `ta`.
        return {"name": name, "text": re.sub(r"\bta\b", agent, text)}

    files = [file("travel.lcc"), file("travel_team.lcc"), file("rules.pol")]
    return {
        "files": files + [{"name": "facts", "text": FACTS}],
        "properties": [file("travel.mu")],
    }


def failing(masque, session):
    """Returns the required properties that do not hold in the current state."""
    answers = masque.call("check", session=session)["answers"]
    verdicts = {answer["name"]: answer["verdict"] for answer in answers}
    return [name for name in REQUIRED if verdicts[name] != "holds"]


def report(masque, session):
    """Prints whether all required properties hold and, if not, which agents are stuck. Returns whether."""
    missing = failing(masque, session)
    if not missing:
        print("  all required properties hold")
        return True
    print("  failing:", ", ".join(missing))
    for reason in masque.call("explain", session=session, property=missing[0])["blame"]:
        print("  stuck:", reason)
    return False


def follow(masque, session, end):
    """Performs the first possible event until a message called `end` is received."""
    while True:
        moves = masque.call("moves", session=session)["moves"]
        # In a running system the agents report their events. Here the first possible one happens.
        event = masque.call("advance", session=session, number=moves[0]["number"])["event"]
        if event["message"]:
            arrow = {"sent": "->", "taken": "<-"}[event["kind"]]
            print(f"  {event['by']} {arrow} {event['peer']}: {event['message']}")
        if event["kind"] == "taken" and event["message"].startswith(end):
            return


def main():
    masque = Masque(find_program())

    session = None
    for agent in ["globe", "sunny"]:
        print(f"checking {agent}:")
        session = masque.call("open", **instance(agent))["session"]
        if report(masque, session):
            break
        masque.call("close", session=session)
    else:
        sys.exit("no candidate satisfies the required properties")

    print(f"recommending {agent}; the interaction starts:")
    follow(masque, session, "available_hotels")

    print("the hotel directory blacklists the travel agent:")
    rule = "rule hd: (A, self, -access) <- blacklisted(A)."
    masque.call("update", session=session, add=[rule, f"know hd: blacklisted({agent})."])
    # Nothing changes: the directory has already been queried.
    report(masque, session)

    print("the customer loses its credit card:")
    card = "common customer(c1, visa)."
    masque.call("update", session=session, remove=[card])
    report(masque, session)

    print("the customer reports a payment without it:")
    try:
        masque.call("advance", session=session, pattern="out(payment(_))@c1")
    except Refused as refused:
        error = refused.args[0]
        print(f"  {error['message']}: {error['data']['moves'][0]['label']}")

    print("the card is found:")
    masque.call("update", session=session, add=[card])
    report(masque, session)
    follow(masque, session, "confirm_booking")

    state = masque.call("state", session=session)
    print("finished" if state["final"] else "not finished")
    masque.call("close", session=session)
    sys.exit(masque.end())


if __name__ == "__main__":
    main()
