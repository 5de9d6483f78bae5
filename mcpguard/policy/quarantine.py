"""Changes of a server's status, caused by a declaration, an observation, or a reviewer's decision.

Rules kept here:
1. A new server is quarantined, or blocked if its name or its launch was blocked before. No declaration changes that.
2. Only a reviewer's approval of exactly the current identity leads to `approved`, and only after it was observed.
   Another launch or another observation leads back to quarantine.
3. A decision about an identity that is no longer the current one is stale: it has no effect, and reports what changed.
4. A caller can enable only a server that it disabled itself.
5. Every move is in the table of `domain/servers/standing.py` and increases the generation.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Forbidden, Stale, Undecidable
from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.standing import UPSTREAM_MOVES, UpstreamMove, UpstreamStanding, standing_after
from mcpguard.domain.servers.upstreams import Identity, Upstream


class NotInspected(Undecidable):
    """A server that was never inspected cannot be approved."""


@dataclass(frozen=True, slots=True)
class UpstreamChange:
    """The changed server, and the move that it made, if any."""

    upstream: Upstream
    move: UpstreamMove | None = None


def admit(new: Upstream, known: Iterable[Upstream], alike: Collection[Fingerprint] = ()) -> Upstream:
    """Return a new server with its first status. `known`: all servers, with tombstones.

    `alike`: launches that count as its own if they were blocked.
    """
    # A blocked server must not come back under another name, nor another launch under a blocked name.
    blocked = any(_is_blocked(each) and (each.name == new.name or _launched(each, new, alike)) for each in known)
    standing = UpstreamStanding.BLOCKED if blocked else UpstreamStanding.QUARANTINED
    return replace(_unapproved(new), standing=standing, generation=0, removed=False)


def relaunch(
    upstream: Upstream, launch: Fingerprint, known: Iterable[Upstream] = (), alike: Collection[Fingerprint] = ()
) -> UpstreamChange:
    """Return the server after it was declared with this launch. A new launch is unobserved, or blocked as before.

    `known`: all other servers; `alike` as in `admit`.
    """
    if upstream.identity is not None and upstream.identity.launch == launch:
        return UpstreamChange(upstream)
    now = _changed(replace(upstream, identity=Identity(launch), artifact=None, inspection=None))
    # The same launch under a fresh name would evade the block otherwise.
    if not any(_is_blocked(each) and _launched(each, now.upstream, alike) for each in known):
        return now
    blocked = replace(_unapproved(now.upstream), standing=UpstreamStanding.BLOCKED)
    return UpstreamChange(replace(blocked, generation=upstream.generation + 1), now.move)


def observe(upstream: Upstream, seen: Fingerprint, artifact: str | None = None) -> UpstreamChange:
    """Return the server after it ran with the observed identity `seen`. `artifact`: what ran, which `seen` covers.

    A failed inspection before that is forgotten.
    """
    upstream = replace(upstream, artifact=artifact, inspection=None)
    if upstream.identity is None or upstream.identity.observed == seen:
        return UpstreamChange(upstream)
    return _changed(replace(upstream, identity=replace(upstream.identity, observed=seen)))


def mark_altered(upstream: Upstream) -> UpstreamChange:
    """Return the server after its program turned out to be another one than the observed; it is unobserved now."""
    return _changed(replace(upstream, identity=_unobserved(upstream.identity), artifact=None))


def approve(
    upstream: Upstream,
    seen: Identity,
    findings_read: frozenset[str] = frozenset(),
    launch: Fingerprint | None = None,
    known: Iterable[Upstream] = (),
) -> UpstreamChange:
    """Approve the identity that the reviewer saw. Raises Stale, NotInspected, Undecidable or IllegalMove.

    `findings_read`: the rules of the findings in its launch that they confirm to have read. `launch`: the launch from
    now on, if they choose another confinement; it must not be a blocked one. `known`: all other servers.
    """
    if upstream.identity is None or upstream.identity.observed is None:
        raise NotInspected(f"{upstream.name} was never inspected; inspect it before you approve it")
    if seen != upstream.identity:
        raise Stale((f"{upstream.name} has another identity (reviewed {seen}; now {upstream.identity})",))
    now = seen if launch is None else replace(seen, launch=launch)
    if now != seen and any(_is_blocked(each) and each.identity and each.identity.launch == launch for each in known):
        raise Undecidable(f"{upstream.name} would be launched like a blocked server; choose another sandbox or mounts")
    if upstream.standing is UpstreamStanding.APPROVED:
        # Another choice of its capabilities may be approved; its own status stays.
        same = replace(upstream, findings_read=upstream.findings_read | findings_read)
        if now == seen:
            return UpstreamChange(same)
        return UpstreamChange(replace(same, identity=now, approved=now, generation=upstream.generation + 1))
    approved = replace(upstream, identity=now, approved=now, rejected=None, findings_read=findings_read)
    return _move(approved, UpstreamMove.APPROVE)


def reject(upstream: Upstream, seen: Identity) -> Upstream:
    """Remove the server with this identity from the inbox; the status stays. Raises Stale or Undecidable."""
    if upstream.standing is not UpstreamStanding.QUARANTINED:
        raise Undecidable(f"{upstream.name} is {upstream.standing}; only a server in quarantine can be rejected")
    if seen != upstream.identity:
        raise Stale((f"{upstream.name} has another identity (reviewed {seen}; now {upstream.identity})",))
    return replace(upstream, rejected=seen)


def quarantine(upstream: Upstream) -> UpstreamChange:
    """Revoke the approval, or lift the block. Raises IllegalMove."""
    return _move(_unapproved(upstream), UpstreamMove.QUARANTINE)


def block(upstream: Upstream, launch: Fingerprint | None = None) -> UpstreamChange:
    """Block the server with every identity. Raises IllegalMove.

    `launch`: the declared launch, if a reviewer had chosen another confinement. That choice ends with the approval, so
    that the server is recognised however it is declared again.
    """
    if launch is not None and upstream.identity is not None and upstream.identity.launch != launch:
        upstream = replace(upstream, identity=Identity(launch), artifact=None)
    return _move(_unapproved(upstream), UpstreamMove.BLOCK)


def disable(upstream: Upstream, caller: str = "") -> Upstream:
    """Disable the server; its status stays. `caller`: the caller who did and may enable it again, empty for a user.

    If a caller has disabled it before, a user's decision replaces theirs. Raises IllegalMove.
    """
    if not upstream.enabled and (caller or not upstream.disabled_by):
        raise IllegalMove(f"{upstream.name} is disabled already")
    return replace(upstream, enabled=False, disabled_by=caller, generation=upstream.generation + 1)


def enable(upstream: Upstream) -> Upstream:
    """Enable the server, whoever has disabled it. Raises IllegalMove."""
    if upstream.enabled:
        raise IllegalMove(f"{upstream.name} is enabled already")
    return replace(upstream, enabled=True, disabled_by="", generation=upstream.generation + 1)


def enable_as_caller(upstream: Upstream, caller: str) -> Upstream:
    """Enable the server for a caller that has disabled it. Raises IllegalMove, or Forbidden if somebody else did."""
    if not upstream.enabled and (not caller or upstream.disabled_by != caller):
        raise Forbidden("it was disabled by somebody else, who has to enable it")
    return enable(upstream)


def remove(upstream: Upstream) -> Upstream:
    """Return the tombstone of the server. Its name is free; its status is remembered."""
    return replace(upstream, removed=True, generation=upstream.generation + 1)


def _changed(upstream: Upstream) -> UpstreamChange:
    if upstream.standing is UpstreamStanding.APPROVED and upstream.identity != upstream.approved:
        return _move(_unapproved(upstream), UpstreamMove.IDENTITY_CHANGED)
    return UpstreamChange(upstream)


def _move(upstream: Upstream, move: UpstreamMove) -> UpstreamChange:
    standing = standing_after(UPSTREAM_MOVES, upstream.standing, move)
    return UpstreamChange(replace(upstream, standing=standing, generation=upstream.generation + 1), move)


def _unapproved(upstream: Upstream) -> Upstream:
    """Return the server without what the approval allowed. A stricter scan of its replies stays."""
    lenient = upstream.screening in (Screening.OFF, Screening.NOTE)
    screening = None if lenient else upstream.screening
    forgotten = replace(upstream, approved=None, may_ask=frozenset(), prefixes=(), screening=screening)
    return replace(forgotten, findings_read=frozenset())


def _unobserved(identity: Identity | None) -> Identity | None:
    return None if identity is None else Identity(identity.launch)


def _is_blocked(upstream: Upstream) -> bool:
    return upstream.standing is UpstreamStanding.BLOCKED


def _launched(one: Upstream, other: Upstream, alike: Collection[Fingerprint]) -> bool:
    """Tell whether both have the same launch, or the launch of `one` counts as that of `other`."""
    if one.identity is None or other.identity is None:
        return False
    return one.identity.launch == other.identity.launch or one.identity.launch in alike
