"""Writes the graphs of these tests as the langgraph package exports them (`graph.get_graph().to_json()`).

    python3 -m venv venv && venv/bin/pip install langgraph
    venv/bin/python apps/cli/tests/import/data/export_graphs.py apps/cli/tests/import/data
"""

import json
import sys
from pathlib import Path
from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command


class State(TypedDict):
    text: str


def work(state: State) -> State:
    return state


def sequence():
    graph = StateGraph(State)
    graph.add_node("fetch", work)
    graph.add_node("summarise", work)
    graph.add_edge(START, "fetch")
    graph.add_edge("fetch", "summarise")
    graph.add_edge("summarise", END)
    return graph.compile()


def tool_loop():
    """An agent that calls tools until it is done."""

    def should_continue(state: State) -> Literal["tools", "__end__"]:
        return END

    graph = StateGraph(State)
    graph.add_node("agent", work)
    graph.add_node("tools", work)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", should_continue)
    graph.add_edge("tools", "agent")
    return graph.compile()


def handoff():
    """Two agents that hand a task to each other, and a supervisor that chooses one."""

    def supervisor(state: State) -> Command[Literal["coder", "reviewer"]]:
        return Command(goto="coder")

    def coder(state: State) -> Command[Literal["reviewer", "supervisor"]]:
        return Command(goto="reviewer")

    def reviewer(state: State) -> Command[Literal["coder", "__end__"]]:
        return Command(goto=END)

    graph = StateGraph(State)
    graph.add_node("supervisor", supervisor)
    graph.add_node("coder", coder)
    graph.add_node("reviewer", reviewer)
    graph.add_edge(START, "supervisor")
    return graph.compile()


def fan_out():
    """A map and reduce: three workers in parallel, and a judge that waits for them."""
    graph = StateGraph(State)
    for name in ["split", "left", "middle", "right", "judge"]:
        graph.add_node(name, work)
    graph.add_edge(START, "split")
    for worker in ["left", "middle", "right"]:
        graph.add_edge("split", worker)
    graph.add_edge(["left", "middle", "right"], "judge")
    graph.add_edge("judge", END)
    return graph.compile()


def labels():
    """Names that are no names of LCC, and labels of conditional edges."""

    def route(state: State) -> str:
        return "yes"

    graph = StateGraph(State)
    names = ["Coder agent", "coder_agent", "then", "prüfer", "1st", "agent", "Agent", "a\nb // c", "start", "日本"]
    for name in names:
        graph.add_node(name, work)
    graph.add_edge(START, names[0])
    graph.add_conditional_edges(names[0], route, {"yes, it is \"good\"": names[1], "no\n": names[2]})
    for source, target in zip(names[1:], names[2:]):
        graph.add_edge(source, target)
    graph.add_edge(names[-1], END)
    return graph.compile()


def main():
    folder = Path(sys.argv[1])
    for make in [sequence, tool_loop, handoff, fan_out, labels]:
        exported = make().get_graph().to_json()
        path = folder / f"langgraph_{make.__name__}.json"
        path.write_text(json.dumps(exported, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
