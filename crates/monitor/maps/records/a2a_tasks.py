"""Writes the JSON-RPC traffic between an A2A client and an A2A server of the Python SDK.

    pip install 'a2a-sdk[http-server]'
    python a2a_tasks.py

Each line is a request or a response as it is on the wire: the body of an HTTP request, or the data of an event of the
stream that answers it.
"""

import asyncio
import json

import httpx
from a2a.client import ClientConfig, create_client
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities, AgentCard, AgentInterface, Message, Part, Role, SendMessageRequest, Task, TaskState, TaskStatus,
)
from starlette.applications import Starlette

URL = "http://agent.example/rpc"


class Translator(AgentExecutor):
    """Asks for the language if the first message does not name one."""

    async def execute(self, context, queue):
        if context.current_task is None:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            await queue.enqueue_event(Task(id=context.task_id, context_id=context.context_id, status=status))
        task = TaskUpdater(queue, context.task_id, context.context_id)
        await task.start_work()
        text = context.get_user_input()
        if "French" in text:
            await task.add_artifact([Part(text="bonjour")], name="translation")
            await task.complete()
        elif "Klingon" in text:
            await task.failed()
        else:
            await task.requires_input(task.new_agent_message([Part(text="Which language?")]))

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


class RecordedStream(httpx.AsyncByteStream):
    """The body of a response, of which every event is written."""

    def __init__(self, stream, out):
        self.stream, self.out = stream, out

    async def __aiter__(self):
        rest = b""
        async for piece in self.stream:
            rest += piece
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    print(json.dumps(json.loads(line[5:])), file=self.out)
            yield piece

    async def aclose(self):
        await self.stream.aclose()


class RecordedTransport(httpx.ASGITransport):
    def __init__(self, app, out):
        super().__init__(app)
        self.out = out

    async def handle_async_request(self, request):
        print(json.dumps(json.loads(request.content)), file=self.out)
        response = await super().handle_async_request(request)
        return httpx.Response(response.status_code, headers=response.headers, stream=RecordedStream(response.stream, self.out))


def message(text, task_id="", context_id=""):
    parts = [Part(text=text)]
    number = message.count = getattr(message, "count", 0) + 1
    sent = Message(message_id=f"msg-{number}", role=Role.ROLE_USER, parts=parts, task_id=task_id, context_id=context_id)
    return SendMessageRequest(message=sent)


async def conversation(client, texts):
    task_id, context_id = "", ""
    for text in texts:
        async for response in client.send_message(message(text, task_id, context_id)):
            if response.HasField("task"):
                task_id, context_id = response.task.id, response.task.context_id


async def main():
    card = AgentCard(
        name="translator", description="Translates.", version="1",
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"], default_output_modes=["text/plain"],
        supported_interfaces=[AgentInterface(url=URL, protocol_binding="JSONRPC", protocol_version="1.0")],
    )
    handler = DefaultRequestHandler(Translator(), InMemoryTaskStore(), card)
    app = Starlette(routes=create_jsonrpc_routes(handler, "/rpc"))
    with open("a2a.jsonl", "w") as out:
        async with httpx.AsyncClient(transport=RecordedTransport(app, out)) as http:
            client = await create_client(card, ClientConfig(streaming=True, httpx_client=http))
            await conversation(client, ["Translate: hello", "French, please"])
            await conversation(client, ["Translate to Klingon: hello"])


asyncio.run(main())
