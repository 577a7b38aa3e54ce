#!/usr/bin/env python3
"""Where does splitting the initial states pay? Steps of diagram operations, whole and split, in Markdown.

    cargo build --release && python3 benches/splitting.py models/ispl/trains.ispl models/papers/klq10/cards.ispl@N=8
    python3 benches/splitting.py model.ispl@N=12,M=3 --jobs 4 --parts 0 16

A model is a file, followed by `@` and values of parameters if they differ from those in the file.

Each model is checked in the automatic order and in declared order without reordering, as a whole and with
`--parallel simple`, `merge` and `full`. A cell has two ratios: the steps of all workers together, and those of the
busiest worker, both divided by the steps of the whole. The second is what an idle machine with a processor for each
worker could save; below 1.00 splitting pays there. Steps do not depend on the load of the machine.
"""

import argparse
import json
import math
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STRATEGIES = ["simple", "merge", "full"]
ORDERS = {"automatic": [], "declared": ["--order", "declared", "--reorder", "never"]}


def figures(options, model, more):
    """Figures of the symbolic engine; None if it did not decide every property."""
    file, _, values = model.partition("@")
    args = [options.masque, "check", file, "--format", "json", "--stats", "--engine", "symbolic",
            "--evidence", "none", "--timeout", f"{options.timeout:g}s"]
    args += [word for value in values.split(",") if value for word in ("-D", value)] + more
    done = subprocess.run(args, capture_output=True, text=True)
    if not done.stdout.startswith("{"):
        return None
    run = json.loads(done.stdout)["runs"][0]
    undecided = any(found["verdict"] == "unknown" for found in run["properties"])
    if undecided or not run["properties"] or not run["stats"]:
        return None
    return next((engine["figures"] for engine in run["stats"]["engines"] if engine["name"] == "symbolic"), None)


def ratios(options, model, whole, more):
    """Steps of all workers and of the busiest, divided by those of the whole."""
    found = figures(options, model, more)
    if found is None or "most diagram steps of a worker" not in found:
        return None
    return found["diagram steps"] / whole, found["most diagram steps of a worker"] / whole


def settings(options):
    """All ways of splitting that are compared, with their names."""
    for jobs in options.jobs:
        for parts in options.parts:
            for strategy in STRATEGIES:
                if parts and strategy == "simple":
                    continue  # `simple` has one part per worker
                name = f"{strategy}, {jobs} workers" + (f", {parts} parts" if parts else "")
                yield name, ["--parallel", strategy, "--jobs", str(jobs)] + (["--parts", str(parts)] if parts else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--masque", default=os.path.join(ROOT, "target/release/masque"))
    parser.add_argument("--jobs", type=int, nargs="*", default=[2, 4], help="numbers of workers")
    parser.add_argument("--parts", type=int, nargs="*", default=[0], help="numbers of parts; 0 is the default")
    parser.add_argument("--timeout", type=float, default=20, help="seconds per run")
    parser.add_argument("--least", type=float, default=0.2, help="millions of steps below which a model is left out")
    options = parser.parse_args()
    ways = list(settings(options))
    print("| model | order | whole, 10^6 steps | " + " | ".join(name for name, _ in ways) + " |")
    print("|---|---|--:|" + "--:|" * len(ways))
    gains = {}
    for model in options.models:
        for order, chosen in ORDERS.items():
            whole = figures(options, model, chosen + ["--jobs", "1"])
            if whole is None or whole["diagram steps"] < options.least * 1e6:
                continue
            found = {name: ratios(options, model, whole["diagram steps"], chosen + way) for name, way in ways}
            for name, pair in found.items():
                if pair:
                    gains.setdefault((order, name), []).append(pair)
            cells = " | ".join(f"{pair[0]:.2f} / {pair[1]:.2f}" if pair else "-" for pair in found.values())
            steps = whole["diagram steps"] / 1e6
            print(f"| {os.path.basename(model)} | {order} | {steps:.1f} | {cells} |", flush=True)
    for order in ORDERS:
        for name, _ in ways:
            found = gains.get((order, name))
            if found:
                total, busiest = ([math.log(pair[at]) for pair in found] for at in (0, 1))
                paying = sum(1 for value in busiest if value < math.log(0.8))
                print(f"\n{order} order, {name}: {len(found)} models, geometric means "
                      f"{math.exp(sum(total) / len(total)):.2f} / {math.exp(sum(busiest) / len(busiest)):.2f}, "
                      f"below 0.8 for {paying}")


if __name__ == "__main__":
    main()
