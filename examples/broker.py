#!/usr/bin/env python3
"""A broker that plays the travel example of Osman, Robertson and Walton (2006).

It is asked for a travel agent. It takes the first on its list, and is told that this one would not
get through: it is no member of syta, the association whose members the hotel directory serves. It
tries the next, and this team can finish. So it lets the interaction begin, follows it event by
event, and asks again when the rules change midway.

    python3 examples/broker.py [MASQUE]

MASQUE is the program. If it is left out, it is `masque`, or what `cargo build` has left in this
checkout. Nothing but Python is needed.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models" / "lcc"

# What must be true of a team before it may begin, and while it is at work.
DEMANDS = ["deadlock_free", "can_confirm", "always_can_end"]

# What everybody takes for granted; only the membership differs from candidate to candidate.
FACTS = """
    common customer(c1, visa).
    common payment_encryption(visa, openpgp).
    know visa: authenticate('X.509').
    know hd: member(sunny, syta).
"""


def find_program():
    """The program of the command line, of the search path, or of this checkout."""
    if len(sys.argv) > 1:
        found = shutil.which(sys.argv[1])
        return found or sys.exit(f"there is no program `{sys.argv[1]}`")
    target = MODELS.parent.parent / "target"
    built = [target / profile / "masque" for profile in ("release", "debug")]
    for program in ["masque", *map(str, built)]:
        if shutil.which(program):
            return shutil.which(program)
    sys.exit("there is no program `masque`: run `cargo build --release`, or name the program: broker.py MASQUE")


class Refused(Exception):
    """The service has answered with an error."""


class Masque:
    """The service, a message in a line and an answer in a line."""

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
            sys.exit("the service is gone")
        answer = json.loads(line)
        assert answer["id"] == self.calls
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def end(self):
        self.call("shutdown")
        self.process.stdin.close()
        return self.process.wait(timeout=10)


def instance(agent):
    """The travel example with this travel agent in the team."""

    def file(name):
        text = (MODELS / name).read_text(encoding="utf-8")
        # In the files the travel agent is called `ta`.
        return {"name": name, "text": re.sub(r"\bta\b", agent, text)}

    files = [file("travel.lcc"), file("travel_team.lcc"), file("rules.pol")]
    return {
        "files": files + [{"name": "facts", "text": FACTS}],
        "properties": [file("travel.mu")],
    }


def broken(masque, session):
    """The demands that are not met here and now."""
    answers = masque.call("check", session=session)["answers"]
    verdicts = {answer["name"]: answer["verdict"] for answer in answers}
    return [name for name in DEMANDS if verdicts[name] != "holds"]


def tell(masque, session):
    """Says whether the team can go on and, if not, who is in the way."""
    missing = broken(masque, session)
    if not missing:
        print("  all demands are met")
        return True
    print("  not met:", ", ".join(missing))
    for reason in masque.call("explain", session=session, property=missing[0])["blame"]:
        print("  stuck:", reason)
    return False


def follow(masque, session, end):
    """Lets the agents act until a message of this name is taken."""
    while True:
        moves = masque.call("moves", session=session)["moves"]
        # In a running system the agents would tell what they did; here the first that can be done is.
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
        print(f"{agent}?")
        session = masque.call("open", **instance(agent))["session"]
        if tell(masque, session):
            break
        masque.call("close", session=session)
    else:
        sys.exit("nobody can do it")

    print(f"{agent} it is. The interaction begins:")
    follow(masque, session, "available_hotels")

    print("the hotel directory blacklists the travel agent:")
    rule = "rule hd: (A, self, -access) <- blacklisted(A)."
    masque.call("update", session=session, add=[rule, f"know hd: blacklisted({agent})."])
    # The directory has been asked by now, and is not asked again.
    tell(masque, session)

    print("the customer loses its credit card:")
    card = "common customer(c1, visa)."
    masque.call("update", session=session, remove=[card])
    tell(masque, session)

    print("said to be paying all the same:")
    try:
        masque.call("advance", session=session, pattern="out(payment(_))@c1")
    except Refused as refused:
        error = refused.args[0]
        print(f"  {error['message']}: {error['data']['moves'][0]['label']}")

    print("the card is found:")
    masque.call("update", session=session, add=[card])
    tell(masque, session)
    follow(masque, session, "confirm_booking")

    state = masque.call("state", session=session)
    print("finished" if state["final"] else "not finished")
    masque.call("close", session=session)
    sys.exit(masque.end())


if __name__ == "__main__":
    main()
