"""Reads the ITF traces of a folder with itf-py, compares them with `report.json`, and writes them again beside them."""

import json
import pathlib
import sys

from itf_py import trace_from_json, trace_to_json


def values_of(state):
    """The values as the language writes them."""
    text = {True: "true", False: "false"}
    return {name: text[v] if isinstance(v, bool) else str(v) for name, v in state.values.items()}


def paths_in(evidence):
    """All lists of states in the evidence of an ISPL model, with the index at which their loop begins."""
    states = evidence["states"]
    open_parts = [evidence]
    while open_parts:
        part = open_parts.pop()
        if isinstance(part, dict):
            if part is not evidence and "states" in part and "actions" in part:
                yield [states[i] for i in part["states"]], part["loop"]
            open_parts.extend(part.values())
        elif isinstance(part, list):
            open_parts.extend(part)


folder = pathlib.Path(sys.argv[1])
run = json.loads((folder / "report.json").read_text())["runs"][0]
evidence = {}
for prop in run["properties"]:
    index = prop.get("index")
    evidence.setdefault(prop["name"], []).append(prop["evidence"])
traces = sorted(folder.glob("*.itf.json"))
assert traces, "no trace was written"
for path in traces:
    trace = trace_from_json(json.loads(path.read_text()))
    assert trace.meta["format"] == "ITF"
    assert [state.meta["index"] for state in trace.states] == list(range(len(trace.states)))
    assert trace.loop is None or 0 <= trace.loop < len(trace.states)
    for number, state in enumerate(trace.states):
        expected = set(trace.vars) | (set(trace.params) if number == 0 else set())
        assert set(state.values) == expected, (path, number, state)
    for name in trace.params:
        assert trace.states[0].values[name] == run["parameters"][name]
    if run["language"] == "ispl":
        shown = [values_of(state) for state in trace.states]
        for name in trace.params:
            shown[0].pop(name)
        name = trace.meta["property"].split("[")[0]
        paths = [path for one in evidence[name] if one for path in paths_in(one)]
        # The last path of a run is a path of the evidence, with its loop.
        ends = [
            shown[-len(states):] == states and (loop is None or loop + len(shown) - len(states) == trace.loop)
            for states, loop in paths
        ]
        assert any(ends), (path, shown, paths)
    again = path.with_name(path.name.replace(".itf.json", ".again.itf.json"))
    again.write_text(json.dumps(trace_to_json(trace)))
    assert trace_from_json(json.loads(again.read_text())) == trace
