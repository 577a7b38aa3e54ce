"""`masque mcp` with the reference client: lists, calls, reads, cancels, in the newest lifecycle and in the older one.

usage: mcp_client.py MASQUE
"""

import asyncio
import sys
import time

from mcp import Client, StdioServerParameters

HEN = {"name": "hen.lcc", "text": "a(hen, H) :: null. agent a(hen, h). property ends : AF final ; property never : AG !done(h) ;"}
WRONG = {"name": "hen.lcc", "text": "a(hen, H) :: null. agent a(hen, h). property ends : AG !doen(h) ;"}
TOOLS = {"check", "why", "explain", "fmt", "simulate", "replay", "teams"}


def slow():
    """A protocol with more states than can be found in a lifetime."""
    ticks = " || ".join(f"<#(tick(x{i}))>tt" for i in range(9))
    team = "".join(f"agent a(c({20 + i}), x{i}).\n" for i in range(9))
    text = (
        "a(c(N), C) :: null <- tick(C) and N > 0 and M is N - 1 then a(c(M), C) or null <- stop(C).\n"
        f"{team}common tick(_).\ncommon stop(_).\noption states = 1000000000.\n"
        f"property p : nu X. [-]X && ({ticks} || <->tt || final) ;"
    )
    return {"name": "slow.lcc", "text": text}


async def talk(masque, mode):
    server = StdioServerParameters(command=masque, args=["mcp", "--quiet", "--children", "1", "--timeout", "100s"])
    async with Client(server, mode=mode) as client:
        assert client.server_info.name == "masque", client.server_info
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert TOOLS <= names, names
        # The client compares structured answers with the schemas of the tools.
        called = await client.call_tool("check", {"files": [HEN]})
        verdicts = {p["name"]: p["verdict"] for p in called.structured_content["report"]["runs"][0]["properties"]}
        assert verdicts == {"ends": "holds", "never": "fails"} and not called.is_error, called
        called = await client.call_tool("check", {"files": [WRONG]})
        fix = called.structured_content["diagnostics"][0]["fix"]
        assert called.is_error and fix["edits"][0]["text"] == "done", called
        called = await client.call_tool("simulate", {"files": [HEN], "random": 3})
        assert called.structured_content["n_taken"] == 1, called
        called = await client.call_tool("explain", {"code": "lcc/no-team"})
        assert called.structured_content["code"] == "lcc/no-team", called
        resources = (await client.list_resources()).resources
        assert len(resources) > 40, resources
        page = await client.read_resource("masque://docs/cheat-sheet")
        assert "## LCC" in page.contents[0].text
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        prompt = await client.get_prompt("model-this-system", {"system": "a lamp"})
        assert "model-this-system" in prompts and "a lamp" in prompt.messages[0].content.text
        # With one child process, the next call would wait for one that is not cancelled.
        start = time.monotonic()
        task = asyncio.create_task(client.call_tool("check", {"files": [slow()]}))
        await asyncio.sleep(1)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        called = await client.call_tool("check", {"files": [HEN]})
        assert not called.is_error and time.monotonic() - start < 60, time.monotonic() - start
        return client.protocol_version


async def main():
    for mode in ["auto", "legacy"]:
        print(f"reference client, {mode}: protocol {await talk(sys.argv[1], mode)}")


asyncio.run(main())
