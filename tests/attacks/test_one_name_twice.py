"""One name that is listed twice: alike it is one thing, differently it is nothing that could be approved or called."""

from pathlib import Path
from typing import Any

import pytest

from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Answer, Undecidable
from mcpguard.domain.servers.standing import CapabilityStanding
from tests.attacks.quarantined import TOOL, pin, refused, until
from tests.gateway.speaking import guarded
from tests.review import DECISION
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("kind", [TOOL, CapabilityKind.RESOURCE, CapabilityKind.TEMPLATE, CapabilityKind.PROMPT])
async def test_twice_differently_is_changed_and_cannot_be_approved(kind: CapabilityKind, tmp_path: Path) -> None:
    script = Script()
    lists: dict[CapabilityKind, tuple[str, str, list[dict[str, Any]]]] = {
        TOOL: ("tools", "name", script.tools),
        CapabilityKind.RESOURCE: ("resources", "uri", script.resources),
        CapabilityKind.TEMPLATE: ("resources", "uriTemplate", script.templates),
        CapabilityKind.PROMPT: ("prompts", "name", script.prompts),
    }
    said, key, definitions = lists[kind]
    async with guarded(tmp_path, script) as guard:
        name = definitions[0][key]
        assert pin(guard, name, kind).callable
        definitions.append({**definitions[0], "description": "another"})
        await script.changed_list(said)
        await until(guard, lambda: pin(guard, name, kind).standing is CapabilityStanding.CHANGED)
        before = pin(guard, name, kind)
        assert before.listed is None
        with pytest.raises(Undecidable):
            await guard.now.guard.decisions.decide("web", (kind, name), Answer.APPROVE, None, DECISION, Effect.READ)
        assert pin(guard, name, kind) == before
        definitions.pop()
        await script.changed_list(said)
        await until(guard, lambda: pin(guard, name, kind).callable)


async def test_twice_alike_is_once(tmp_path: Path) -> None:
    script = Script()
    async with guarded(tmp_path, script) as guard:
        script.tools.append(dict(next(tool for tool in script.tools if tool["name"] == "echo")))
        script.tool("mark", "done")
        await script.changed_list()
        await until(guard, lambda: (TOOL, "mark") in guard.now.guard.servers.find("web").pins)  # type: ignore[union-attr]
        assert pin(guard, "echo").callable
        names = await guard.client().names()
        assert names.count("web::echo") == 1


async def test_a_name_of_another_servers_tool_is_another_tool(tmp_path: Path) -> None:
    """A name that says which server it would belong to belongs to the server that lists it."""
    script = Script()
    script.tool("other::echo", "wicked")
    async with guarded(tmp_path, script) as guard:
        client = await guard.legacy()
        await refused(guard, client, "capability:unknown", script, "nothing")
        assert "web::other::echo" in await client.names()
        reply = await client.call("other::echo")
        assert reply.result["_meta"]["mcpguard/refusal"]["reason"] == "capability:unknown"
