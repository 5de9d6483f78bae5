"""Everything that is trust at one moment, and whether there is more of it at another.

Rules kept here:
1. More than before is whatever lets somebody do, start or ask something that they could not: a standing nearer to
   `approved`, less harm said of what is called, another definition or launch behind an approval, a wider scope.
2. Less is none of that, and neither is a server that is new and waits for a person.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.json import SettingValue
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy.intents import BY_HARM
from mcpguard.settings.confirmation import looser_settings
from mcpguard.settings.fields import public_values
from mcpguard.store.rows import confirmed_settings
from tests.gate import Gate

STANDINGS = {"blocked": 0, "pending": 1, "changed": 1, "quarantined": 1, "approved": 2}


@dataclass(frozen=True)
class Thing:
    """A capability: what was approved of it, and for what it was taken."""

    standing: str = "pending"
    effect: Effect | None = None
    approved: str = ""


@dataclass(frozen=True)
class Server:
    """`launch`: what is started or contacted in its name; `connected`: whether it is at this moment."""

    standing: str = "quarantined"
    enabled: bool = False
    launch: str = ""
    connected: bool = False
    may_ask: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    things: Mapping[str, Thing] = field(default_factory=dict)


@dataclass(frozen=True)
class Trust:
    """Of a whole guard. Whoever is no caller has no entry among the callers."""

    servers: Mapping[str, Server] = field(default_factory=dict)
    callers: Mapping[str, Caller] = field(default_factory=dict)
    confirmed: Mapping[str, SettingValue] = field(default_factory=dict)
    settings: Mapping[str, SettingValue] = field(default_factory=dict)


def wider(before: Trust, after: Trust) -> frozenset[str]:
    """What is wider than it was, each as `where: what`."""
    return frozenset(_wider(before, after))


def _wider(before: Trust, after: Trust) -> Iterator[str]:
    for name, server in after.servers.items():
        old = before.servers.get(name)
        yield from (f"{name}: {what}" for what in _of_server(old or Server(enabled=server.enabled), server))
    for id_, caller in after.callers.items():
        was = before.callers.get(id_)
        yield from (f"{id_}: {what}" for what in (["a caller"] if was is None else _of_caller(was, caller)))
    yield from (f"{key}: confirmed" for key in looser_settings(before.confirmed, after.confirmed))
    changed = {key for key, value in after.settings.items() if before.settings.get(key) != value}
    yield from (f"{key}: in force" for key in changed)


def _of_server(old: Server, new: Server) -> Iterator[str]:
    if STANDINGS[new.standing] > STANDINGS[old.standing]:
        yield "standing"
    if new.enabled and not old.enabled:
        yield "enabled"
    if new.standing == "approved" and new.launch != old.launch:
        yield "launch"
    if new.connected and not old.connected and (new.standing != "approved" or not new.enabled):
        yield "connected"
    if not new.may_ask <= old.may_ask:
        yield "may ask"
    if not new.prefixes <= old.prefixes:
        yield "prefixes"
    for name, thing in new.things.items():
        yield from (f"{name} {what}" for what in _of_thing(old.things.get(name, Thing()), thing))


def _of_thing(old: Thing, new: Thing) -> Iterator[str]:
    if STANDINGS[new.standing] > STANDINGS[old.standing]:
        yield "standing"
    if new.standing != "approved":
        return
    if new.approved != old.approved:
        yield "definition"
    if new.effect is not None and (old.effect is None or BY_HARM.index(new.effect) < BY_HARM.index(old.effect)):
        yield "effect"


def _of_caller(old: Caller, new: Caller) -> Iterator[str]:
    for what in ("servers", "tools", "effects"):
        if not {*getattr(new.scope, what)} <= {*getattr(old.scope, what)}:
            yield what
    if old.must_declare and not new.must_declare:
        yield "need not declare"
    if new.manage and not old.manage:
        yield "manage"


def in_force(guard: Gate) -> Trust:
    """What counts at this moment."""
    now = guard.now.guard
    nobody = Caller("anonymous", "anonymous", Scope())
    return Trust(
        {known.name: _server(known, connected=now.servers.is_reachable(known)) for known in now.servers.every()},
        {grant.caller.id: grant.caller for grant in now.callers} | {"anonymous": now.callers.anonymous or nobody},
    )


async def trust(guard: Gate) -> Trust:
    """That, and what counts at the next start."""
    kept = await guard.now.store.readers.run(confirmed_settings.confirmed_values)
    return replace(in_force(guard), confirmed=kept, settings=public_values(guard.now.guard.settings))


def _server(known: ServerState, *, connected: bool) -> Server:
    upstream = known.upstream
    things = {
        f"{kind.value}:{name}": Thing(pin.standing.value, pin.effect, pin.approved.text if pin.approved else "")
        for (kind, name), pin in known.pins.items()
    }
    launch = upstream.identity.launch.text if upstream.identity else ""
    server = Server(upstream.standing.value, known.enabled, launch, connected, things=things)
    return replace(server, may_ask=frozenset(upstream.may_ask), prefixes=frozenset(upstream.prefixes))
