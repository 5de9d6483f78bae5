"""Servers and capabilities as JSON, the same for pages, the API and commands.

Rules kept here:
1. No secret is shown: environment variables and headers appear in clear only as references, literal values only by
   name. What decides which code runs is shown, as a reviewer has to judge it.
2. Text of a server is passed on unchanged, and beside it in a form in which nothing can hide.
3. Slow work runs in a thread.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Final

from anyio import to_thread

from mcpguard.codec.exact import read_back
from mcpguard.codec.findings import as_json
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import CapabilityKey, ReviewedVersions, Unknown
from mcpguard.domain.findings import InspectionFindings
from mcpguard.domain.json import Json
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import DeclaredServer, Launch, Profile, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.needs import NeedSign
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Identity
from mcpguard.guard.calls.explanation import ANYBODY, explain
from mcpguard.guard.calls.judgement import CallJudge
from mcpguard.guard.review import etags
from mcpguard.guard.review.change_additions import AdditionReader, compare_versions
from mcpguard.guard.review.inbox import Inbox
from mcpguard.guard.review.package_versions import pinned_arguments
from mcpguard.guard.review.sandbox_needs import SandboxNeeds
from mcpguard.guard.review.staleness import differences, standing_now
from mcpguard.guard.servers.listed_findings import ListedFindings
from mcpguard.guard.servers.neighbours import Neighbours
from mcpguard.guard.servers.registry import Registry, ServerState
from mcpguard.guard.servers.review_advice import advise
from mcpguard.guard.servers.servers import Servers
from mcpguard.guard.servers.status import SandboxStatus
from mcpguard.guard.servers.tool_effects import EffectReader, ToolEffects
from mcpguard.inspection.definitions.told_findings import told_findings, told_launch_findings
from mcpguard.inspection.diff.clipping import clip, value_as_text
from mcpguard.policy.secrets.launches import shown_arguments, shown_command, shown_url
from mcpguard.settings.entries.references import parts
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import versions
from mcpguard.store.rows.versions import Version
from mcpguard.upstreams.sandbox.unmounted_paths import unmounted_paths

_SCHEME: Final = re.compile(r"(Bearer|Basic|Token) +\$\{[^{}]*\}", re.IGNORECASE)
MOST_SHOWN: Final = 60_000
LARGEST_DEFINITION: Final = 1024 * 1024
Left = Mapping[CapabilityKey | None, frozenset[str]]
"""The rules of grave findings that nobody confirmed reading, by capability."""


class ServerQueries:
    """Answers questions about servers, as JSON."""

    def __init__(
        self,
        registry: Registry,
        servers: Servers,
        judging: CallJudge,
        effects: EffectReader,
        store: Store,
        needing: SandboxNeeds,
        sandbox: SandboxStatus,
    ) -> None:
        self._registry = registry
        self.inbox = Inbox(registry)
        self.additions = AdditionReader(registry, store)
        self._neighbours = Neighbours(registry)
        self._servers = servers
        self._judging = judging
        self._effects = effects
        self._store = store
        self._needing = needing
        self._sandbox = sandbox

    def servers(self) -> list[Json]:
        return [asdict(self._servers.status_of(known)) for known in self._registry]

    def tag(self, name: str, key: CapabilityKey | None = None) -> str:
        """The tag of a server, or of one of its capabilities, at this moment (`etags`). Raises Unknown."""
        known = self._registry.get(name)
        return etags.of_server(known) if key is None else etags.of_capability(known, key)

    def seen_now(self, name: str) -> ReviewedVersions:
        """What a reviewer sees who looks at a server at this moment. Raises Unknown."""
        return standing_now(self._registry.get(name))

    async def server(self, name: str) -> Json:
        """Everything about one server. Raises Unknown."""
        known = self._registry.get(name)
        told = await self._effects.by_fingerprint(known.pins.values())
        upstream = known.upstream
        observed = upstream.identity.observed if upstream.identity else None
        left, launch = known.unread_approvals(), shown_launch(known.declared)
        status = asdict(self._servers.status_of(known))
        if upstream.inspection is not None and status["failed_inspection"] is not None:
            status["failed_inspection"]["wrote"] = list(upstream.inspection.wrote)
        return {
            **status,
            "id": upstream.id,
            "label": known.declared.label,
            "generation": upstream.generation,
            "observed": observed.text if observed else None,
            "artifact": upstream.artifact,
            "pinned_arguments": None if (pinned := pinned_arguments(known)) is None else [*shown_arguments(pinned)],
            "approved": _identity(upstream.approved),
            "launch": launch,
            "confinement": self._confinement(known.declared.launch, await self._needing.signs(known, told)),
            "requested": [asdict(each) for each in known.declared.requests],
            "may_ask": sorted(upstream.may_ask),
            "prefixes": list(upstream.prefixes),
            "screening": self._servers.screening(name).value,
            "screening_decided": upstream.screening is not None,
            "findings": told_launch_findings(known.own_findings.findings, launch),
            "advice": _advice(known, inspected=observed is not None),
            "unread_itself": sorted(left.get(None, ())),
            "capabilities": await to_thread.run_sync(_capabilities, known.pins, known.found, told, left),
        }

    async def definitions(self, name: str) -> Mapping[CapabilityKey, object]:
        """The definitions that a server lists now, as it wrote them, without very long ones. Raises Unknown."""
        known = self._registry.get(name)
        keys = {pin.id: key for key, pin in known.pins.items()}

        def look(connection: Connection) -> dict[CapabilityKey, object]:
            found = versions.current_definitions(connection, known.upstream.id, LARGEST_DEFINITION)
            return {keys[id_]: read_back(each) for id_, each in found.items() if id_ in keys}

        return await self._store.readers.run(look)

    def differences(self, name: str, seen: ReviewedVersions) -> tuple[str, ...]:
        """What has changed of a server since somebody saw it, in sentences. Raises Unknown."""
        return differences(self._registry.get(name), seen)

    async def capability(self, name: str, key: CapabilityKey) -> Json:
        """Everything about one capability: its listed definition, and all versions that were seen. Raises Unknown."""
        known, pin = self._found(name, key)
        told = await self._effects.by_fingerprint([pin])
        seen = await self._store.readers.run(lambda connection: versions.versions_of(connection, pin.id))
        listed = next((each.definition for each in seen if each.fingerprint == pin.listed), None)
        small = listed is not None and len(listed) <= LARGEST_DEFINITION
        shown, places = "", list[Json]()
        if listed is not None:
            shown, places = await to_thread.run_sync(_shown, listed, known.found.at(pin))
        return {
            **_capability(pin, known.found, told, known.unread_approvals()),
            "findings": places,
            "server": name,
            "definition": read_back(listed) if listed is not None and small else None,
            "complete": listed is not None and small,
            "shown": shown,
            "versions": [_version(each, pin, known) for each in seen],
        }

    async def diff(self, name: str, key: CapabilityKey, before: Fingerprint | None, after: Fingerprint | None) -> Json:
        """The difference between two versions: by default the approved and the listed one. Raises Unknown."""
        known, pin = self._found(name, key)
        seen = await self._store.readers.run(lambda connection: versions.versions_of(connection, pin.id))
        by_print = {each.fingerprint: each for each in seen}
        old = _wanted(by_print, before or pin.approved or (seen[-2].fingerprint if len(seen) > 1 else pin.listed))
        new = _wanted(by_print, after or pin.listed)
        surroundings = self._neighbours.surroundings_of(known)
        said = await to_thread.run_sync(compare_versions, old.definition, new.definition, surroundings)
        prints = {"before": old.fingerprint.text, "after": new.fingerprint.text}
        return {"server": name, "kind": pin.kind.value, "name": pin.name, **prints, **said}

    def _confinement(self, launch: Launch, signs: Iterable[NeedSign]) -> Json | None:
        """The sandbox of a server, and what it probably needs besides. None for a server that we do not start."""
        if not isinstance(launch, StdioLaunch):
            return None
        return {
            "profile": launch.profile.value,
            "means": launch.profile.sentence,
            "declared": launch.as_declared().profile.value,
            "chosen": launch.instead_of is not None,
            "mounts": [str(mount) for mount in launch.mounts],
            "unseen": list(unmounted_paths(launch)),
            "needs": [{"need": each.need.value, "seen": each.seen, "remedy": each.need.remedy} for each in signs],
            "impossible": None if self._sandbox.works or launch.profile is Profile.NONE else self._sandbox.why,
        }

    async def explain(self, name: str, key: CapabilityKey) -> Json:
        """Why a capability can be called now, or why not. Raises Unknown for a server that is not there."""
        known = self._registry.get(name)
        return await explain(known, key, self._judging, ANYBODY)

    def _found(self, name: str, key: CapabilityKey) -> tuple[ServerState, Pin]:
        known = self._registry.get(name)
        return known, known.pin(key)


def _wanted(seen: Mapping[Fingerprint, Version], fingerprint: Fingerprint | None) -> Version:
    version = seen.get(fingerprint) if fingerprint else None
    if version is None:
        raise Unknown("this version is not kept, or never existed")
    return version


def _shown(definition: bytes, found: InspectionFindings) -> tuple[str, list[Json]]:
    """A definition as text, and its findings, each with an excerpt of its place and what that decodes to."""
    said = read_back(definition)
    return clip(value_as_text(said), MOST_SHOWN), told_findings(found.findings, said)


def _capabilities(
    pins: Mapping[CapabilityKey, Pin], found: ListedFindings, told: Mapping[Fingerprint, ToolEffects], left: Left
) -> list[Json]:
    """All capabilities of a server. There may be thousands, so this runs in a thread."""
    return [_capability(pin, found, told, left) for _, pin in sorted(pins.items())]


def _capability(pin: Pin, every: ListedFindings, told: Mapping[Fingerprint, ToolEffects], left: Left) -> Json:
    said = told.get(pin.listed) if pin.listed else None
    found = every.at(pin)
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
        "needs_tasks": said is not None and said.tasks,
        "assigned": pin.effect.value if pin.effect else None,
        "risk": found.risk,
        "flagged": found.flagged,
        "unread": sorted(left.get((pin.kind, pin.name), ())),
        "findings": [as_json(each) for each in found.findings],
    }


def _version(version: Version, pin: Pin, known: ServerState) -> Json:
    now = version.fingerprint == pin.listed and pin.present and known.listed_at is not None
    return {
        "fingerprint": version.fingerprint.text,
        "first_seen": version.first_seen,
        "last_seen": known.listed_at if now else version.last_seen,
        "bytes": len(version.definition),
        "risk": version.found.risk if version.found else 0,
        "findings": [as_json(each) for each in version.found.findings] if version.found else [],
    }


def _advice(known: ServerState, *, inspected: bool) -> Json:
    """What its findings advise a reviewer to do, and what they are about, the worst first."""
    advice = advise(known.findings(), inspected=inspected)
    return {
        "recommendation": advice.recommendation.value,
        "about": [{"kind": each.about, "worst": each.worst.value, "places": len(each.parts)} for each in advice.kinds],
    }


def _identity(identity: Identity | None) -> Json | None:
    if identity is None:
        return None
    return {"launch": identity.launch.text, "observed": identity.observed.text if identity.observed else None}


def shown_launch(declared: DeclaredServer) -> Json:
    match declared.launch:
        case StdioLaunch() as stdio:
            given = [_template(name, value, code=is_code(name)) for name, value in sorted(stdio.environment.items())]
            words = {"command": shown_command(stdio.command), "arguments": [*shown_arguments(stdio.arguments)]}
            said = {**words, "folder": stdio.folder}
            return {**said, "framing": stdio.framing.value, "environment": given}
        case RemoteLaunch(_, url, headers):
            given = [_template(name, value, code=False) for name, value in sorted(headers.items())]
            return {"url": shown_url(url), "headers": given}


def _template(name: str, template: str, *, code: bool) -> Json:
    """A variable or header, with its value only where that is all references, or where it decides what code runs. The
    name of a scheme before a reference, as in `Bearer ${file:…}`, may be shown."""
    written_out = any(isinstance(part, str) for part in parts(template)) and not _SCHEME.fullmatch(template)
    return {"name": name, "value": template if code or not written_out else None, "code": code}
