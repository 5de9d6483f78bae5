"""Leaving a server in quarantine: it leaves the inbox as it is, comes back once it is another, and nothing runs."""

from dataclasses import replace

import pytest

from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from mcpguard.domain.decisions import ReviewedVersions, Stale, Undecidable, Unknown
from tests import review
from tests.people import NARROW
from tests.web.reviewing import add, approved, decisions, inspected, show, unchanged
from tests.world import World

pytestmark = pytest.mark.anyio
OTHER = Fingerprint("v1:" + "0" * 64)


def waits(guard: World) -> list[str]:
    return [each.known.name for each in guard.now.guard.inbox.every()]


async def test_what_is_left_in_quarantine_leaves_the_inbox_with_all_of_it_and_each_has_its_record(guard: World) -> None:
    server = await inspected(guard)
    assert waits(guard) == ["notes"]
    await guard.now.guard.decisions.reject("notes", await review.seen(guard.now, "notes"), NARROW)
    assert waits(guard) == []
    now = await show(guard)
    assert (now["standing"], now["waiting"], now["generation"]) == ("quarantined", 0, server["generation"])
    (about, *each) = decisions(guard)
    assert (about["answer"], about["before"], about["after"], about["why"]) == (
        "reject",
        "quarantined",
        "quarantined",
        NARROW.why,
    )
    assert {(one["capability"], one["name"]) for one in each} == {
        (one["kind"], one["name"]) for one in server["capabilities"]
    }
    assert {one["decision"] for one in each} == {about["decision"]}
    assert {one["answer"] for one in each} == {"reject"}


async def test_it_is_as_the_store_has_it(guard: World) -> None:
    await inspected(guard)
    await guard.now.guard.decisions.reject("notes", await review.seen(guard.now, "notes"), review.DECISION)
    await guard.now.guard.servers.catch_up("notes")
    assert waits(guard) == []


async def test_it_comes_back_when_it_is_launched_otherwise(guard: World) -> None:
    await add(guard)
    await guard.now.guard.decisions.reject("notes", await review.seen(guard.now, "notes"), review.DECISION)
    assert waits(guard) == []
    await guard.now.guard.admission.patch("notes", {"args": ["-c", "1"]}, 1, review.PERSON)
    assert waits(guard) == ["notes"]


async def test_it_comes_back_when_it_says_what_it_offers_for_the_first_time(guard: World) -> None:
    await add(guard)
    await guard.now.guard.decisions.reject("notes", await review.seen(guard.now, "notes"), review.DECISION)
    assert not await review.approved(guard.now, "notes")
    known = guard.now.guard.servers.find("notes")
    assert known is not None
    assert known.upstream.rejected is None, "and an approval forgets it"


async def test_what_cannot_be_read_does_not_keep_it_in_the_inbox(guard: World) -> None:
    await inspected(guard)
    known = guard.now.guard.servers.find("notes")
    assert known is not None
    key = (CapabilityKind.TOOL, "read_note")
    known.pins = {**known.pins, key: replace(known.pins[key], listed=None)}
    await guard.now.guard.decisions.reject("notes", await review.seen(guard.now, "notes"), review.DECISION)
    assert waits(guard) == []


@pytest.mark.parametrize("what", ["launch", "observed", "capability"])
async def test_what_is_not_as_it_was_seen_is_not_rejected_and_nothing_happens(guard: World, what: str) -> None:
    server = await inspected(guard)
    seen = await review.seen(guard.now, "notes")
    moved = ReviewedVersions(
        OTHER if what == "launch" else seen.launch,
        OTHER if what == "observed" else seen.observed,
        {**seen.capabilities, (CapabilityKind.TOOL, "read_note"): OTHER} if what == "capability" else seen.capabilities,
    )
    with pytest.raises(Stale) as stale:
        await guard.now.guard.decisions.reject("notes", moved, review.DECISION)
    assert len(stale.value.moved) == 1
    assert waits(guard) == ["notes"]
    await unchanged(guard, server, 0)


async def test_an_approved_server_is_not_rejected_and_runs_on(guard: World) -> None:
    server = await approved(guard)
    before = len(decisions(guard))
    with pytest.raises(Undecidable):
        await guard.now.guard.decisions.reject("notes", await review.seen(guard.now, "notes"), review.DECISION)
    await unchanged(guard, server, before)


async def test_what_is_not_there_is_not_rejected(guard: World) -> None:
    with pytest.raises(Unknown):
        guard.now.guard.queries.seen_now("nothing")
    with pytest.raises(Unknown):
        await guard.now.guard.decisions.reject("nothing", ReviewedVersions(OTHER, None, {}), review.DECISION)
