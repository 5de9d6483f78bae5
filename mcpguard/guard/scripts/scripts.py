"""The scripts as people write them down. Each is a tool of the guard's own server, and waits for approval like one.

Rules kept here:
1. A script is written down with its record in one transaction, and approved by nothing here: what is run is the
   definition that a person approved, never what is stored here.
2. A script names the tools whose holds its approval is to answer, each in the version that is approved at that moment.
   Without a list these are the tools that its program writes out.
3. A program that looks as if it held a secret is refused: everybody who may view servers could read it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from re import compile as pattern
from typing import Any, Final

import anyio

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Stale, Undecidable, Unknown
from mcpguard.domain.scripts import SCRIPTS, Script, StoredScript
from mcpguard.domain.servers.upstreams import Origin, Transport
from mcpguard.engines.code_run import LONGEST_PROGRAM
from mcpguard.guard.programs.program_check import CheckedProgram, check_program
from mcpguard.guard.programs.programs import Programs
from mcpguard.guard.review.admission import Admission, DeclarationSource
from mcpguard.guard.servers.intake import Intake
from mcpguard.guard.servers.registry import ServerState
from mcpguard.ledger.format import without_empty
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.arguments.schemas import is_usable
from mcpguard.policy.intents import BY_HARM
from mcpguard.policy.secrets.detection import find_secrets
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.readers import Readers
from mcpguard.store.rows import scripts as stored_scripts
from mcpguard.upstreams.transports.own import OwnServer

MOST_SCRIPTS: Final = 100
MOST_TOOLS: Final = 100
LONGEST_DESCRIPTION: Final = 4000
MOST_RECORDED: Final = 4000
"""Characters of the names of tools in a record."""
LARGEST_OF_ALL: Final = 2 * 1024 * 1024
"""Bytes of all scripts together, as they are listed in one message."""
PROGRAMS_OFF: Final = "programs are switched off; set code.enabled to true, confirm it and restart the guard"
_NAME: Final = pattern(r"[a-z][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class ScriptRequest:
    """A script as a person wants it. `tools`: as `server:tool` in pairs; None for those that the program names."""

    name: str
    source: str = field(repr=False)
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    tools: tuple[tuple[str, str], ...] | None = None


class Scripts:
    """Writes scripts down, and lists them as tools of the guard's own server."""

    def __init__(
        self,
        programs: Programs,
        admission: Admission,
        intake: Intake,
        own: OwnServer,
        ledger: Ledger,
        clock: Clock,
    ) -> None:
        self._engines = programs.engines
        self._servers = programs.servers
        self._admission = admission
        self._intake = intake
        self._own = own
        self._ledger = ledger
        self._clock = clock
        self._stored: dict[str, StoredScript] = {}
        self._changing = anyio.Lock()

    async def load(self, readers: Readers) -> None:
        """Read all scripts from the store."""
        found = await readers.run(stored_scripts.list_scripts)
        self._stored = {each.script.name: each for each in found}
        self._offer()

    def __iter__(self) -> Iterator[StoredScript]:
        return iter([self._stored[name] for name in sorted(self._stored)])

    def find(self, name: str) -> StoredScript:
        """Return a script as it was written down last. Raises Unknown."""
        found = self._stored.get(name)
        if found is None:
            raise Unknown(f"there is no script {name}" if _NAME.fullmatch(name) else "there is no such script")
        return found

    @property
    def server(self) -> str | None:
        """The name of the server that lists the scripts; None before the first one."""
        known = self._own_server()
        return known.name if known is not None else None

    def script_json(self, stored: StoredScript) -> dict[str, Any]:
        """A script as it was written down last, with its status as a capability."""
        script, known = stored.script, self._own_server()
        pin = known.pins.get((CapabilityKind.TOOL, script.name)) if known is not None else None
        return {
            "name": script.name,
            "description": script.description,
            "code": script.source,
            "input_schema": dict(script.schema),
            "tools": [f"{server}:{tool}" for server, tool in script.tools],
            "effect": script.effect.value,
            "revision": stored.revision,
            "at": stored.at,
            "by": stored.by,
            "standing": pin.standing.value if pin is not None else None,
        }

    def review_json(self, known: ServerState, definition: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The program of a listed script, and the tools whose holds its approval answers; None for anything else."""
        if known.upstream.transport is not Transport.OWN or definition is None:
            return None
        script = Script.from_definition(definition)
        return {"code": script.source, "tools": [self._named(*tool, version) for tool, version in script.tools.items()]}

    def _named(self, server: str, tool: str, version: Fingerprint) -> dict[str, Any]:
        known = self._servers.find(server)
        pin = known.pins.get((CapabilityKind.TOOL, tool)) if known is not None else None
        is_callable = pin is not None and pin.callable
        return {
            "name": f"{server}:{tool}",
            "effect": pin.effect if pin is not None and is_callable else None,
            "current": pin is not None and is_callable and pin.approved == version,
        }

    async def check(self, source: str) -> CheckedProgram:
        """Tell what a program names and whether it is well formed, without running it."""
        return await check_program(self._engines, self._servers, source)

    async def put(self, wanted: ScriptRequest, revision: int, by: Actor) -> StoredScript:
        """Add a script (`revision` 0) or change it. It waits for approval. Raises Undecidable, Stale or
        LedgerUnavailable; then no script has changed.
        """
        _check_form(wanted)
        checked = await self.check(wanted.source)
        if checked.failure is not None:
            line = f"line {checked.failure.line}: " if checked.failure.line else ""
            raise Undecidable(f"the program is not usable: {line}{checked.failure.message}")
        named = wanted.tools
        if named is None:
            named = tuple((each.server, each.tool) for each in checked.tools)
        script = self._script(wanted, named)
        with anyio.CancelScope(shield=True):
            async with self._changing:
                before = self._stored.get(script.name)
                _check_revision(script.name, before, revision)
                self._check_room(script)
                known = await self._server(by)
                by.check()
                after = StoredScript(script, revision + 1, self._clock.now(), by.id)
                change = "added" if before is None else "changed"
                await self._ledger.transact(partial(_store, after, _fields(script, change, revision + 1, by)))
                self._stored[script.name] = after
                await self._list(known, by)
        return after

    async def remove(self, name: str, revision: int, by: Actor) -> None:
        """Remove a script; calls of it are refused from then on. Raises Unknown, Stale or LedgerUnavailable."""
        with anyio.CancelScope(shield=True):
            async with self._changing:
                stored = self.find(name)
                _check_revision(name, stored, revision)
                by.check()
                await self._ledger.transact(partial(_forget, name, _fields(stored.script, "removed", revision, by)))
                del self._stored[name]
                known = self._own_server()
                if known is not None:
                    await self._list(known, by)
                else:
                    self._offer()

    def _script(self, wanted: ScriptRequest, named: tuple[tuple[str, str], ...]) -> Script:
        """Return the script with its tools as they are approved now. Raises Undecidable."""
        if len(named) > MOST_TOOLS:
            raise Undecidable(f"a script names at most {MOST_TOOLS} tools")
        tools, worst = dict[tuple[str, str], Fingerprint](), Effect.READ
        for server, tool in dict.fromkeys(named):
            known = self._servers.find(server)
            pin = known.pins.get((CapabilityKind.TOOL, tool)) if known is not None else None
            if known is None or pin is None or pin.approved is None or pin.effect is None or not pin.callable:
                raise Undecidable(f"{server}:{tool} is not approved; approve it first, or take it out of the script")
            if known.upstream.transport is Transport.OWN:
                raise Undecidable("a script cannot run another script")
            tools[server, tool] = pin.approved
            worst = max(worst, pin.effect, key=BY_HARM.index)
        return Script(wanted.name, wanted.source, tools, worst, wanted.description, wanted.schema)

    def _check_room(self, script: Script) -> None:
        others = [each.script for each in self._stored.values() if each.script.name != script.name]
        if len(others) >= MOST_SCRIPTS:
            raise Undecidable(f"there are {MOST_SCRIPTS} scripts, the maximum; remove one first")
        if sum(len(dumps(each.as_definition())) for each in (*others, script)) > LARGEST_OF_ALL:
            raise Undecidable(f"all scripts together have at most {LARGEST_OF_ALL} bytes; remove one first")

    def _own_server(self) -> ServerState | None:
        return next((each for each in self._servers.every() if each.upstream.transport is Transport.OWN), None)

    async def _server(self, by: Actor) -> ServerState:
        """Return the server that lists the scripts; the first script adds it."""
        known = self._own_server()
        if known is not None:
            return known
        added = await self._admission.add(SCRIPTS, {"type": Transport.OWN.value}, DeclarationSource(Origin.API, by))
        known = self._servers.find(added.name)
        if known is None:
            raise Undecidable(f"the server {SCRIPTS} was removed meanwhile; try again")
        return known

    async def _list(self, known: ServerState, by: Actor) -> None:
        """Have the server list what is written down now.

        Taken in here, too, and not only when its connection lists again: a changed script is refused from now on.
        """
        self._offer()
        await self._intake.take_in(known, known.runnable, self._own.listing, by)

    def _offer(self) -> None:
        self._own.offer(each.script.as_definition() for each in self)


def _check_form(wanted: ScriptRequest) -> None:
    """Raise Undecidable for what cannot be a script, whatever is approved. Nothing that was sent is repeated."""
    if not _NAME.fullmatch(wanted.name):
        raise Undecidable("the name must have 1 to 63 of a to z, 0 to 9, - and _, and begin with a letter")
    if not wanted.source.strip():
        raise Undecidable("the program is empty")
    if len(wanted.source.encode(errors="replace")) > LONGEST_PROGRAM:
        raise Undecidable(f"the program has more than {LONGEST_PROGRAM} bytes")
    if len(wanted.description) > LONGEST_DESCRIPTION:
        raise Undecidable(f"the description is longer than {LONGEST_DESCRIPTION} characters")
    if wanted.schema.get("type") != "object" or not is_usable(wanted.schema, with_patterns=True):
        raise Undecidable('the input schema must be a usable JSON schema with "type": "object"')
    if find_secrets({"source": wanted.source, "description": wanted.description}).sure:
        raise Undecidable("the program contains what looks like a secret, readable by everybody who may view servers")


def _check_revision(name: str, stored: StoredScript | None, revision: int) -> None:
    now = stored.revision if stored is not None else 0
    if now != revision:
        raise Stale((f"the script {name}: it has revision {now}, not {revision}",))


def _fields(script: Script, change: str, revision: int, by: Actor) -> dict[str, Any]:
    return without_empty(
        change=change,
        script=script.name,
        source=sha256(script.source.encode(errors="replace")).hexdigest(),
        tools=" ".join(f"{server}:{tool}" for server, tool in script.tools)[:MOST_RECORDED],
        effect=script.effect.value,
        revision=revision,
        by=by.id,
        via=by.via,
        process=by.process,
    )


def _store(after: StoredScript, fields: Mapping[str, Any], connection: Connection, append: Append) -> None:
    stored_scripts.put(connection, after)
    append(RecordKind.SCRIPT, fields)


def _forget(name: str, fields: Mapping[str, Any], connection: Connection, append: Append) -> None:
    stored_scripts.forget(connection, name)
    append(RecordKind.SCRIPT, fields)


def require_scripts(scripts: Scripts | None) -> Scripts:
    """Return the scripts. Raises Undecidable where no programs may run."""
    if scripts is None:
        raise Undecidable(PROGRAMS_OFF)
    return scripts
