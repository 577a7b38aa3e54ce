#!/usr/bin/env python3
"""Regenerates Tables 3 to 6 of Raimondi and Lomuscio (2005), with the numbers of the paper beside ours.

Usage: jal05.py [MASQUE] [--sizes 3,4,5,6,7,8]

MASQUE is the program to measure, target/release/masque by default. Tables 3 and 4 measure both variants of the
bit transmission problem in models/papers/jal05, Tables 5 and 6 the dining cryptographers as cryptographers.py
writes them. As in the paper, the engine works on ordered binary decision diagrams and decides one formula per run:
the first of the file. "Model construction" is everything before the formula is decided, loading included. |M| is
as in section 5.3 of the paper, where that of Table 5 is 2 to the number of bits in brackets.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models" / "papers" / "jal05"
LIMIT_SECONDS = 3600

# The paper's rows: |M|, bits, nodes, megabytes; construction, verification and total seconds.
BIT_TRANSMISSION = ("4e6", "-", "1e3", "4.5", "0.045", "<0.01", "0.05")
CRYPTOGRAPHERS = {
    3: ("7e13", "46", "1e4", "4.4", "1.1", "0.1", "1.2"),
    4: ("2e18", "62", "6e4", "5.2", "5.1", "0.1", "5.2"),
    5: ("7.5e22", "76", "8e4", "5.6", "18.7", "0.1", "18.8"),
    6: ("1.2e27", "90", "1.6e5", "7.1", "125.9", "0.2", "126.2"),
    7: ("2e31", "104", "1.7e5", "7.5", "649", "0.1", "649"),
    8: ("1.3e36", "120", "1.2e7", "230", "9643", "1", "9644"),
}


def short(number):
    """A number as the paper writes it, such as 1.2e27."""
    digits, exponent = f"{number:.1e}".split("e")
    return f"{digits}e{int(exponent)}"


def measure(masque, model):
    """Decides the first formula of a model and returns the cells of its rows."""
    command = [masque, "check", str(model), "--only", "1", "--engine", "symbolic", "--evidence", "none"]
    command += ["--stats", "--format", "json", "--timeout", f"{LIMIT_SECONDS}s"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with exit code {run.returncode}:\n{run.stdout}{run.stderr}")
    report = json.loads(run.stdout)["runs"][0]
    stats = report["stats"]
    figures = stats["engines"][0]["figures"]
    decide = sum(each["seconds"] for each in stats["properties"])
    total = stats["load_seconds"] + stats["check_seconds"]
    return {
        "verdict": report["properties"][0]["verdict"],
        "size": short(float(stats["model_size"])),
        "bits": str(figures["bits"]),
        "nodes": short(figures["peak nodes"]),
        "memory": f"{stats['peak_memory_bytes'] / 1e6:.0f}",
        "construction": f"{total - decide:.3f}",
        "verification": f"{decide:.3f}",
        "total": f"{total:.3f}",
    }


def table(title, columns, rows):
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def paired(paper, ours, names, places):
    """The paper's cells and ours in turn."""
    return [cell for name, i in zip(names, places) for cell in (paper[i], ours[name])]


def header(first, names):
    return [first] + [f"{name}, {who}" for name in names for who in ("paper", "Masque")]


def report(first, title_memory, title_time, rows):
    table(
        title_memory,
        header(first, ["\\|M\\|", "bits", "nodes", "MB"]),
        [[name] + paired(paper, ours, ["size", "bits", "nodes", "memory"], range(4)) for name, paper, ours in rows],
    )
    table(
        title_time,
        header(first, ["construction s", "verification s", "total s"]) + ["verdict"],
        [
            [name] + paired(paper, ours, ["construction", "verification", "total"], range(4, 7)) + [ours["verdict"]]
            for name, paper, ours in rows
        ],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("masque", nargs="?", default=str(ROOT / "target" / "release" / "masque"))
    parser.add_argument("--sizes", default="3,4,5,6,7,8", help="numbers of cryptographers")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]

    rows = [
        (name, BIT_TRANSMISSION, measure(arguments.masque, MODELS / file))
        for name, file in [("DIS_BTP1", "appendix1.ispl"), ("DIS_BTP2", "faulty_receiver2.ispl")]
    ]
    report("model", "Table 3: memory, bit transmission", "Table 4: time, bit transmission", rows)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            model = Path(folder) / f"cryptographers{n}.ispl"
            script = Path(__file__).with_name("cryptographers.py")
            text = subprocess.run([sys.executable, script, str(n)], capture_output=True, text=True, check=True).stdout
            model.write_text(text)
            rows.append((str(n), CRYPTOGRAPHERS.get(n, ("-",) * 7), measure(arguments.masque, model)))
    report("N", "Table 5: memory, dining cryptographers", "Table 6: time, dining cryptographers", rows)


if __name__ == "__main__":
    main()
