"""A person at work: whoever reviews servers before agents may use them, in tests that are about what comes after."""

from collections.abc import Callable, Iterable

import anyio
import anyio.lowlevel

from mcpguard.app.lifespan import Running
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import Actor, Approval, Decision, ReviewedVersions
from mcpguard.guard.review.confirmations import findings_to_confirm
from tests.patience import PATIENCE

PERSON = Actor.with_full_rights("uid:1000 (reviewer)", "operator socket")
DECISION = Decision(PERSON, "looked at it")


async def seen(now: Running, name: str) -> ReviewedVersions:
    """What somebody sees who looks at this server now."""
    said = await now.guard.queries.server(name)
    return ReviewedVersions(
        Fingerprint(said["fingerprint"]),
        Fingerprint(said["observed"]) if said["observed"] else None,
        {
            (CapabilityKind(each["kind"]), each["name"]): Fingerprint(each["fingerprint"])
            if each["fingerprint"]
            else None
            for each in said["capabilities"]
            if each["present"]
        },
    )


async def approved(now: Running, name: str, may_ask: Iterable[AskKind] = (), prefixes: tuple[str, ...] = ()) -> str:
    """Inspect a server and approve all of it; what it does not declare to be harmless is taken for the worst.

    Returns why it could not be inspected, and empty if it could.
    """
    done = await now.guard.inspecting.inspect(name, DECISION, consent=True, give=frozenset())
    if done.error:
        return done.error
    await approved_as_listed(now, name, may_ask, prefixes)
    return ""


async def approved_as_listed(
    now: Running, name: str, may_ask: Iterable[AskKind] = (), prefixes: tuple[str, ...] = ()
) -> None:
    """Approve all of a server as it is known now."""
    said = await now.guard.queries.server(name)
    effects = {
        each["name"]: Effect.READ if each["declared"] == "read" else Effect.DESTRUCTIVE
        for each in said["capabilities"]
        if each["kind"] == "tool" and each["present"] and each["fingerprint"] and each["standing"] != "blocked"
    }
    known = now.guard.servers.find(name)
    assert known is not None
    approval = Approval(
        await seen(now, name), None, effects, prefixes, frozenset(may_ask), findings_to_confirm(known).rules
    )
    await now.guard.decisions.approve(name, approval, DECISION)


async def again(now: Running, name: str, until: Callable[[], bool]) -> None:
    """Approve all of a server, and what it was permitted, as it is known once `until` says so."""
    known = now.guard.servers.find(name)
    assert known is not None
    with anyio.fail_after(PATIENCE):
        while not until():
            await anyio.lowlevel.checkpoint()
    await approved_as_listed(now, name, known.upstream.may_ask, known.upstream.prefixes)


async def taken_in(now: Running, names: Iterable[str]) -> None:
    """Wait until these servers are connected, and what they list is in force."""
    wanted = {*names}
    with anyio.move_on_after(PATIENCE):
        while not all(in_force(now, name) for name in wanted):
            await anyio.lowlevel.checkpoint()
        return
    raise AssertionError([status for status in now.guard.status().servers if not in_force(now, status.name)])


def in_force(now: Running, name: str) -> bool:
    known = now.guard.servers.find(name)
    return known is not None and now.guard.servers.is_in_force(known)
