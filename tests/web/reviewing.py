"""What an operator does with servers over REST, for tests of the answers."""

import sys
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import httpx2

from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from tests.patience import PATIENCE
from tests.process import ROOT
from tests.web.conforming import conforms
from tests.world import World

SERVERS = "/api/v1/servers"
WHY = "looked at every word of it"
HONEST: dict[str, Any] = {
    "command": sys.executable,
    "args": ["-m", "mcpguard.demo", "honest"],
    "cwd": str(ROOT),
    "sandbox": "none",
}
POISONED: dict[str, Any] = {**HONEST, "args": ["-m", "mcpguard.demo", "poisoned"]}
SOURCES = str(ROOT / "mcpguard")
CONFINED: dict[str, Any] = {"cwd": None, "sandbox": "strict", "mounts": [SOURCES]}
"""What lets it run confined."""
Json = dict[str, Any]
DECIDED = (
    "approved", "capabilities", "enabled", "fingerprint", "generation", "may_ask", "observed", "prefixes", "revision",
    "standing",
)  # fmt: skip
"""Of a server what people decide, and what they decide about; not how the connection to it is."""
OTHER = Fingerprint("v1:" + "0" * 64)
"""Of nothing that any server lists."""
KEY = (CapabilityKind.TOOL, "read_note")
"""What an honest server lists among others."""


async def add(guard: World, name: str = "notes", **config: Any) -> Json:  # noqa: ANN401 - JSON
    """A server that nobody has looked at."""
    added: Json = said(await guard.operator.post(SERVERS, json={"name": name, "config": HONEST | config}), 201)
    return added


async def inspected(guard: World, name: str = "notes", **config: Any) -> Json:  # noqa: ANN401 - JSON
    """A server that has listed what it offers, and waits for a person."""
    await add(guard, name, **config)
    said(await guard.operator.post(f"{SERVERS}/{name}/inspect", json={"why": WHY, "consent": True}))
    return await show(guard, name)


async def approved(guard: World, name: str = "notes", **more: Any) -> Json:  # noqa: ANN401 - JSON
    """A server that a person has approved, with everything that it offers unless `more` says otherwise."""
    server = await inspected(guard, name)
    said(await guard.operator.post(f"{SERVERS}/{name}/approve", json={"why": WHY, "seen": seen(server), **more}))
    return await show(guard, name)


async def show(guard: World, name: str = "notes") -> Json:
    shown: Json = said(await guard.operator.get(f"{SERVERS}/{name}"))
    return shown


async def decide(guard: World, answer: str, tool: str, **more: Any) -> httpx2.Response:  # noqa: ANN401 - JSON
    """A decision about a tool of `notes`."""
    body = {"why": WHY, "kind": "tool", "name": tool, **more}
    return await guard.operator.post(f"{SERVERS}/notes/capability/{answer}", json=body)


async def ready(guard: World, tool: str) -> Json:
    """Why a tool of `notes` can be called or not, once it is known whether its server connects."""
    with anyio.fail_after(PATIENCE):
        while True:
            query = {"kind": "tool", "name": tool}
            answer: Json = said(await guard.operator.get(f"{SERVERS}/notes/capability/explain", params=query))
            if answer["answer"] != "retry":
                return answer
            await anyio.lowlevel.checkpoint()


def seen(server: Json) -> Json:
    """What somebody has seen who looked at this answer."""
    capabilities = {
        f"{each['kind']}:{each['name']}": each["fingerprint"] for each in server["capabilities"] if each["present"]
    }
    return {"launch": server["fingerprint"], "observed": server["observed"], "capabilities": capabilities}


def tool(server: Json, name: str) -> Json:
    (found,) = (each for each in server["capabilities"] if (each["kind"], each["name"]) == ("tool", name))
    return dict(found)


def standings(server: Json) -> dict[str, str]:
    return {f"{each['kind']}:{each['name']}": each["standing"] for each in server["capabilities"]}


def said(answer: httpx2.Response, status: int = 200) -> Any:  # noqa: ANN401 - JSON
    """What an answer of the API says, which is what its document says that it does."""
    conforms(answer)
    assert answer.status_code == status, answer.text
    return answer.json()


def problem(answer: httpx2.Response, status: int) -> Json:
    """What a refusal says."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    told: Json = said(answer, status)
    assert told["status"] == status
    assert told["title"]
    assert told["detail"]
    return told


def decisions(guard: World) -> list[Json]:
    return [record for record in guard.said() if record["kind"] == "decided"]


async def unchanged(guard: World, before: Json, records: int) -> None:
    """Nothing happened: all stands as before, and nothing says that anybody decided."""
    now = await show(guard, before["name"])
    assert {key: now[key] for key in DECIDED} == {key: before[key] for key in DECIDED}
    assert len(decisions(guard)) == records


def moved_on(guard: World, name: str = "notes") -> None:
    """The server lists one of its tools otherwise, from now on."""
    known = guard.now.guard.servers.find(name)
    assert known is not None
    known.pins = {**known.pins, KEY: replace(known.pins[KEY], listed=OTHER)}
