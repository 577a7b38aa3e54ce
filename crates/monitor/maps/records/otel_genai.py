"""Writes the spans of a small agent run with the OpenTelemetry SDK, in two formats.

    pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-common
    python otel_genai.py

otel-genai.jsonl has one span per line, as `ReadableSpan.to_json` writes it. otel-genai-otlp.jsonl has one export
request per line in the JSON encoding of OTLP, as the file exporter of the collector writes it. Spans are written when
they end, so the tool calls come before the agent that made them.
"""

import json
import time

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode


class Exporter(SpanExporter):
    """Appends every span to both files."""

    def __init__(self):
        self.plain = open("otel-genai.jsonl", "w")
        self.otlp = open("otel-genai-otlp.jsonl", "w")

    def export(self, spans):
        for span in spans:
            print(span.to_json(indent=None), file=self.plain)
        request = MessageToDict(encode_spans(spans))
        # OTLP/JSON writes ids as hexadecimal text; the general JSON encoding of protocol buffers as base64.
        for resource in request["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for encoded, span in zip(scope["spans"], spans):
                    context, parent = span.get_span_context(), span.parent
                    encoded["traceId"] = f"{context.trace_id:032x}"
                    encoded["spanId"] = f"{context.span_id:016x}"
                    if parent is not None:
                        encoded["parentSpanId"] = f"{parent.span_id:016x}"
        print(json.dumps(request), file=self.otlp)
        return SpanExportResult.SUCCESS

    def shutdown(self):
        self.plain.close()
        self.otlp.close()


def tool(tracer, conversation, name, arguments, error=None):
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": f"call_{name}",
        "gen_ai.tool.call.arguments": json.dumps(arguments),
        "gen_ai.agent.name": "researcher",
        "gen_ai.conversation.id": conversation,
    }
    with tracer.start_as_current_span(f"execute_tool {name}", attributes=attributes) as span:
        time.sleep(0.002)
        if error is not None:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR, error))


def chat(tracer, conversation):
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "example",
        "gen_ai.request.model": "model-1",
        "gen_ai.agent.name": "researcher",
        "gen_ai.conversation.id": conversation,
    }
    with tracer.start_as_current_span("chat model-1", kind=SpanKind.CLIENT, attributes=attributes) as span:
        time.sleep(0.002)
        span.set_attribute("gen_ai.response.finish_reasons", ["tool_calls"])


def main():
    provider = TracerProvider(resource=Resource.create({"service.name": "example-agents"}))
    provider.add_span_processor(SimpleSpanProcessor(Exporter()))
    tracer = provider.get_tracer("example")
    for conversation, failing in (("conv-1", False), ("conv-2", True)):
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": "example",
            "gen_ai.agent.name": "researcher",
            "gen_ai.conversation.id": conversation,
        }
        with tracer.start_as_current_span("invoke_agent researcher", attributes=attributes):
            chat(tracer, conversation)
            tool(tracer, conversation, "web_search", {"query": "Deontic Logic (SEP)"})
            chat(tracer, conversation)
            tool(tracer, conversation, "write_file", {"path": "notes.md"}, "timeout" if failing else None)
        # A span that is not about agents.
        with tracer.start_as_current_span("GET /health"):
            pass
    provider.shutdown()


main()
