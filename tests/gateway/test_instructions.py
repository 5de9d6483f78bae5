"""What a server says of how to use it reaches agents as a person approved it, where they see that one server."""

from pathlib import Path

import pytest

from mcpguard.domain.callers import Scope
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer
from mcpguard.domain.servers.listings import INSTRUCTIONS
from mcpguard.domain.servers.standing import CapabilityStanding
from mcpguard.guard.search.answer_size import MOST_BYTES, fit_descriptions
from tests.attacks.quarantined import pin, until
from tests.gate import Gate
from tests.gateway.speaking import HOWS, TOKEN, callers, guarded
from tests.review import DECISION
from tests.simulators.client import RawClient
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
KIND = CapabilityKind.INSTRUCTIONS
SAID = "Ask for the weather before you ask for the wind."
OTHER = "Ask for nothing."


def script(said: str | None = SAID) -> Script:
    offered = Script()
    offered.instructions = said
    return offered


async def greeted(guard: Gate, how: str, only: str | None = "web", token: str | None = None) -> str | None:
    """The instructions with which a client is greeted that comes now."""
    transport, era = how.split()
    if transport == "http":
        return await told(
            guard.client(f"/mcp/only/{only}" if only else "/mcp/all", modern=era == "modern", token=token)
        )
    face = {"face": "transparent" if only else "direct", "only": only, "token": token}
    async with guard.stream(modern=era == "modern", **face) as client:
        return await told(client)


async def told(client: RawClient) -> str | None:
    greeting = await (client.discover() if client.modern else client.initialize())
    said: str | None = greeting.result.get("instructions")
    return said


async def described_with(guard: Gate, name: str = "web:echo") -> dict[str, object]:
    client = guard.client("/mcp")
    found: dict[str, object] = (await client.call("describe_tool", {"names": [name]})).result["structuredContent"]
    return found


@pytest.mark.parametrize("how", HOWS)
async def test_whoever_sees_one_server_is_greeted_with_its_instructions(how: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, script()) as guard:
        assert await greeted(guard, how) == SAID
        assert await greeted(guard, how, only=None) is None, "nobody is greeted with them who sees many"


async def test_they_are_told_with_a_tool_of_their_server(tmp_path: Path) -> None:
    async with guarded(tmp_path, script()) as guard:
        assert (await described_with(guard))["instructions"] == {"web": SAID}
        assert "instructions" not in await described_with(guard, "web:nothing")


async def test_a_server_without_any_is_told_of_without_any(tmp_path: Path) -> None:
    async with guarded(tmp_path, script(None)) as guard:
        assert await greeted(guard, "http legacy") is None
        assert "instructions" not in await described_with(guard)


@pytest.mark.parametrize("standing", ["changed", "pending", "blocked"])
async def test_what_nobody_approved_reaches_nobody(standing: str, tmp_path: Path) -> None:
    offered = script()
    async with guarded(tmp_path, offered, definitions__confirm_seconds=1) as guard:
        decisions, key = guard.now.guard.decisions, (KIND, INSTRUCTIONS)
        listed = pin(guard, INSTRUCTIONS, KIND).listed
        match standing:
            case "changed":
                offered.instructions = OTHER
                await guard.now.guard.inspecting.inspect("web", DECISION, consent=True, give=frozenset())
                guard.now.fleet.restart("web")
            case "pending":
                await decisions.decide("web", key, Answer.REVOKE, listed, DECISION)
            case _:
                await decisions.decide("web", key, Answer.BLOCK, listed, DECISION)
        await until(guard, lambda: pin(guard, INSTRUCTIONS, KIND).standing is CapabilityStanding(standing))
        await guard.ready("web")
        for how in HOWS:
            assert await greeted(guard, how) is None
        assert "instructions" not in await described_with(guard)


async def test_the_merged_face_greets_with_all_of_them_where_a_setting_says_so(tmp_path: Path) -> None:
    async with guarded(tmp_path, script(), merged_instructions=True) as guard:
        assert await greeted(guard, "http legacy", only=None) == f"Instructions of the server web:\n{SAID}"
        assert await greeted(guard, "http modern") == SAID


async def test_they_reach_nobody_from_whom_the_server_is_out_of_reach(tmp_path: Path) -> None:
    elsewhere = callers(**{TOKEN: Scope(("other",), ("*",), frozenset())})
    async with guarded(tmp_path, script(), callers=elsewhere, merged_instructions=True) as guard:
        assert await greeted(guard, "http modern", only=None, token=TOKEN) is None
        assert await greeted(guard, "http modern", only=None) is not None, "others may"


async def test_that_they_were_shown_is_recorded(tmp_path: Path) -> None:
    async with guarded(tmp_path, script()) as guard:
        await greeted(guard, "http legacy")
        await guard.clock.advance(61)
        await until(guard, lambda: [each for each in guard.said() if each.get("method") == "initialize"])
        (record,) = [each for each in guard.said() if each.get("method") == "initialize"]
        assert (record["kind"], record["names"], record["face"]) == ("disclosed", 1, "transparent")


def test_what_does_not_fit_beside_the_tools_is_named() -> None:
    told = fit_descriptions([({"name": "x", "answer": "unknown"}, None)], {"web": "y" * MOST_BYTES, "other": SAID})
    assert told["instructions"] == {"other": SAID}
    assert told["notice"] == "The instructions of web do not fit into this answer; ask for fewer tools."
