#!/usr/bin/env python3
"""Partitioned checking beside sequential checking, as tables in Markdown.

    cargo build --release && python3 benches/parallel.py            all families
    python3 benches/parallel.py dc cards --jobs 4 --repeat 3        some of them, best of three

Each cell is a process of its own: elapsed seconds, user seconds, and the peak of its memory. The sizes
are those of the tables of Kwiatkowska, Lomuscio and Qu (ECAI 2010); the models are ours.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def each(name, numbers):
    """`--split` with a variable for each number."""
    return ["--split", ",".join(name.format(k) for k in numbers)]


# Name, file, parameter, sizes, and how the paper splits the initial states, as far as that is known.
FAMILIES = {
    "dc": ("dining_cryptographers", "N", [10, 14, 18, 22, 26, 30, 100],
           lambda n: each("Crypt[{}].payer", range(1, n + 1))),
    "cards": ("card_rounds", "C", [8, 10, 12], lambda n: each("Player[1].dealt[{}]", range(1, 5))),
    "nspk": ("nspk_partners", "N", [2, 3, 4], lambda n: each("Alice[{}].partner", range(1, n + 1))),
    "muddy": ("muddy_children", "N", [20, 30, 40, 50, 60], lambda n: each("Environment.muddy[{}]", range(1, 4))),
}

COLUMNS = [
    ("sequential", None, False),
    ("semi", ["semi"], True),
    ("simple", ["simple"], True),
    ("merge", ["merge"], True),
    ("full", ["full"], True),
    ("full, our bits", ["full"], False),
    ("full, one store", ["full", "--shared"], True),
    ("auto", ["auto"], False),
]


def run(masque, args, timeout):
    """Elapsed and user seconds, megabytes, and the report of one process; None if it took too long."""
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        child = subprocess.Popen([masque] + args, cwd=ROOT, stdout=out, stderr=subprocess.DEVNULL)
        while True:
            pid, _, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                child.returncode = 0
                break
            if time.monotonic() - start > timeout:
                child.kill()
                os.wait4(child.pid, 0)
                child.returncode = 0
                return None
            time.sleep(0.001)
        elapsed = time.monotonic() - start
        out.seek(0)
        report = json.load(out)["runs"][0]
    return elapsed, usage.ru_utime, usage.ru_maxrss / 1024, report


def cell(masque, options, file, parameter, size, split, options_of_column):
    strategy, takes_split = options_of_column
    args = ["check", f"models/ispl/{file}.ispl", "-D", f"{parameter}={size}", "--format", "json",
            "--engine", "symbolic", "--evidence", options.evidence]
    if strategy:
        args += ["--parallel"] + strategy + ["--jobs", str(options.jobs)] + (split(size) if takes_split else [])
    best = None
    for _ in range(options.repeat):
        found = run(masque, args, options.timeout)
        if found is None:
            return None
        if best is None or found[0] < best[0]:
            best = found
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], help="all if none is named")
    parser.add_argument("--masque", default=os.path.join(ROOT, "target/release/masque"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1, help="the best of so many runs counts")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--least", type=int, default=0, help="leave out smaller sizes")
    parser.add_argument("--most", type=int, default=10**9, help="leave out larger sizes")
    parser.add_argument("--evidence", default="none", help="as for `masque check`")
    options = parser.parse_args()
    for name in options.families or FAMILIES:
        file, parameter, sizes, split = FAMILIES[name]
        print(f"\n`{file}.ispl`, {options.jobs} workers: elapsed / user seconds, MB\n")
        print(f"| {parameter} | states | " + " | ".join(column for column, *_ in COLUMNS) + " |")
        print("|--:|--:|" + "--:|" * len(COLUMNS))
        for size in [size for size in sizes if options.least <= size <= options.most]:
            cells, reports = [], []
            for _, *of_column in COLUMNS:
                found = cell(options.masque, options, file, parameter, size, split, of_column)
                if found is None:
                    cells.append(f"over {options.timeout:g} s")
                    continue
                elapsed, user, megabytes, report = found
                cells.append(f"{elapsed:.2f} / {user:.2f} s, {megabytes:.0f}")
                reports.append(report)
            if any(report != reports[0] for report in reports):
                sys.exit(f"{file} at {size}: reports differ")
            states = int(reports[0]["states"]) if reports else 0
            shown = f"{states}" if states < 10**9 else f"{states:.1e}"
            print(f"| {size} | {shown} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
