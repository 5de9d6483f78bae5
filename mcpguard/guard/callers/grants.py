"""How agents come to be callers, and how they cease to be.

Rules kept here:
1. A token is made here, told once to whoever asked for it, and kept nowhere.
2. A grant, or its end, is one transaction with its record, which says who did it and how far the caller may reach.
3. A revocation takes effect before it is stored; a grant after.
4. Who may only tighten may revoke and not grant.
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
from mcpguard.domain.clock import Clock, Ids
from mcpguard.domain.decisions import LONGEST_WHY, Actor, Decision, Undecidable
from mcpguard.domain.grants import ANONYMOUS, LABEL, USUAL_SECONDS, CallerUnknown, Grant, LabelTaken
from mcpguard.guard.callers.callers import Callers, digest_of
from mcpguard.guard.servers import facts
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.policy.intents import BY_HARM
from mcpguard.policy.scopes import within
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import callers as stored

MOST_CALLERS: Final = 1000
LONGEST_SECONDS: Final = 10 * 366 * 86_400
TOKEN_BYTES: Final = 32
PREFIX: Final = "mcpg_"
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class WantedCaller:
    """A caller that somebody wants to be there; `seconds`: for how long, None: until it is revoked."""

    label: str
    scope: Scope
    seconds: int | None = USUAL_SECONDS
    must_declare: bool = False
    manage: bool = False


class Granting:
    """Lets callers in and out."""

    def __init__(self, callers: Callers, ledger: Ledger, clock: Clock, new_id: Ids) -> None:
        self._callers = callers
        self._ledger = ledger
        self._clock = clock
        self._new_id = new_id
        self._changing = anyio.Lock()

    async def add(self, wanted: WantedCaller, decision: Decision) -> tuple[Grant, str]:
        """The new caller, and its token, which nobody is told a second time.

        Raises Forbidden, Undecidable, InvalidName, LabelTaken or LedgerUnavailable, and has changed nothing then.
        """
        decision.by.check_widening()
        _check(wanted, decision)
        with anyio.CancelScope(shield=True):
            async with self._changing:
                decision.by.check()
                self._check_room(wanted.label)
                token = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
                grant = self._granted(wanted, decision.by)
                await self._kept(grant, digest_of(token), decision)
        log.info("caller.granted", caller=grant.caller.id, label=grant.caller.label, by=decision.by.id)
        return grant, token

    async def revoke(self, id_: str, decision: Decision) -> Grant:
        """The caller is none any more. Raises CallerUnknown, Undecidable or LedgerUnavailable; then it still is one."""
        _check_why(decision)
        with anyio.CancelScope(shield=True):
            async with self._changing:
                decision.by.check()
                found = self._callers.find(id_)
                if found is None:
                    raise CallerUnknown("there is no such caller; mcpguard caller list shows those that there are")
                grant, digest = found
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

    def every(self) -> list[dict[str, Any]]:
        """All callers that were not revoked, as JSON."""
        return [self.shown(grant) for grant in self._callers]

    def reaching(self, capability: Capability, effect: Effect) -> list[dict[str, Any]]:
        """Those that may call this, by their scopes, as JSON."""
        return [
            self.shown(grant)
            for grant in self._callers
            if grant.holds(self._clock.now()) and _may(grant.caller.scope, capability, effect)
        ]

    def anonymous_reaches(self, capability: Capability, effect: Effect) -> bool:
        """Whether agents may call this that show no token."""
        caller = self._callers.anonymous
        return caller is not None and _may(caller.scope, capability, effect)

    def shown(self, grant: Grant) -> dict[str, Any]:
        """One of them."""
        caller = grant.caller
        return {
            "id": caller.id,
            "name": caller.label,
            "standing": "active" if grant.holds(self._clock.now()) else "expired",
            **_reach(caller.scope),
            "must_declare": caller.must_declare,
            "manage": caller.manage,
            "created_at": grant.at,
            "created_by": grant.by,
            "expires_at": grant.expires_at,
            "used_at": self._callers.came(caller.id),
        }

    def anonymous(self) -> dict[str, Any]:
        """What agents may do that show no token, as JSON."""
        caller = self._callers.anonymous
        return {"enabled": caller is not None, **_reach(caller.scope if caller else Scope())}

    def _granted(self, wanted: WantedCaller, by: Actor) -> Grant:
        caller = Caller(self._new_id(), wanted.label, wanted.scope, wanted.must_declare, wanted.manage)
        now = self._clock.now()
        return Grant(caller, now, by.id, None if wanted.seconds is None else now + wanted.seconds * 1_000_000)

    def _check_room(self, label: str) -> None:
        if len(list(self._callers)) >= MOST_CALLERS:
            raise Undecidable(f"there are {MOST_CALLERS} callers, as many as may be; revoke one first")
        if self._callers.labelled(label) is not None:
            raise _taken(label)

    async def _kept(self, grant: Grant, digest: bytes, decision: Decision) -> None:
        def keep(connection: Connection, append: Append) -> bool:
            if stored.is_taken(connection, grant.caller.label):  # a failure can come too late: it was stored then
                return False
            stored.put(connection, grant, digest)
            fact = facts.granted(grant, decision)
            append(fact.kind, fact.fields)
            return True

        if not await self._ledger.transact(keep):
            await self._callers.catch_up()
            raise _taken(grant.caller.label)
        self._callers.add(grant, digest)

    def _revoking(self, grant: Grant, decision: Decision) -> Callable[[Connection, Append], None]:
        def revoking(connection: Connection, append: Append) -> None:
            if stored.revoke(connection, grant.caller.id, self._clock.now(), decision.by.id):
                fact = facts.revoked(grant, decision)
                append(fact.kind, fact.fields)

        return revoking


def _check(wanted: WantedCaller, decision: Decision) -> None:
    _check_why(decision)
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
        raise Undecidable("a caller's time is at least a second and at most ten years, or null for no end")


def _check_some(what: str, given: Sequence[str]) -> None:
    if not given:
        raise Undecidable(f"no {what} are named: that caller would reach nothing")
    if len(given) > globs.MOST:
        raise Undecidable(f"at most {globs.MOST} patterns of {what} may be named")


def _check_why(decision: Decision) -> None:
    if len(decision.why) > LONGEST_WHY:
        raise Undecidable(f"the reason is longer than {LONGEST_WHY} characters")


def _taken(label: str) -> LabelTaken:
    return LabelTaken(f"there is a caller {label} already; revoke it first, or choose another name")


def _may(scope: Scope, capability: Capability, effect: Effect) -> bool:
    return effect in scope.effects and within(scope, capability)


def _reach(scope: Scope) -> dict[str, Any]:
    return {"servers": [*scope.servers], "tools": [*scope.tools], "effects": sorted(scope.effects, key=BY_HARM.index)}
