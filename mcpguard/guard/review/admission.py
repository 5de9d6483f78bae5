"""Adds, changes and removes servers: the only way in, whoever adds them.

Rules kept here:
1. A new server, or one with a changed launch, is quarantined, whatever its declaration says. A name or launch that was
   blocked once is blocked again, with or without consent to run it unconfined.
2. A declaration must determine what would run; otherwise it is not admitted. Nor is a launch that contains a secret in
   clear, where everybody who may view the server or list processes can read it.
3. What a file declares is changed in that file. A server that is no longer in it is disabled, and keeps its status. A
   reviewer's choice of sandbox does not count as a change, and holds until the launch changes.
4. A change names the revision that it is based on. If there is a newer one, nothing changes.
5. Each change is one transaction with its record, which names the actor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from mcpguard.codec.names import is_unambiguous_name
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Actor, DeclaredElsewhere, NotDeclared, Stale, Undecidable
from mcpguard.domain.servers.launches import DeclaredServer, Launch, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.requests import ServerRequest
from mcpguard.domain.servers.upstreams import Identity, Origin, Transport, Upstream
from mcpguard.guard.review.launch_fingerprints import Fingerprints
from mcpguard.guard.review.package_versions import pinned_arguments
from mcpguard.guard.review.requests import as_json
from mcpguard.guard.servers import facts
from mcpguard.guard.servers.listed_findings import launch_findings
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.standings import ServerChange, Standings
from mcpguard.inspection.definitions.launches import reference_in_code
from mcpguard.policy import quarantine
from mcpguard.policy.pin_changes import mark_identity_changed
from mcpguard.policy.secrets.launches import secret_arguments, secret_in_command, secret_in_url
from mcpguard.settings.entries.members import apply_patch, as_members, read_entry

MOST_SERVERS = 1000
_WRITTEN_OUT: Final = (
    "contains what looks like a secret, readable by anybody who lists processes or views the server; "
    "put it into a file and refer to it as ${file:/path}, or pass it in env"
)
_WRITTEN_IN_URL: Final = (
    "contains what looks like a secret, which logs along the way would keep; pass it in headers, as ${file:/path}"
)
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class DeclarationSource:
    """Where a declaration comes from, and on whose behalf it was made."""

    origin: Origin
    by: Actor
    requester: str = ""


@dataclass(frozen=True, slots=True)
class AddedServer:
    """A server that was added or changed, and notices about members of its entry that were ignored, such as
    approvals."""

    name: str
    notices: tuple[str, ...]


def from_file(path: str = "") -> DeclarationSource:
    """The configuration file as a source; it speaks for whoever may write it."""
    return DeclarationSource(Origin.FILE, Actor.with_full_rights("configuration file", "file", path))


class Admission:
    """Adds servers, changes their declarations, and removes them."""

    def __init__(self, standings: Standings, fingerprints: Fingerprints, new_id: Ids, clock: Clock) -> None:
        self._standings = standings
        self._registry = standings.registry
        self._fingerprints = fingerprints
        self._new_id = new_id
        self._clock = clock

    async def declare(self, declared: Sequence[DeclaredServer], source: DeclarationSource) -> tuple[str, ...]:
        """Take over what the file declares now, and disable what it no longer does. Returns a sentence for each server
        that was not added."""
        refused: list[str] = []
        for one_ in declared:
            known = self._registry.find(one_.name)
            try:
                if known is None:
                    await self._add(one_, source)
                elif known.upstream.origin is source.origin:
                    await self._redeclare(known, one_, source.by)
                else:
                    refused.append(f"{one_.name} was already added by {known.upstream.origin}; rename one of them")
            except (NotDeclared, Undecidable) as error:
                refused.append(f"{one_.name} was not added: {error}")
        names = {one_.name for one_ in declared}
        for known in self._registry:
            if known.upstream.origin is source.origin and known.name not in names and known.declared.enabled:
                await self._withdraw(known, source.by)
        return tuple(refused)

    async def add(
        self,
        label: str,
        members: Mapping[str, object],
        source: DeclarationSource,
        requests: tuple[ServerRequest, ...] = (),
    ) -> AddedServer:
        """Add one server, under exactly this name: only a file's labels are turned into names, as its author cannot be
        asked. Raises NotDeclared, NameTaken or LedgerUnavailable."""
        _check_name(label)
        declared, notices = read_entry(label, members)
        await self._add(replace(declared, requests=requests), source)
        return AddedServer(declared.name, notices)

    def ever_had(self, name: str) -> bool:
        """Tell whether there is or was a server of this name."""
        return any(each.name == name for each in self._registry.ever())

    async def patch(
        self,
        name: str,
        patch: Mapping[str, object],
        revision: int,
        by: Actor,
        requests: tuple[ServerRequest, ...] | None = None,
    ) -> AddedServer:
        """Change a server's declaration, and what is requested beside it: None leaves that as it is.

        Raises Unknown, Stale, NotDeclared, DeclaredElsewhere or LedgerUnavailable.
        """
        known = self._editable(name)
        now, notices = read_entry(known.declared.label, apply_patch(as_members(known.declared), patch))
        # Enabling lets more happen, so it needs the wider right inside a patch, too.
        if now.enabled and not known.declared.enabled:
            by.check_widening()
        # Who changes the sandbox in the declaration means it: an earlier choice of a reviewer no longer counts.
        consented = patch.keys().isdisjoint({"sandbox", "mounts"})
        now = replace(now, name=name, requests=known.declared.requests if requests is None else requests)
        await self._redeclare(known, now, by, revision=revision, consented=consented)
        return AddedServer(name, notices)

    async def pin_version(self, name: str, revision: int, by: Actor) -> AddedServer:
        """Declare exactly the version of its package that was inspected. Raises Undecidable where none is known."""
        if (arguments := pinned_arguments(self._editable(name))) is None:
            raise Undecidable(f"no version of a package is known that {name} could be pinned to; inspect it first")
        return await self.patch(name, {"args": [*arguments]}, revision, by)

    async def remove(self, name: str, revision: int, by: Actor) -> None:
        """Remove a server, and forget nothing of what was decided about it. Raises as `patch`."""
        known = self._editable(name)

        def removed(known: ServerState) -> ServerChange:
            by.check()
            _current(known, revision)
            upstream = replace(quarantine.remove(known.upstream), revision=revision + 1)
            fact = facts.admission(upstream, "removed", by, known.upstream.standing)
            return ServerChange(upstream, known.declared, facts=(fact,))

        await self._standings.change(known, removed)

    async def unconfine(self, known: ServerState, seen: StdioLaunch, by: Actor) -> None:
        """Have a server run without a sandbox, which is another launch than the one that was seen.

        Raises Unknown, Stale or LedgerUnavailable.
        """
        await self._relaunch(known, seen, seen.without_sandbox(), by, "unconfined")

    async def confine(self, known: ServerState, seen: StdioLaunch, by: Actor) -> None:
        """Have a server run in its declared sandbox again. Raises as `unconfine`."""
        await self._relaunch(known, seen, seen.as_declared(), by, "confined")

    async def _relaunch(self, known: ServerState, seen: StdioLaunch, now: StdioLaunch, by: Actor, change: str) -> None:
        def relaunched(known: ServerState) -> ServerChange | None:
            if known.declared.launch != seen:
                raise Stale((f"how {known.name} is launched or reached",))
            return self._redeclared(replace(known.declared, launch=now), by, change, None, known)

        await self._standings.change(known, relaunched)

    async def _withdraw(self, known: ServerState, by: Actor) -> None:
        def withdrawn(known: ServerState) -> ServerChange | None:
            return self._redeclared(replace(known.declared, enabled=False), by, "withdrawn", None, known)

        await self._standings.change(known, withdrawn)

    def _editable(self, name: str) -> ServerState:
        known = self._registry.get(name)
        if known.upstream.origin is Origin.FILE:
            raise DeclaredElsewhere(f"{name} is declared in the configuration file; edit it there")
        return known

    async def _add(self, declared: DeclaredServer, source: DeclarationSource) -> None:
        if len(tuple(self._registry)) >= MOST_SERVERS:
            raise Undecidable(f"there are {MOST_SERVERS} servers, the maximum; remove one first")
        launch = declared.launch
        _check_launch(launch)
        new = Upstream(
            self._new_id(),
            declared.name,
            launch.transport if isinstance(launch, RemoteLaunch) else Transport.STDIO,
            origin=source.origin,
            requester=source.requester or source.by.id,
            identity=Identity(self._fingerprints(launch)),
            revision=1,
        )
        # Compared with every server that there ever was: removing a blocked one and adding it again lifts no block.
        upstream = quarantine.admit(new, self._registry.ever(), self._alike(launch))
        known = ServerState(upstream, replace(declared, since=self._clock.now()))
        said = as_json(declared.requests)
        fact = facts.admission(upstream, "added", source.by, launched=known.launch_findings, requested=said)
        await self._standings.add(known, fact, source.by)

    async def _redeclare(
        self,
        known: ServerState,
        declared: DeclaredServer,
        by: Actor,
        *,
        revision: int | None = None,
        consented: bool = True,
    ) -> None:
        """Change the declaration. `consented`: a reviewer's choice of sandbox is kept, as long as the launch is the
        same."""

        def redeclared(known: ServerState) -> ServerChange | None:
            now = declared.with_consent_of(known.declared) if consented else declared
            return self._redeclared(now, by, "changed", revision, known)

        await self._standings.change(known, redeclared)

    def _redeclared(
        self, declared: DeclaredServer, by: Actor, change: str, revision: int | None, known: ServerState
    ) -> ServerChange | None:
        by.check()
        if revision is not None:
            _current(known, revision)
        if declared == known.declared and declared.requests == known.declared.requests:
            return None
        if declared.launch != known.declared.launch:
            _check_launch(declared.launch)
        launch, before = self._fingerprints(declared.launch), known.upstream
        others = (each for each in self._registry.ever() if each.id != before.id)
        moved = quarantine.relaunch(before, launch, others, self._alike(declared.launch))
        transport = declared.launch.transport
        upstream = replace(moved.upstream, revision=before.revision + 1, transport=transport)
        found, asked = launch_findings(declared.launch), as_json(declared.requests)
        said = [facts.admission(upstream, change, by, before.standing, found, asked)]
        if moved.move is not None:
            said.append(facts.server_move(upstream, moved.move, before))
        another = upstream.identity != before.identity
        declared = replace(declared, since=self._clock.now() if another else known.declared.since)
        outcomes = [(pin, mark_identity_changed(pin)) for pin in known.pins.values()] if another else []
        said += facts.capability_moves(upstream, outcomes)
        return ServerChange(
            upstream, declared, tuple(now.pin for pin, now in outcomes if now.pin != pin), facts=tuple(said)
        )

    def _alike(self, launch: Launch) -> frozenset[Fingerprint]:
        """The fingerprints of a launch with and without its sandbox: if one is blocked, so is the other."""
        both = [launch.without_sandbox(), launch.as_declared()] if isinstance(launch, StdioLaunch) else [launch]
        return frozenset(map(self._fingerprints, both))


def _check_launch(launch: Launch) -> None:
    """Raise NotDeclared for a secret that is written out, and for a reference where it would decide what code runs."""
    match launch:
        case StdioLaunch():
            problems = [f"args[{at}] {_WRITTEN_OUT}" for at in secret_arguments(launch.arguments)]
            if secret_in_command(launch.command):
                problems.append(f"command {_WRITTEN_OUT}")
            if (at := reference_in_code(launch)) is not None:
                problems.append(f"args[{at}] decides what code runs, so it must be written out")
        case RemoteLaunch(url=url):
            problems = [f"url {_WRITTEN_IN_URL}"] if secret_in_url(url) else []
    if problems:
        raise NotDeclared(tuple(problems))


def _check_name(label: str) -> None:
    """Raise NotDeclared for a name that would become another. The sentence repeats nothing that was sent."""
    if not is_unambiguous_name(label):
        form = "1 to 63 of a to z, 0 to 9, - and _, beginning with a letter or digit, without __"
        raise NotDeclared((f"invalid server name; it must be {form}",))


def _current(known: ServerState, revision: int) -> None:
    if known.upstream.revision != revision:
        raise Stale((f"{known.name} was changed meanwhile: it has revision {known.upstream.revision}, not {revision}",))
