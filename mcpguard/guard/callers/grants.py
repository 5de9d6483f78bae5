"""Creates and revokes callers with their tokens.

Rules kept here:
1. A token is created here, shown once to the person who requested it, and stored nowhere. A caller that is known by a
   name in its client certificate has none.
2. A grant or a revocation is one transaction with its record, which names the actor and the caller's scope.
3. A revocation takes effect before it is stored; a grant after.
4. An actor that may only tighten protection may revoke, but not grant.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio
import structlog

from mcpguard.codec import globs
from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.capabilities import Capability, Effect
from mcpguard.domain.certificates import certificate_name
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import Actor, Decision, Undecidable
from mcpguard.domain.grants import ANONYMOUS, LABEL, USUAL_SECONDS, CallerUnknown, Grant, LabelTaken
from mcpguard.guard.callers.callers import Callers, digest_of
from mcpguard.guard.people.users import check_reason
from mcpguard.guard.servers import facts
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.intents import BY_HARM
from mcpguard.policy.scopes import is_in_scope
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import callers as stored

MOST_CALLERS: Final = 1000
LONGEST_SECONDS: Final = 10 * 366 * 86_400
TOKEN_BYTES: Final = 32
PREFIX: Final = "mcpg_"
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class CallerRequest:
    """A caller to be created; `seconds`: until its token expires, None: never. `certificate`: the name in client
    certificates by which it is known, instead of a token.
    """

    label: str
    scope: Scope
    seconds: int | None = USUAL_SECONDS
    must_declare: bool = False
    manage: bool = False
    certificate: str = ""


class CallerGrants:
    """Creates, revokes and lists callers. `reads_certificates`: whether the guard asks clients for certificates."""

    def __init__(
        self, callers: Callers, ledger: Ledger, clock: Clock, new_id: Ids, *, reads_certificates: bool = False
    ) -> None:
        self._reads_certificates = reads_certificates
        self._callers = callers
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id
        self._changing = anyio.Lock()

    async def add(self, wanted: CallerRequest, decision: Decision) -> tuple[Grant, str]:
        """Create a caller. Returns it with its token, which is never shown again; empty if it is known otherwise.

        Raises Forbidden, Undecidable, InvalidName, LabelTaken or LedgerUnavailable; then nothing has changed.
        """
        decision.by.check_widening()
        _check(wanted, decision)
        certificate = self._certificate(wanted)
        with anyio.CancelScope(shield=True):
            async with self._changing:
                decision.by.check()
                # Under the lock: of two with one name, one is refused.
                self._check_room(wanted.label)
                token = "" if certificate else PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
                grant = self._granted(wanted, certificate, decision.by)
                # No token leads to a caller that has none: random bytes are the digest of no token.
                await self._kept(grant, digest_of(token) if token else secrets.token_bytes(TOKEN_BYTES), decision)
        log.info("caller.granted", caller=grant.caller.id, label=grant.caller.label, by=decision.by.id)
        return grant, token

    async def revoke(self, id_: str, decision: Decision) -> Grant:
        """Revoke a caller. Raises CallerUnknown, Undecidable or LedgerUnavailable; then it is not revoked."""
        check_reason(decision)
        with anyio.CancelScope(shield=True):
            async with self._changing:
                decision.by.check()
                found = self._callers.find(id_)
                if found is None:
                    raise CallerUnknown("there is no such caller; it may have been revoked")
                grant, digest = found
                # Revoked in memory first: no call is allowed while the revocation is being stored.
                self._callers.remove(id_)
                done = False
                try:
                    await self._ledger.transact(self._revoking(grant, decision))
                    done = True
                finally:
                    if not done:
                        self._callers.add(grant, digest)
        log.info("caller.revoked", caller=id_, label=grant.caller.label, by=decision.by.id)
        return grant

    @property
    def count(self) -> int:
        """How many callers there are."""
        return sum(1 for _ in self._callers)

    def callers_json(self) -> list[dict[str, Any]]:
        """All callers that were not revoked, as JSON."""
        return [self.caller_json(grant) for grant in self._callers]

    def callers_in_scope(self, capability: Capability, effect: Effect) -> list[dict[str, Any]]:
        """The callers whose scope contains this capability and effect, as JSON."""
        return [
            self.caller_json(grant)
            for grant in self._callers
            if grant.holds(self._clock.now()) and _may(grant.caller.scope, capability, effect)
        ]

    def anonymous_reaches(self, capability: Capability, effect: Effect) -> bool:
        """Tell whether callers without a token may call this."""
        caller = self._callers.anonymous
        return caller is not None and _may(caller.scope, capability, effect)

    def caller_json(self, grant: Grant) -> dict[str, Any]:
        """One caller as JSON."""
        caller = grant.caller
        return {
            "id": caller.id,
            "name": caller.label,
            "standing": "active" if grant.holds(self._clock.now()) else "expired",
            **_reach(caller.scope),
            "must_declare": caller.must_declare,
            "manage": caller.manage,
            "certificate": grant.certificate or None,
            "created_at": grant.at,
            "created_by": grant.by,
            "expires_at": grant.expires_at,
            "used_at": self._callers.last_seen(caller.id),
        }

    def anonymous_json(self) -> dict[str, Any]:
        """The scope of callers without a token, as JSON."""
        caller = self._callers.anonymous
        return {"enabled": caller is not None, **_reach(caller.scope if caller else Scope())}

    def _certificate(self, wanted: CallerRequest) -> str:
        if not wanted.certificate:
            return ""
        if not self._reads_certificates:
            raise Undecidable("the guard asks for no client certificates; set tls.client_ca and restart it first")
        name = certificate_name(wanted.certificate)
        if any(grant.certificate == name for grant in self._callers):
            raise LabelTaken(f"a caller with the certificate name {name} exists already; revoke it first")
        return name

    def _granted(self, wanted: CallerRequest, certificate: str, by: Actor) -> Grant:
        caller = Caller(self._new_id(), wanted.label, wanted.scope, wanted.must_declare, wanted.manage)
        now = self._clock.now()
        until = None if wanted.seconds is None else now + wanted.seconds * 1_000_000
        return Grant(caller, now, by.id, until, certificate)

    def _check_room(self, label: str) -> None:
        if len(list(self._callers)) >= MOST_CALLERS:
            raise Undecidable(f"there are {MOST_CALLERS} callers, the maximum; revoke one first")
        if self._callers.find_by_label(label) is not None:
            raise _taken(label)

    async def _kept(self, grant: Grant, digest: bytes, decision: Decision) -> None:
        def keep(connection: Connection, append: Append) -> bool:
            # A failure can come too late: it was stored then.
            if stored.is_taken(connection, grant.caller.label, grant.certificate):
                return False
            stored.put(connection, grant, digest)
            fact = facts.grant_fact(grant, decision)
            append(fact.kind, fact.fields)
            return True

        if not await self._ledger.transact(keep):
            await self._callers.catch_up()
            raise _taken(grant.caller.label)
        self._callers.add(grant, digest)

    def _revoking(self, grant: Grant, decision: Decision) -> Callable[[Connection, Append], None]:
        def revoking(connection: Connection, append: Append) -> None:
            if stored.revoke(connection, grant.caller.id, self._clock.now(), decision.by.id):
                fact = facts.revocation(grant, decision)
                append(fact.kind, fact.fields)

        return revoking


def _check(wanted: CallerRequest, decision: Decision) -> None:
    check_reason(decision)
    if LABEL.fullmatch(wanted.label) is None or wanted.label == ANONYMOUS:
        raise Undecidable(
            "the name must have 1 to 63 of a to z, 0 to 9, `-`, `_` and `.`, begin with a letter or digit, "
            f"and not be {ANONYMOUS}"
        )
    for what, patterns in (("servers", wanted.scope.servers), ("tools", wanted.scope.tools)):
        _check_some(what, patterns)
        for pattern in patterns:
            globs.check_pattern(pattern)
    _check_some("effects", tuple(wanted.scope.effects))
    if wanted.seconds is not None and not 0 < wanted.seconds <= LONGEST_SECONDS:
        raise Undecidable("a caller's token must expire within one second to ten years, or be null for never")


def _check_some(what: str, given: Sequence[str]) -> None:
    if not given:
        raise Undecidable(f"name at least one of {what}: this caller would have nothing in scope")
    if len(given) > globs.MOST:
        raise Undecidable(f"at most {globs.MOST} patterns for {what} are allowed")


def _taken(label: str) -> LabelTaken:
    return LabelTaken(f"a caller named {label} exists already; revoke it first, or choose another name")


def _may(scope: Scope, capability: Capability, effect: Effect) -> bool:
    return effect in scope.effects and is_in_scope(scope, capability)


def _reach(scope: Scope) -> dict[str, Any]:
    return {"servers": [*scope.servers], "tools": [*scope.tools], "effects": sorted(scope.effects, key=BY_HARM.index)}
