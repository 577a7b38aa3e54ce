"""Writes agent cards with the types of the a2a-sdk package.

    python3 -m venv venv && venv/bin/pip install a2a-sdk
    venv/bin/python apps/cli/tests/import/data/write_cards.py apps/cli/tests/import/data
"""

import sys
from pathlib import Path

from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from google.protobuf.json_format import MessageToJson


def card(name, skills):
    return AgentCard(
        name=name,
        description=f"The agent {name}.",
        version="1.0.0",
        supported_interfaces=[AgentInterface(url="http://localhost:9999/", protocol_binding="JSONRPC")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id=id, name=title, description=title, tags=["test"]) for id, title in skills],
    )


def main():
    folder = Path(sys.argv[1])
    cards = {
        "currency": card("Currency Agent", [("convert_currency", "Currency exchange rates")]),
        "travel": card("currency-agent", [("plan-trip", "Plan a trip"), ("Plan Trip", "Plan a trip, again"), ("in", "In")]),
    }
    for name, message in cards.items():
        (folder / f"card_{name}.json").write_text(MessageToJson(message) + "\n")


if __name__ == "__main__":
    main()
