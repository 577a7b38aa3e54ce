#!/usr/bin/env python3
"""The tables of Kwiatkowska, Lomuscio and Qu (ECAI 2010), section 5, in Markdown, with their numbers beside ours.

    cargo build --release && python3 benches/parallel.py            all tables, 1 to 4 workers
    python3 benches/parallel.py 1 4 --jobs 2 4 --repeat 3           some of them, best of three

Each cell is a process of its own: elapsed seconds, user seconds, and the peak of its memory. The models are
those of models/papers/klq10; InitStates is split by its disjuncts, as in the paper. The program stops if two
reports of a row differ.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRATEGIES = ["semi", "simple", "merge", "full"]

# For each table: title, file, and for each size what the paper prints: states, then seconds of the sequential
# procedure, Semi, Simple, Merge and Full with four threads.
TABLES = {
    "1": ("Dining cryptographers", "dining_cryptographers", {
        10: ("45056", 21, 11, 12, 6, 5),
        14: ("9.8e5", 128, 26, 56, 28, 15),
        18: ("2.0e7", 160, 149, 186, 21, 48),
        22: ("3.9e8", 2098, 6783, 6622, 85, 85),
        26: ("7.2e9", 365, 161, 184, 58, 55),
        30: ("1.3e11", 2823, 12771, 12009, 160, 496),
    }),
    "2": ("Card game", "cards", {
        8: ("8e4", 1, 1, 1, 1, 1),
        10: ("7.4e8", 62, 32, 33, 34, 22),
        12: ("2.9e10", 51242, 15160, 13974, 3569, 3960),
    }),
    "3": ("NSPK protocol", "nspk", {
        2: ("618", 1, 1, 1, 1, 1),
        3: ("42240", 7, 3, 2, 3, 2),
        4: ("2.9e6", 391, 161, 134, 155, 156),
    }),
    "4": ("Muddy children", "muddy_children", {
        20: ("3.4e7", 7, 8, 8, 8, 7),
        30: ("3.4e10", 52, 75, 72, 66, 70),
        40: ("7.0e13", 272, 227, 234, 285, 285),
        50: ("7.2e16", 585, 1003, 1077, 1091, 1102),
        60: ("7.4e19", 30521, 2318, 2167, 2216, 2295),
    }),
}


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


def cell(options, file, size, more):
    """The fastest of several runs; None if one took too long."""
    args = ["check", f"models/papers/klq10/{file}.ispl", "-D", f"N={size}", "--format", "json",
            "--engine", "symbolic", "--evidence", "none"] + more + options.option
    best = None
    for _ in range(options.repeat):
        found = run(options.masque, args, options.timeout)
        if found is None:
            return None
        if best is None or found[0] < best[0]:
            best = found
    return best


def row(options, file, size, jobs, sequential):
    """The cells of one size and number of workers, beginning with that of sequential checking."""
    cells = [sequential]
    for strategy in STRATEGIES:
        cells.append(cell(options, file, size, ["--parallel", strategy, "--jobs", str(jobs)]))
    reports = [found[3] for found in cells if found]
    if any(report != reports[0] for report in reports):
        sys.exit(f"{file} at {size}: reports differ")
    return cells


def shown(found, timeout):
    if found is None:
        return f"over {timeout:g} s"
    elapsed, user, megabytes, _ = found
    return f"{elapsed:.2f} / {user:.2f} s, {megabytes:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="numbers of tables; all if none is named")
    parser.add_argument("--masque", default=os.path.join(ROOT, "target/release/masque"))
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2, 3, 4], help="numbers of workers")
    parser.add_argument("--repeat", type=int, default=1, help="number of runs, of which the fastest counts")
    parser.add_argument("--timeout", type=float, default=300, help="seconds per run")
    parser.add_argument("--least", type=int, default=0, help="leave out smaller sizes")
    parser.add_argument("--most", type=int, default=10**9, help="leave out larger sizes")
    parser.add_argument("--option", action="append", default=[], help="an option of `masque check`, for all runs")
    options = parser.parse_args()
    for number in options.tables or TABLES:
        title, file, sizes = TABLES[number]
        print(f"\nTable {number}. {title}, `{file}.ispl`: elapsed / user seconds, MB\n")
        print("| N | states | workers | seq | " + " | ".join(STRATEGIES) + " |")
        print("|--:|--:|--:|" + "--:|" * (1 + len(STRATEGIES)))
        for size, (states, *paper) in sizes.items():
            if not options.least <= size <= options.most:
                continue
            sequential = cell(options, file, size, [])
            for jobs in options.jobs:
                cells = row(options, file, size, jobs, sequential)
                found = int(sequential[3]["states"]) if sequential else 0
                count = f"{found}" if found < 10**8 else f"{found:.1e}"
                texts = " | ".join(shown(found, options.timeout) for found in cells)
                print(f"| {size} | {count} | {jobs} | {texts} |", flush=True)
            print(f"| {size} | {states} | paper, 4 | " + " | ".join(f"{s} s" for s in paper) + " |", flush=True)


if __name__ == "__main__":
    main()
