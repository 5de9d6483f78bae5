"""What people are shown of servers and their capabilities, as JSON: the pages, the API and the commands print it.

Rules kept here:
1. No secret is shown: of the environment and of headers the references in clear, of what was written out only that it
   is there. What decides which code runs is shown, as a person has to judge it.
2. What a server wrote is passed on as it is, and beside it so that nothing hides in it.
3. What takes long is done aside.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from anyio import to_thread

from mcpguard.codec.exact import read_back
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Key, Unknown
from mcpguard.domain.identity import is_code
from mcpguard.domain.launches import Declared, RemoteLaunch, StdioLaunch
from mcpguard.domain.pins import Pin
from mcpguard.domain.upstreams import Identity
from mcpguard.guard.effects import Effects, Told
from mcpguard.guard.explaining import explained
from mcpguard.guard.known import Known, Registry
from mcpguard.guard.servers import Servers
from mcpguard.inspection.diff import compared
from mcpguard.inspection.fitting import fitted, written
from mcpguard.inspection.rendering import rendered
from mcpguard.inspection.shown import as_json
from mcpguard.settings.references import parts
from mcpguard.store import versions
from mcpguard.store.store import Store
from mcpguard.store.versions import Version

MOST_SHOWN: Final = 60_000
LARGEST_DEFINITION: Final = 1024 * 1024
Json = dict[str, Any]


class Queries:
    """Answers what people ask about servers."""

    def __init__(self, registry: Registry, servers: Servers, effects: Effects, store: Store) -> None:
        self._registry = registry
        self._servers = servers
        self._effects = effects
        self._store = store

    def servers(self) -> list[Json]:
        return [asdict(self._servers.status_of(known)) for known in self._registry]

    async def server(self, name: str) -> Json:
        """Everything about one server. Raises Unknown."""
        known = self._registry.get(name)
        told = await self._effects.of(known.pins.values())
        upstream = known.upstream
        observed = upstream.identity.observed if upstream.identity else None
        return {
            **asdict(self._servers.status_of(known)),
            "id": upstream.id,
            "label": known.declared.label,
            "generation": upstream.generation,
            "observed": observed.text if observed else None,
            "approved": _identity(upstream.approved),
            "launch": _launch(known.declared),
            "may_ask": sorted(upstream.may_ask),
            "prefixes": list(upstream.prefixes),
            "findings": [],
            "capabilities": [_capability(pin, told) for _, pin in sorted(known.pins.items())],
        }

    async def capability(self, name: str, key: Key) -> Json:
        """Everything about one capability: what is listed now, and which versions of it were seen. Raises Unknown."""
        known, pin = self._found(name, key)
        told = await self._effects.of([pin])
        seen = await self._store.readers.run(lambda connection: versions.of(connection, pin.id))
        listed = next((each.definition for each in seen if each.fingerprint == pin.listed), None)
        small = listed is not None and len(listed) <= LARGEST_DEFINITION
        return {
            **_capability(pin, told),
            "server": name,
            "definition": read_back(listed) if listed is not None and small else None,
            "complete": listed is not None and small,
            "shown": await to_thread.run_sync(_shown, listed) if listed is not None else "",
            "versions": [_version(each, pin, known) for each in seen],
        }

    async def diff(self, name: str, key: Key, before: Fingerprint | None, after: Fingerprint | None) -> Json:
        """How two versions differ: what was approved and what is listed now, where none is named. Raises Unknown."""
        _, pin = self._found(name, key)
        seen = await self._store.readers.run(lambda connection: versions.of(connection, pin.id))
        by_print = {each.fingerprint: each for each in seen}
        old = _wanted(by_print, before or pin.approved or (seen[-2].fingerprint if len(seen) > 1 else pin.listed))
        new = _wanted(by_print, after or pin.listed)
        said = await to_thread.run_sync(_diff, old.definition, new.definition)
        prints = {"before": old.fingerprint.text, "after": new.fingerprint.text}
        return {"server": name, "kind": pin.kind.value, "name": pin.name, **prints, **said}

    def explain(self, name: str, key: Key) -> Json:
        """Why a capability can be called now, or why not. Raises Unknown for a server that is not there."""
        known = self._registry.get(name)
        return explained(known, key, self._servers)

    def _found(self, name: str, key: Key) -> tuple[Known, Pin]:
        known = self._registry.get(name)
        if key not in known.pins:
            raise Unknown(f"{name} has no {key[0]} {key[1]}; mcpguard tool list {name} shows what it has")
        return known, known.pins[key]


def _wanted(seen: Mapping[Fingerprint, Version], fingerprint: Fingerprint | None) -> Version:
    version = seen.get(fingerprint) if fingerprint else None
    if version is None:
        raise Unknown("there is no such version of it; mcpguard tool show lists those that are kept")
    return version


def _diff(before: bytes, after: bytes) -> Json:
    diff = compared(read_back(before), read_back(after))
    return {**as_json(diff), "text": "\n".join(rendered(diff))}


def _shown(definition: bytes) -> str:
    return fitted(written(read_back(definition)), MOST_SHOWN)


def _capability(pin: Pin, told: Mapping[Fingerprint, Told]) -> Json:
    said = told.get(pin.listed) if pin.listed else None
    return {
        "kind": pin.kind.value,
        "name": pin.name,
        "standing": pin.standing.value,
        "present": pin.present,
        "waits": pin.waits,
        "callable": pin.callable,
        "fingerprint": pin.listed.text if pin.listed else None,
        "approved": pin.approved.text if pin.approved else None,
        "declared": said.declared.value if said and said.declared else None,
        "suggested": said.suggested.effect.value if said else None,
        "because": said.suggested.because if said else None,
        "assigned": pin.effect.value if pin.effect else None,
        "findings": [],
    }


def _version(version: Version, pin: Pin, known: Known) -> Json:
    now = version.fingerprint == pin.listed and pin.present and known.listed_at is not None
    return {
        "fingerprint": version.fingerprint.text,
        "first_seen": version.first_seen,
        "last_seen": known.listed_at if now else version.last_seen,
        "bytes": len(version.definition),
    }


def _identity(identity: Identity | None) -> Json | None:
    if identity is None:
        return None
    return {"launch": identity.launch.text, "observed": identity.observed.text if identity.observed else None}


def _launch(declared: Declared) -> Json:
    match declared.launch:
        case StdioLaunch(command, arguments, environment, folder, framing):
            given = [_template(name, value, code=is_code(name)) for name, value in sorted(environment.items())]
            said = {"command": command, "arguments": list(arguments), "folder": folder, "framing": framing.value}
            return {**said, "environment": given}
        case RemoteLaunch(_, url, headers):
            given = [_template(name, value, code=False) for name, value in sorted(headers.items())]
            return {"url": url, "headers": given}


def _template(name: str, template: str, *, code: bool) -> Json:
    """The value in clear only where it holds nothing that was written out, or where it is code."""
    written_out = any(isinstance(part, str) for part in parts(template))
    return {"name": name, "value": template if code or not written_out else None, "code": code}
