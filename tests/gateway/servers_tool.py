"""Agents that ask for something about servers, and a guard in front of one that came by a person and may be changed."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcpguard.domain.callers import Caller
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from tests.gate import Gate, gate
from tests.gateway.speaking import scope
from tests.review import PERSON, approved
from tests.simulators.client import RawClient
from tests.simulators.over_http import serving_http
from tests.simulators.script import Script
from tests.simulators.words import Json

TOOL = "upstream_servers"
MANAGER, SECOND, NARROW, PLAIN = "mcpg_manager", "mcpg_second", "mcpg_narrow", "mcpg_plain"
CALLERS: Mapping[str, Caller] = {
    MANAGER: Caller("caller-manager", "manager", scope("*"), manage=True),
    SECOND: Caller("caller-second", "second", scope("*"), manage=True),
    NARROW: Caller("caller-narrow", "narrow", scope("mine-*"), manage=True),
    PLAIN: Caller("caller-plain", "plain", scope("*")),
}


@asynccontextmanager
async def managed(folder: Path, script: Script | None = None, **more: Any) -> AsyncIterator[Gate]:  # noqa: ANN401
    """A guard with the callers above, in front of `web`: a person has added it, and approved it."""
    async with serving_http(script or Script()) as url, gate(folder, callers=CALLERS, **more) as guard:
        now = guard.now
        added = {"url": url, "headers": {"x-kept": "as it was"}}
        await now.guard.admission.add("web", added, DeclarationSource(Origin.CLI, PERSON))
        assert not await approved(now, "web")
        await guard.ready("web")
        yield guard


def agent(guard: Gate, token: str | None = MANAGER) -> RawClient:
    return guard.client("/mcp", token=token)


async def asked(guard: Gate, token: str | None = MANAGER, /, **arguments: Any) -> Json:  # noqa: ANN401 - JSON
    """What the tool answers, whatever that is; in text as for programs."""
    result = (await agent(guard, token).call(TOOL, arguments)).result
    if result.get("isError"):
        refusal: Json = result["_meta"]["mcpguard/refusal"]
        assert (refusal["status"], refusal["executed"]) == ("refused", "no")
        assert refusal["message"] in result["content"][0]["text"]
        return refusal
    found: Json = result["structuredContent"]
    assert json.loads(result["content"][0]["text"]) == found
    return found


def administrative(guard: Gate) -> list[Json]:
    """What is recorded of servers and what was decided about them."""
    kinds = ("admitted", "decided", "moved", "inspected")
    return [each for each in guard.said() if each["kind"] in kinds]


def declared(guard: Gate, name: str) -> DeclaredServer:
    known = guard.now.guard.servers.find(name)
    assert known is not None
    return known.declared
