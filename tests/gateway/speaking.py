"""Clients of a guard, over both transports and in both eras, and a guard in front of one server that the test plays."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from operator import is_
from pathlib import Path
from typing import Any

import anyio.lowlevel

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.launches import DeclaredServer
from mcpguard.domain.servers.listings import Listing
from mcpguard.domain.servers.upstreams import Transport
from tests.gate import DIRECT, Gate, gate, process, remote
from tests.review import approved_as_listed
from tests.simulators.client import RawClient
from tests.simulators.over_http import serving_http
from tests.simulators.over_sse import serving_sse
from tests.simulators.processes import controlled
from tests.simulators.script import Script

HOWS = ("http modern", "http legacy", "stream modern", "stream legacy")
TOKEN, OTHER_TOKEN = "mcpg_one", "mcpg_other"
ONLY = "/mcp/only/"
EVERYTHING = Scope(("*",), ("*",), frozenset(Effect))


def callers(**scopes: Scope) -> Mapping[str, Caller]:
    """A caller for each token, besides the anonymous one."""
    return {token: Caller(f"caller-{token}", token, scope) for token, scope in scopes.items()}


def two_callers() -> Mapping[str, Caller]:
    return callers(**{TOKEN: EVERYTHING, OTHER_TOKEN: EVERYTHING})


def scope(servers: str = "*", tools: str = "*", *effects: Effect) -> Scope:
    return Scope(tuple(servers.split(",")), tuple(tools.split(",")), frozenset(effects or Effect))


@asynccontextmanager
async def speaking(
    guard: Gate, how: str, *, only: str | None = None, token: str | None = None, separator: str | None = None
) -> AsyncIterator[RawClient]:
    """A client that is ready to ask."""
    transport, era = how.split()
    if transport == "stream":
        face = "transparent" if only else "direct"
        said = {"face": face, "only": only, "token": token, "separator": separator}
        async with guard.stream(modern=era == "modern", **said) as client:
            if era == "legacy":
                assert (await client.initialize()).result["serverInfo"]["name"] == "mcpguard"
            yield client
    else:
        path = ONLY + only if only else DIRECT
        path += f"?separator={separator}" if separator else ""
        yield guard.client(path, token=token) if era == "modern" else await guard.legacy(path, token=token)


@asynccontextmanager
async def guarded(
    folder: Path,
    script: Script,
    name: str = "web",
    *,
    over: str = "http",
    callers: Mapping[str, Caller] | None = None,
    declared: dict[str, Any] | None = None,
    **settings: Any,  # noqa: ANN401 - settings
) -> AsyncIterator[Gate]:
    """A guard in front of this server. `declared` are fields of its declaration."""
    async with (
        played(folder, script, name, over=over, **(declared or {})) as server,
        gate(folder, server, callers=callers, **settings) as guard,
    ):
        await guard.ready(name)
        yield guard


@asynccontextmanager
async def played(
    folder: Path,
    script: Script,
    name: str,
    *,
    over: str = "http",
    **more: Any,  # noqa: ANN401 - fields of Declared
) -> AsyncIterator[DeclaredServer]:
    """A server that plays this script, as it is declared."""
    if over == "http":
        async with serving_http(script) as url:
            yield remote(name, url, **more)
    elif over == "sse":
        async with serving_sse(script) as url:
            yield remote(name, url, Transport.SSE, **more)
    else:
        home = folder / name
        home.mkdir()
        async with controlled(script, home) as command:
            yield process(name, [command.command, *command.arguments], **more)


async def changed(guard: Gate, script: Script, kind: str = "tools") -> None:
    """Let the server say that a list is another now, and the guard take in what it lists then."""
    before = _listings(guard)
    await script.changed_list(kind)
    while all(map(is_, _listings(guard), before)):
        if guard.clock.due_within(1):  # it has noticed, and lets a moment pass
            await guard.clock.advance(1)
        await anyio.lowlevel.checkpoint()


async def changed_and_approved(guard: Gate, script: Script, server: str = "web") -> None:
    """As `changed`, and a person approves all that the server lists then; other servers may be listed meanwhile."""
    await changed(guard, script)
    while not _lists(guard, server, script):
        if guard.clock.due_within(1):
            await guard.clock.advance(1)
        await anyio.lowlevel.checkpoint()
    await approved_as_listed(guard.now, server)


def _lists(guard: Gate, server: str, script: Script) -> bool:
    """Whether what is known of the server is what it offers now."""
    known = guard.now.guard.servers.find(server)
    listing = known.listing if known is not None else None
    if listing is None:
        return False
    said = (listing.tools, listing.resources, listing.templates, listing.prompts)
    offered = (script.tools, script.resources, script.templates, script.prompts)
    return all(list(ours) == list(theirs) for ours, theirs in zip(said, offered, strict=True))


def _listings(guard: Gate) -> list[Listing | None]:
    servers = guard.now.guard.servers
    found = (servers.find(status.name) for status in servers.status())
    return [known.listing for known in found if known is not None]


async def restarted(guard: Gate, server: str) -> None:
    """Let the guard connect to the server anew, after a pause that grows, and list what it offers now."""
    catalog = guard.now.guard.catalog
    assert guard.now.fleet.restart(server)
    while guard.now.guard.catalog is catalog:
        await guard.clock.advance(1)
        await anyio.lowlevel.checkpoint()
    await guard.ready(server)


async def flushed(guard: Gate, kind: str) -> list[dict[str, Any]]:
    """The records of this kind, with everything that is counted by now."""
    await guard.now.guard.tallies.flush()
    return [record for record in guard.said() if record["kind"] == kind]


async def turned_away(guard: Gate) -> dict[tuple[str, str], int]:
    """How often what was turned away, by door and reason."""
    found: dict[tuple[str, str], int] = {}
    for record in await flushed(guard, "turned_away"):
        key = record["door"], record["why"]
        found[key] = found.get(key, 0) + record["count"]
    return found


@contextmanager
def nothing_happens(guard: Gate, *scripts: Script) -> Iterator[None]:
    """In the block no server is asked for anything on a client's account, and no call comes into the ledger."""
    asked, entries = _asked(scripts), len(guard.entries())
    yield
    assert _asked(scripts) == asked
    assert guard.entries()[entries:] == []


@contextmanager
def refused_once(guard: Gate, reason: str, *scripts: Script) -> Iterator[dict[str, Any]]:
    """In the block no server is asked, and one entry says why. It is given when the block has ended."""
    asked, entries, found = _asked(scripts), len(guard.entries()), dict[str, Any]()
    yield found
    assert _asked(scripts) == asked
    (entry,) = guard.entries()[entries:]
    assert (entry["outcome"], entry["executed"], entry["reason"]) == ("refused", "no", reason), entry
    found |= entry


def _asked(scripts: Iterable[Script]) -> list[list[str]]:
    return [[each["method"] for each in script.calls if each.get("method") in ASKED] for script in scripts]


ASKED = {"tools/call", "resources/read", "prompts/get", "completion/complete"}


def same(one: object, other: object) -> bool:
    """Equal as JSON: a boolean is no number, and 1 is not 1.0."""
    return _text(one) == _text(other)


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
