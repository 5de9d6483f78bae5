"""What the ledger says about a call, whatever became of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.calls.bodies import DigestedBody, KeptBody
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import EntryMisused
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.entries import Entry, unconditionally
from tests import postgres
from tests.recording import record
from tests.world import World, world

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres"])
async def guard(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """The same story on both databases."""
    url = {} if request.param == "sqlite" else {"store__url": postgres.fresh_database(server_of(request))}
    async with world(tmp_path, **url) as running:
        yield running


def server_of(request: pytest.FixtureRequest) -> str:
    server: str = request.getfixturevalue("postgres_server")
    return server


def of(guard: World, entry: str) -> list[dict[str, object]]:
    return [record for record in guard.said() if record.get("entry") == entry]


async def test_an_allowed_call_is_opened_before_its_work_and_closed_before_it_is_told(guard: World) -> None:
    opening = guard.opening(arguments=KeptBody(b'{"path":"/tmp"}'))
    seen: list[dict[str, object]] = []

    async def work(entry: Entry) -> Outcome:
        seen.extend(of(guard, entry.id))
        entry.permit()
        return Outcome.answer(KeptBody(b"contents"))

    outcome = await record(guard.now.ledger, opening, work)

    assert outcome.kind is OutcomeKind.ANSWERED
    assert [record["kind"] for record in seen] == ["opened"]
    opened, closed = of(guard, opening.entry)
    assert opened | {"verdict": "allow", "effect": "read", "server": "files", "name": "read_file"} == opened
    assert opened["body_size"] == len(b'{"path":"/tmp"}')
    assert closed | {"outcome": "answered", "executed": "yes", "body_kept": True, "took_us": 0} == closed
    assert guard.verified().whole


async def test_a_denied_call_is_opening_and_closing_and_its_work_never_runs(guard: World) -> None:
    opening = guard.opening(Deny(Reason.SERVER_QUARANTINED))
    ran = False

    async def work(_: Entry) -> Outcome:
        nonlocal ran
        ran = True
        return Outcome.answer()

    outcome = await record(guard.now.ledger, opening, work)

    assert outcome == Outcome.refusal(Reason.SERVER_QUARANTINED)
    assert not ran
    opened, closed = of(guard, opening.entry)
    assert (opened["verdict"], opened["reason"]) == ("deny", "server:quarantined")
    assert (closed["outcome"], closed["executed"], closed["reason"]) == ("refused", "no", "server:quarantined")


async def test_a_held_call_is_sent_only_after_its_release_is_stored(guard: World) -> None:
    opening = guard.opening(Hold(Reason.HOLD_WAITING), Effect.DESTRUCTIVE)

    async def work(entry: Entry) -> Outcome:
        with pytest.raises(EntryMisused):
            entry.permit()
        await entry.release(Allow(), unconditionally)
        assert [record["kind"] for record in of(guard, entry.id)] == ["opened", "released"]
        entry.permit()
        return Outcome.answer()

    assert (await record(guard.now.ledger, opening, work)).kind is OutcomeKind.ANSWERED
    assert [record["kind"] for record in of(guard, opening.entry)] == ["opened", "released", "closed"]


async def test_a_held_call_that_is_denied_hands_out_no_permit(guard: World) -> None:
    opening = guard.opening(Hold(Reason.HOLD_WAITING))

    async def work(entry: Entry) -> Outcome:
        await entry.release(Deny(Reason.HOLD_DENIED), unconditionally)
        with pytest.raises(EntryMisused):
            entry.permit()
        with pytest.raises(EntryMisused):
            await entry.release(Allow(), unconditionally)
        return Outcome.refusal(Reason.HOLD_DENIED)

    assert await record(guard.now.ledger, opening, work) == Outcome.refusal(Reason.HOLD_DENIED)
    assert guard.verified().whole


@pytest.mark.parametrize("sent", [False, True])
async def test_an_exception_before_the_permit_is_a_refusal_and_after_it_unknown(guard: World, sent: bool) -> None:
    opening = guard.opening()

    async def work(entry: Entry) -> Outcome:
        if sent:
            entry.permit()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await record(guard.now.ledger, opening, work)

    closed = of(guard, opening.entry)[-1]
    assert (closed["outcome"], closed["executed"]) == (("unknown", "unknown") if sent else ("refused", "no"))
    assert closed["reason"] == "guard:error"


@pytest.mark.parametrize("sent", [False, True])
async def test_a_cancelled_call_is_closed_as_cancelled(guard: World, sent: bool) -> None:
    opening = guard.opening()

    async def work(entry: Entry) -> Outcome:
        if sent:
            entry.permit()
        scope.cancel()
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.CancelScope() as scope:
        await record(guard.now.ledger, opening, work)

    closed = of(guard, opening.entry)[-1]
    assert (closed["outcome"], closed["executed"]) == ("cancelled", "unknown" if sent else "no")


async def test_work_cannot_claim_what_cannot_be(guard: World) -> None:
    async def sent_and_refused(entry: Entry) -> Outcome:
        entry.permit()
        return Outcome.refusal(Reason.SERVER_UNREACHABLE)

    outcome = await record(guard.now.ledger, guard.opening(), sent_and_refused)
    assert (outcome.kind, outcome.executed) == (OutcomeKind.UNKNOWN, Executed.UNKNOWN)
    assert outcome.reason is Reason.SERVER_UNREACHABLE

    async def answered_without_a_permit(_: Entry) -> Outcome:
        return Outcome.answer()

    outcome = await record(guard.now.ledger, guard.opening(), answered_without_a_permit)
    assert (outcome.kind, outcome.reason) == (OutcomeKind.UNKNOWN, Reason.GUARD_ERROR)


async def test_an_entry_is_of_no_use_after_its_end(guard: World) -> None:
    kept: list[Entry] = []

    async def work(entry: Entry) -> Outcome:
        kept.append(entry)
        return Outcome.refusal(Reason.SERVER_UNREACHABLE)

    await record(guard.now.ledger, guard.opening(), work)
    with pytest.raises(EntryMisused):
        kept[0].permit()
    with pytest.raises(EntryMisused):
        await kept[0].release(Allow(), unconditionally)


async def test_a_body_that_is_not_kept_leaves_only_its_size_and_keyed_digest(guard: World) -> None:
    digest = "hmac-sha256:" + "0" * 64
    opening = guard.opening(arguments=DigestedBody(12, digest))
    await guard.call(opening)
    opened = of(guard, opening.entry)[0]
    assert (opened["body_size"], opened["body_digest"], opened["body_kept"]) == (12, digest, False)
    assert guard.verified().whole
