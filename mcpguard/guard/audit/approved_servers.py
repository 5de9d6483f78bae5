"""The servers that are approved and in force, as a registry tells them, each with a proof by the audit log's key.

Rules kept here:
1. A server is told exactly while agents can call something of it. What is withdrawn is gone at once; whoever keeps a
   copy and asks what has changed hears that it is deleted.
2. The version is a digest of everything that is approved. So it changes whenever that does, and no two approvals share
   one.
3. Nothing that a server says of itself is repeated but the names of its approved tools.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from orjson import OPT_SORT_KEYS, dumps

from mcpguard.domain.callers import Scope
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer, CapabilityKey
from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.upstreams import Upstream
from mcpguard.guard.audit.audit_log import AuditLog
from mcpguard.guard.servers.registry import ServerState
from mcpguard.guard.servers.servers import Servers
from mcpguard.ledger.keys import SigningKey
from mcpguard.policy.scopes import is_server_in_scope

TAG: Final = b"mcpguard/server/1\0"
"""What is put before the signed text, so that the signature fits nothing else."""
_KINDS: Final = tuple(kind.value for kind in (RecordKind.DECIDED, RecordKind.MOVED, RecordKind.ADMITTED))
_NEWEST: Final = 100
"""How many records about a server are looked at for its approval."""


@dataclass(frozen=True, slots=True)
class ApprovedServer:
    """A server that agents may call, or could once. `fingerprint`: of everything approved of it; empty once withdrawn.

    `approved_at`: when a person approved something of it last; `changed_at`: when anything about it changed (UTC,
    microseconds; 0 where the audit log does not say any more).
    """

    name: str
    tools: tuple[str, ...] = ()
    fingerprint: str = ""
    approved_at: int = 0
    changed_at: int = 0

    @property
    def is_withdrawn(self) -> bool:
        return not self.fingerprint

    @property
    def version(self) -> str:
        """The version that stands for this approval."""
        return f"1.0.0-v{self.fingerprint[:16]}" if self.fingerprint else "0.0.0-withdrawn"


@dataclass(frozen=True, slots=True)
class _Told:
    upstream: Upstream
    pins: Mapping[CapabilityKey, Pin]
    server: ApprovedServer


class ApprovedServers:
    """Lists the approved servers. What it has found out of one is kept for as long as nothing about it changes."""

    def __init__(self, servers: Servers, log: AuditLog) -> None:
        self._servers = servers
        self._log = log
        self._told: dict[str, _Told] = {}

    async def in_force(self, scope: Scope | None = None) -> list[ApprovedServer]:
        """The servers that agents may call now, by name; of a scope, what may be in it. Raises StoreUnavailable."""
        wanted = [each for each in self._servers.every() if _is_in(scope, each.name)]
        while changed := [each for each in wanted if each.runs and self._known(each) is None]:
            for each in changed:
                await self._look(each)
        told = [told for each in wanted if each.runs and (told := self._known(each)) is not None]
        return [each for each in told if not each.is_withdrawn]

    async def find(self, name: str, scope: Scope | None = None) -> ApprovedServer | None:
        """The server of this name, if agents may call it now. Raises StoreUnavailable."""
        return next((each for each in await self.in_force(scope) if each.name == name), None)

    async def withdrawn(self, scope: Scope | None = None) -> list[ApprovedServer]:
        """The servers of which something was approved, and of which agents may call nothing now, by name."""
        now = {each.name for each in await self.in_force(scope)}
        gone = sorted({each.name for each in self._servers.ever()} - now)
        told = [await self._with_times(ApprovedServer(name)) for name in gone if _is_in(scope, name)]
        return [each for each in told if each.approved_at]

    def _known(self, known: ServerState) -> ApprovedServer | None:
        """What was found out of a server; None where it has changed since."""
        told = self._told.get(known.upstream.id)
        is_current = told is not None and told.upstream is known.upstream and told.pins is known.pins
        return told.server if told is not None and is_current else None

    async def _look(self, known: ServerState) -> None:
        upstream, pins = known.upstream, known.pins
        server = await self._with_times(_approved(known.name, upstream, pins.values()))
        self._told[upstream.id] = _Told(upstream, pins, server)

    async def _with_times(self, server: ApprovedServer) -> ApprovedServer:
        about = Filter((FilterTerm(FilterKey.SERVER, (server.name,)), FilterTerm(FilterKey.KIND, _KINDS)))
        page = await self._log.page(about, limit=_NEWEST, newest_first=True)
        said = [each["content"] for each in page.records if each["content"]]
        approvals = [each["at"] for each in said if each.get("answer") == Answer.APPROVE]
        return replace(
            server, approved_at=max(approvals, default=0), changed_at=max((each["at"] for each in said), default=0)
        )


def _is_in(scope: Scope | None, server: str) -> bool:
    return scope is None or is_server_in_scope(scope, server)


def approval_proof(server: ApprovedServer, told: Mapping[str, Any], key: SigningKey) -> dict[str, Any]:
    """Return the proof that a person approved this: what was approved and when, signed with all that is told of it."""
    said = {"fingerprint": server.fingerprint, "approvedAt": server.approved_at}
    return {**said, "key": key.public, "signature": key.sign(signed_text(told, said)).hex()}


def signed_text(told: Mapping[str, Any], said: Mapping[str, Any]) -> bytes:
    """Return the bytes that the signature is of: the server as it is told, with the approval, by RFC 8785."""
    return TAG + dumps({"server": told, "approval": said}, option=OPT_SORT_KEYS)


def _approved(name: str, upstream: Upstream, pins: Iterable[Pin]) -> ApprovedServer:
    callable_ = sorted((pin for pin in pins if pin.callable), key=lambda pin: (pin.kind, pin.name))
    if not callable_ or upstream.approved is None:
        return ApprovedServer(name)
    digest = sha256(str(upstream.approved).encode())
    for pin in callable_:
        effect = pin.effect.value if pin.effect is not None else ""
        digest.update(f"\0{pin.kind.value}\0{pin.name}\0{pin.approved}\0{effect}".encode(errors="replace"))
    tools = tuple(pin.name for pin in callable_ if pin.kind is CapabilityKind.TOOL)
    return ApprovedServer(name, tools, digest.hexdigest())
