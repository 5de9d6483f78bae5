"""What becomes of an upstream's standing: when it is declared, when it is observed, and when a person decides about it.

Rules kept here:
1. Whatever is new is quarantined; blocked, if its name or its launch was blocked before. Nothing that is declared says
   otherwise.
2. Only a person's approval of exactly the identity that it has now leads to `approved`, and only of one that was
   observed. Another launch or another observation leads back.
3. A decision about another identity than the one it has now is stale: it changes nothing, and says what moved.
4. Whoever holds no person's authority switches on only what itself has switched off.
5. Every move is one that the table of `domain/servers/standing.py` lists, and makes the next generation.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from mcpguard.domain.capabilities import Fingerprint
from mcpguard.domain.decisions import Forbidden, Stale, Undecidable
from mcpguard.domain.errors import IllegalMove
from mcpguard.domain.screening import Screening
from mcpguard.domain.servers.standing import UPSTREAM_MOVES, UpstreamMove, UpstreamStanding, moved
from mcpguard.domain.servers.upstreams import Identity, Upstream


class NotInspected(Undecidable):
    """Nobody can approve what nobody has seen."""


@dataclass(frozen=True, slots=True)
class MovedUpstream:
    """The upstream as it is now, and the move that it made, if it made one."""

    upstream: Upstream
    move: UpstreamMove | None = None


def admitted(new: Upstream, known: Iterable[Upstream], alike: Collection[Fingerprint] = ()) -> Upstream:
    """Something new, as it comes to stand. `known` are all that there are and were, with their tombstones.

    `alike` are launches which count as its own where they were blocked.
    """
    blocked = any(_is_blocked(each) and (each.name == new.name or _launched(each, new, alike)) for each in known)
    standing = UpstreamStanding.BLOCKED if blocked else UpstreamStanding.QUARANTINED
    return replace(_unapproved(new), standing=standing, generation=0, removed=False)


def relaunched(
    upstream: Upstream, launch: Fingerprint, known: Iterable[Upstream] = (), alike: Collection[Fingerprint] = ()
) -> MovedUpstream:
    """It is declared with this launch. A new one was observed by nobody yet; one that was blocked is blocked again.

    `known` are all the others; `alike` as in `admitted`.
    """
    if upstream.identity is not None and upstream.identity.launch == launch:
        return MovedUpstream(upstream)
    now = _changed(replace(upstream, identity=Identity(launch), artifact=None, inspection=None))
    if not any(_is_blocked(each) and _launched(each, now.upstream, alike) for each in known):
        return now
    blocked = replace(_unapproved(now.upstream), standing=UpstreamStanding.BLOCKED)
    return MovedUpstream(replace(blocked, generation=upstream.generation + 1), now.move)


def observed(upstream: Upstream, seen: Fingerprint, artifact: str | None = None) -> MovedUpstream:
    """It ran, and this is what it said of itself. `artifact` is what ran, which `seen` covers.

    That an earlier inspection failed says nothing any more.
    """
    upstream = replace(upstream, artifact=artifact, inspection=None)
    if upstream.identity is None or upstream.identity.observed == seen:
        return MovedUpstream(upstream)
    return _changed(replace(upstream, identity=replace(upstream.identity, observed=seen)))


def altered(upstream: Upstream) -> MovedUpstream:
    """What would run is not what was observed; nobody has observed that yet."""
    return _changed(replace(upstream, identity=_unobserved(upstream.identity), artifact=None))


def approve(
    upstream: Upstream,
    seen: Identity,
    findings_read: frozenset[str] = frozenset(),
    launch: Fingerprint | None = None,
    known: Iterable[Upstream] = (),
) -> MovedUpstream:
    """A person approves who they saw. Raises Stale, NotInspected, Undecidable or IllegalMove.

    `findings_read`: the rules of the findings in its launch that they say to have read. `launch`: how it is launched
    from now on, where they decide how it is confined; none that was blocked. `known` are all the others.
    """
    if upstream.identity is None or upstream.identity.observed is None:
        raise NotInspected(f"{upstream.name} was never inspected, so nobody can approve it")
    if seen != upstream.identity:
        raise Stale((f"{upstream.name} is another now: seen {seen}, now {upstream.identity}",))
    now = seen if launch is None else replace(seen, launch=launch)
    if now != seen and any(_is_blocked(each) and each.identity and each.identity.launch == launch for each in known):
        raise Undecidable(f"{upstream.name} would be launched as a server that is blocked")
    if upstream.standing is UpstreamStanding.APPROVED:
        # What is approved of it may be another choice; its own standing is the same.
        same = replace(upstream, findings_read=upstream.findings_read | findings_read)
        if now == seen:
            return MovedUpstream(same)
        return MovedUpstream(replace(same, identity=now, approved=now, generation=upstream.generation + 1))
    approved = replace(upstream, identity=now, approved=now, rejected=None, findings_read=findings_read)
    return _move(approved, UpstreamMove.APPROVE)


def reject(upstream: Upstream, seen: Identity) -> Upstream:
    """A person sends it out of the inbox, as who they saw; it stands where it stood. Raises Stale or Undecidable."""
    if upstream.standing is not UpstreamStanding.QUARANTINED:
        raise Undecidable(f"{upstream.name} is {upstream.standing}; only what is in quarantine can be left there")
    if seen != upstream.identity:
        raise Stale((f"{upstream.name} is another now: seen {seen}, now {upstream.identity}",))
    return replace(upstream, rejected=seen)


def quarantine(upstream: Upstream) -> MovedUpstream:
    """A person takes the approval, or the block, back. Raises IllegalMove."""
    return _move(_unapproved(upstream), UpstreamMove.QUARANTINE)


def block(upstream: Upstream, launch: Fingerprint | None = None) -> MovedUpstream:
    """A person blocks it, whoever it is. Raises IllegalMove.

    `launch`: as it is declared, where a person had decided to confine it otherwise. That goes with the approval, so
    that the server is known again however it comes back.
    """
    if launch is not None and upstream.identity is not None and upstream.identity.launch != launch:
        upstream = replace(upstream, identity=Identity(launch), artifact=None)
    return _move(_unapproved(upstream), UpstreamMove.BLOCK)


def disabled(upstream: Upstream, caller: str = "") -> Upstream:
    """It is switched off, and stands where it stood. `caller`: who may take that back, where it was not a person.

    A person makes it theirs where a caller has switched it off before. Raises IllegalMove.
    """
    if not upstream.enabled and (caller or not upstream.disabled_by):
        raise IllegalMove(f"{upstream.name} is disabled already")
    return replace(upstream, enabled=False, disabled_by=caller, generation=upstream.generation + 1)


def enabled(upstream: Upstream) -> Upstream:
    """It is not switched off any more, whoever did it. Raises IllegalMove."""
    if upstream.enabled:
        raise IllegalMove(f"{upstream.name} is enabled already")
    return replace(upstream, enabled=True, disabled_by="", generation=upstream.generation + 1)


def enabled_again(upstream: Upstream, caller: str) -> Upstream:
    """As `enabled`, by a caller, who may take back what itself did and nothing else. Raises also Forbidden."""
    if not upstream.enabled and (not caller or upstream.disabled_by != caller):
        raise Forbidden("somebody else has switched it off")
    return enabled(upstream)


def removed(upstream: Upstream) -> Upstream:
    """Nothing stands under the name any more. How it stood is not forgotten."""
    return replace(upstream, removed=True, generation=upstream.generation + 1)


def _changed(upstream: Upstream) -> MovedUpstream:
    if upstream.standing is UpstreamStanding.APPROVED and upstream.identity != upstream.approved:
        return _move(_unapproved(upstream), UpstreamMove.IDENTITY_CHANGED)
    return MovedUpstream(upstream)


def _move(upstream: Upstream, move: UpstreamMove) -> MovedUpstream:
    standing = moved(UPSTREAM_MOVES, upstream.standing, move)
    return MovedUpstream(replace(upstream, standing=standing, generation=upstream.generation + 1), move)


def _unapproved(upstream: Upstream) -> Upstream:
    """What a person allowed it goes with the approval; that it is screened more strictly than others stays."""
    lenient = upstream.screening in (Screening.OFF, Screening.NOTE)
    screening = None if lenient else upstream.screening
    forgotten = replace(upstream, approved=None, may_ask=frozenset(), prefixes=(), screening=screening)
    return replace(forgotten, findings_read=frozenset())


def _unobserved(identity: Identity | None) -> Identity | None:
    return None if identity is None else Identity(identity.launch)


def _is_blocked(upstream: Upstream) -> bool:
    return upstream.standing is UpstreamStanding.BLOCKED


def _launched(one: Upstream, other: Upstream, alike: Collection[Fingerprint]) -> bool:
    """Whether the one is launched as the other, or in a way that counts as that."""
    if one.identity is None or other.identity is None:
        return False
    return one.identity.launch == other.identity.launch or one.identity.launch in alike
