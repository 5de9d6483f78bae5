"""A caller who names what no database can hold is refused, and does not end the ledger for everybody.

PostgreSQL's texts hold no NUL character: to write one fails the whole transaction, and with it the calls of others.
"""

from pathlib import Path

import pytest

from mcpguard.codec.uris import wrapped
from tests import postgres
from tests.gateway.speaking import guarded, nothing_happens, turned_away
from tests.simulators.script import Script
from tests.simulators.words import Json

pytestmark = pytest.mark.anyio
ASKED: list[tuple[str, str, Json]] = [
    ("/mcp", "tools/call", {"name": "call_tool", "arguments": {"server": "a\0", "tool": "b"}}),
    ("/mcp", "tools/call", {"name": "call_tool", "arguments": {"server": "web", "tool": "b\0c"}}),
    ("/mcp", "tools/call", {"name": "call_tool_read", "arguments": {"name": "web:b\0c"}}),
    ("/mcp", "tools/call", {"name": "b\0", "arguments": {}}),
    ("/mcp", "resources/read", {"uri": "note://\0"}),
    ("/mcp/all", "tools/call", {"name": "web::b\0", "arguments": {}}),
    ("/mcp/all", "prompts/get", {"name": "web::b\0"}),
    ("/mcp/all", "resources/read", {"uri": wrapped("web", "note://\0")}),
    (
        "/mcp/all",
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "\0"}, "argument": {"name": "a", "value": ""}},
    ),
    ("/mcp/only/web", "tools/call", {"name": "\0", "arguments": {}}),
]


async def test_a_name_with_a_nul_character_is_refused_and_nobody_else_is(postgres_server: str, tmp_path: Path) -> None:
    script = Script()
    store = postgres.fresh_database(postgres_server)
    async with guarded(tmp_path, script, store__url=store) as guard:
        for number, (face, method, params) in enumerate(ASKED, 1):
            with nothing_happens(guard, script):
                reply = await guard.client(face).request(method, params)
            said = reply.result["structuredContent"] if "result" in (reply.message or {}) else reply.error
            assert "NUL" in str(said), said
            assert sum((await turned_away(guard)).values()) == number
        answer = (await guard.client().call("web::echo", {"text": "x"})).result
        assert "isError" not in answer
