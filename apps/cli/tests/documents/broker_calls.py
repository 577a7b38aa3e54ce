#!/usr/bin/env python3
"""Sends the calls of docs/broker.md to a broker, and prints what was sent and what was replied as one JSON document."""

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[4] / "docs" / "broker.md"


def main():
    """Writes `{"schema": .., "calls": [{"method", "params", "result" or "error"}]}`."""
    blocks = re.findall(r"```rpc\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    requests = [line[3:] for block in blocks for line in block.splitlines() if line.startswith("-> ")]
    command = [sys.argv[1], "broker", "--quiet"]
    calls = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as broker:
        for request in requests:
            sent = json.loads(request)
            if not isinstance(sent, dict) or "id" not in sent or sent.get("method") == "shutdown":
                continue
            broker.stdin.write(request + "\n")
            broker.stdin.flush()
            reply = json.loads(broker.stdout.readline())
            call = {"method": sent["method"], "params": sent.get("params", {})}
            call |= {name: reply[name] for name in ("result", "error") if name in reply}
            calls.append(call)
        broker.stdin.close()
    print(json.dumps({"schema": "masque.broker/1", "calls": calls}, indent=1))


if __name__ == "__main__":
    main()
