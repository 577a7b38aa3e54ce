"""A team of agents under rules: planner, coder, reviewer, and the tools that they call.

    python3 -m venv venv && venv/bin/pip install pydantic-ai-slim opentelemetry-sdk
    venv/bin/python examples/agents/team.py good --log good.jsonl
    masque monitor examples/agents/team.lcc --map otel-genai --input good.jsonl

The agents are those of `pydantic-ai`. Their model is a function, so that each run does what its name says, without a
network: `good` is reviewed and merged, in `unreviewed` the coder merges its own patch, and in `stuck` it calls one
tool after the other until it may not ask its model again. The spans of OpenTelemetry are written to the log.

With `--guard MASQUE` each call of a tool is first put to `masque broker` (method `may`). A call that the rules of
`team.lcc` forbid is not made, and the agent gets the reason as the result of the tool.
"""

import argparse
import json
import subprocess
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from pydantic_ai import Agent, UsageLimitExceeded, UsageLimits
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

HERE = Path(__file__).parent

# What the model of each agent answers, one list per invocation: the name of a tool, or a text that ends its work.
SCRIPTS = {
    "good": {
        "planner": [["fix the login"]],
        "coder": [["edit", "run_tests", "ready for review"]],
        "reviewer": [["read", "merge", "merged"]],
    },
    "unreviewed": {
        "planner": [["fix the login"]],
        "coder": [["edit", "merge", "merged it myself"]],
        "reviewer": [["read", "merge", "merged"]],
    },
    "stuck": {
        "planner": [["fix the login"]],
        "coder": [["edit", "run_tests"] * 50],
        "reviewer": [],
    },
}

# All agents work on one task, which is one session of the monitor.
CONVERSATION = "fix-login"

# Number of requests to its model that an agent may make in one invocation.
MAX_REQUESTS = 5


class Refused(Exception):
    """A call that the rules forbid."""


class Log(SpanExporter):
    """Writes one span per line."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def export(self, spans):
        for span in spans:
            self.file.write(span.to_json(indent=None) + "\n")
        self.file.flush()
        return SpanExportResult.SUCCESS

    def shutdown(self):
        self.file.close()


class NoGuard:
    """Lets everything pass."""

    def observe(self, sender, receiver, message):
        pass

    def may(self, sender, receiver, message):
        pass


class Guard:
    """A session of `masque broker` that knows what has happened, and says whether a call is allowed."""

    def __init__(self, masque):
        command = [masque, "broker", "--quiet"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.n_calls = 0
        text = (HERE / "team.lcc").read_text(encoding="utf-8")
        self.session = self.call("open", files=[{"name": "team.lcc", "text": text}])["session"]

    def call(self, method, **params):
        self.n_calls += 1
        request = {"jsonrpc": "2.0", "id": self.n_calls, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return answer["result"]

    def ask(self, method, sender, receiver, message):
        event = {"kind": "sent", "from": sender, "to": receiver, "message": message}
        answer = self.call(method, session=self.session, event=event)
        if answer["verdict"] != "possible":
            reasons = [item["text"] for item in answer["because"]] or [answer["verdict"]]
            raise Refused("; ".join(reasons))

    def observe(self, sender, receiver, message):
        self.ask("observe", sender, receiver, message)

    def may(self, sender, receiver, message):
        self.ask("may", sender, receiver, message)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


class Team:
    """The agents, their tools, and the program that invokes them."""

    def __init__(self, script, guard):
        self.script = {name: list(turns) for name, turns in script.items()}
        self.guard = guard
        self.merged_by = None
        self.agents = {name: self.agent(name) for name in script}

    def agent(self, name):
        turn = []

        def model(messages, info):
            if len(messages) == 1:
                turn[:] = self.script[name].pop(0)
            self.guard.observe(name, "model", "chat")
            self.guard.observe("model", name, "reply")
            step = turn.pop(0)
            is_tool = step in ("edit", "run_tests", "read", "merge")
            part = ToolCallPart(step, {}) if is_tool else TextPart(step)
            return ModelResponse(parts=[part])

        agent = Agent(FunctionModel(model), name=name)
        for tool in ("edit", "run_tests", "read", "merge"):
            agent.tool_plain(self.tool(name, tool), name=tool)
        return agent

    def tool(self, agent, tool):
        def run() -> str:
            message = f"call({tool}, _)"
            try:
                self.guard.may(agent, "tools", message)
            except Refused as refused:
                return f"not allowed: {refused}"
            self.guard.observe(agent, "tools", message)
            if tool == "merge":
                self.merged_by = agent
            self.guard.observe("tools", agent, f"result({tool})")
            return "done"

        return run

    def invoke(self, name, task):
        self.guard.observe("user", name, "invoke")
        result = self.agents[name].run_sync(task, conversation_id=CONVERSATION,
                                            usage_limits=UsageLimits(request_limit=MAX_REQUESTS))
        self.guard.observe(name, "user", "done")
        return result

    def run(self):
        """Works on one task. Returns what came of it."""
        self.invoke("planner", "make a plan")
        try:
            patch = self.invoke("coder", "fix the login")
        except UsageLimitExceeded:
            self.guard.observe("coder", "user", "failed(_)")
            return "the coder gave up"
        refusals = [part.content for message in patch.all_messages() for part in message.parts
                    if getattr(part, "part_kind", "") == "tool-return" and "not allowed" in str(part.content)]
        if self.merged_by is None:
            self.invoke("reviewer", "review the patch")
        outcome = f"merged by the {self.merged_by}" if self.merged_by else "not merged"
        return "; ".join([outcome] + refusals)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", choices=SCRIPTS)
    parser.add_argument("--log", required=True, help="file for the spans")
    parser.add_argument("--guard", metavar="MASQUE", help="ask this executable before each call of a tool")
    args = parser.parse_args()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(Log(args.log)))
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider, include_content=False))
    guard = Guard(args.guard) if args.guard else NoGuard()
    print(Team(SCRIPTS[args.run], guard).run())
    provider.shutdown()
    if args.guard:
        guard.close()


if __name__ == "__main__":
    main()
