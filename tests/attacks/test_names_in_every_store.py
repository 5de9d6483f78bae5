"""What is named so that a database cannot hold it is refused, and does not end the ledger for everybody.

PostgreSQL's texts hold no NUL character, and its indexes nothing long: to write such a thing fails the whole
transaction, and with it the calls of others.
"""

import random
import string
from pathlib import Path

import pytest

from mcpguard.codec.uris import wrap_uri
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.policy.reconciliation import LONGEST_NAME
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
    ("/mcp/all", "resources/read", {"uri": wrap_uri("web", "note://\0")}),
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
            said = reply.result["_meta"]["mcpguard/refusal"] if "result" in (reply.message or {}) else reply.error
            assert "NUL" in str(said), said
            assert sum((await turned_away(guard)).values()) == number
        answer = (await guard.client().call("web::echo", {"text": "x"})).result
        assert "isError" not in answer


async def test_a_server_that_lists_long_names_is_the_only_one_without_them(
    postgres_server: str, tmp_path: Path
) -> None:
    """Names of letters at random, which nothing makes shorter."""
    script = Script()
    fits, some = "é" * (LONGEST_NAME // 2), random.Random(7)  # noqa: S311
    for length in (LONGEST_NAME, LONGEST_NAME + 1, 8000):
        script.tool("".join(some.choices(string.ascii_letters, k=length)), "done")
    script.tool(fits, "done")
    script.tool(fits + "é", "done")
    store = postgres.fresh_database(postgres_server)
    async with guarded(tmp_path, script, store__url=store) as guard:
        known = guard.now.guard.servers.find("web")
        assert known is not None
        kept = [name for kind, name in known.pins if kind is CapabilityKind.TOOL and len(name) > 100]
        assert sorted(map(len, kept)) == [len(fits), LONGEST_NAME]
        assert "a tool without a name that could be kept, 3 times" in known.odd
        answer = (await guard.client().call("web::echo", {"text": "x"})).result
        assert "isError" not in answer
