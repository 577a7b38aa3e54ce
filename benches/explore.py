#!/usr/bin/env python3
"""How long does `masque explore` take to answer a click? Milliseconds, in Markdown.

    cargo build --release && python3 benches/explore.py
    python3 benches/explore.py --masque target/debug/masque --cryptographers 30

The first model has 10 000 states: the state graph, a click on a state of it, and steps of the simulator. The second is
the protocol of the dining cryptographers with 300 participants: a step of the simulator after the first question, for
which the process of the model makes its encoding. Each time is that of one request, of which the fastest and the
slowest of several are printed.
"""

import argparse
import os
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNTERS = """
Agent Counter[i in 1..4]
  Vars: c : 0..9; end Vars
  Actions = {step, wait};
  Protocol: Other : {step, wait}; end Protocol
  Evolution: c = c + 1 if c < 9 and Action = step; end Evolution
end Agent
InitStates forall(i in 1..4 : Counter[i].c = 0); end InitStates
Formulae AG Counter[1].c < 10; end Formulae
"""


class Server:
    """A running `masque explore` and one tab of it."""

    def __init__(self, masque, *args):
        self.process = subprocess.Popen([masque, "explore", *args, "--no-open"], stdout=subprocess.PIPE, text=True)
        address = self.process.stdout.readline().split()[-1]
        with urllib.request.urlopen(address) as response:
            self.base = response.geturl()

    def get(self, path, fields=None):
        """The milliseconds of a request and the kilobytes of its answer."""
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        start = time.perf_counter()
        with urllib.request.urlopen(self.base + path, data) as response:
            size = len(response.read())
        return (time.perf_counter() - start) * 1000, size / 1000

    def wait_for(self, text):
        """Waits until the overview contains a text."""
        while True:
            with urllib.request.urlopen(self.base) as response:
                if text in response.read().decode():
                    return
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        self.process.wait()


def row(name, answers):
    times = [milliseconds for milliseconds, _ in answers]
    print(f"| {name} | {min(times):.1f} | {max(times):.1f} | {max(size for _, size in answers):.0f} |", flush=True)


def counters(masque, repeats):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counters.ispl")
        with open(path, "w", encoding="utf-8") as file:
            file.write(COUNTERS)
        server = Server(masque, path)
        try:
            server.wait_for("Checked in")
            row("state graph, first time", [server.get("graph?show=1")])
            row("state graph, again", [server.get("graph?show=1") for _ in range(repeats)])
            row("a click on a state", [server.get(f"graph/state?show=1&state={n}") for n in range(repeats)])
            formula = urllib.parse.quote("Counter[1].c = 3")
            row("coloured by a formula", [server.get(f"graph?show=1&formula={formula}")])
            server.get("simulate/begin", {"index": 0})
            row("first page with formulas", [server.get("simulate")])
            row("a step of the simulator", [server.get("simulate/step", {"index": 0}) for _ in range(repeats)])
        finally:
            server.stop()


def cryptographers(masque, n, repeats):
    path = os.path.join(ROOT, "models/ispl/dining_cryptographers.ispl")
    server = Server(masque, path, "-D", f"N={n}", "--timeout", "600s")
    try:
        server.wait_for("Source")
        while server.get("simulate/begin", {"index": 0})[1] < 2:
            time.sleep(0.5)
        row(f"dc {n}: first page with formulas", [server.get("simulate")])
        row(f"dc {n}: a step of the simulator", [server.get("simulate/random", {"steps": 1}) for _ in range(repeats)])
    finally:
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--masque", default=os.path.join(ROOT, "target/release/masque"))
    parser.add_argument("--cryptographers", type=int, default=300, metavar="N")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    print("| request | fastest (ms) | slowest (ms) | kB |\n|---|---:|---:|---:|")
    counters(options.masque, options.repeats)
    cryptographers(options.masque, options.cryptographers, options.repeats)


if __name__ == "__main__":
    main()
