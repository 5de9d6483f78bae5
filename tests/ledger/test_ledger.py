"""The ledger beside the story of a call: checkpoints, durability, what cannot be recorded, verifying while it runs."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from mcpguard.domain.calls.calls import Intent
from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold, Verdict
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.errors import Unrecordable
from mcpguard.domain.reasons import Reason
from mcpguard.ledger import keys
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.entries import durability as stored_with
from mcpguard.ledger.format import opening_fields
from mcpguard.store.engine.durability import Durability
from tests.recording import record
from tests.world import World, world

pytestmark = pytest.mark.anyio


def checkpoints(database: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(
            "SELECT seq, json_extract(CAST(content AS TEXT), '$.why') FROM checkpoints ORDER BY seq"
        ).fetchall()


async def test_it_signs_at_start_by_count_by_time_and_at_stop(tmp_path: Path) -> None:
    async with world(tmp_path, audit__checkpoint_records=11, audit__checkpoint_seconds=60.0) as guard:
        database = guard.database
        assert checkpoints(database) == [(1, "start")]
        for _ in range(5):
            await guard.call()
        assert checkpoints(database) == [(1, "start"), (12, "count")]
        await guard.clock.advance(61)
        await guard.settle()
        assert len(checkpoints(database)) == 2  # nothing was recorded since
        await guard.call()
        await guard.clock.advance(61)
        await guard.settle()
        assert checkpoints(database)[2:] == [(14, "time")]
    assert checkpoints(database)[3:] == [(15, "stop")]


async def test_a_start_records_what_it_starts_with(guard: World) -> None:
    started = guard.said()[0]
    assert started["kind"] == "started"
    assert started["settings"] == guard.now.settings.version
    assert started["key"] == keys.load(guard.now.settings.data_dir / "audit.key").public


async def test_a_restart_goes_on_with_the_chain(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await guard.call()
        chain = guard.now.ledger.chain.id
    async with world(tmp_path) as guard:
        await guard.call()
        assert guard.now.ledger.chain.id == chain
        assert [record["seq"] for record in guard.said()] == list(range(1, 9))
        assert guard.verified().whole


async def test_a_start_closes_what_was_left_open_and_says_what_may_have_been_executed(tmp_path: Path) -> None:
    """Of a held call that nobody had allowed it is known that nothing was sent."""
    wait = Hold(Reason.HOLD_WAITING)
    async with world(tmp_path) as guard:
        held, allowed, denied, sent = (guard.opening(verdict) for verdict in (wait, wait, wait, Allow()))
        left = [(RecordKind.OPENED, opening_fields(each)) for each in (held, allowed, denied, sent)]
        left += [(RecordKind.RELEASED, {"entry": allowed.entry, "verdict": "allow"})]
        left += [(RecordKind.RELEASED, {"entry": denied.entry, "verdict": "deny", "reason": "scope:effect"})]
        await guard.now.ledger.transact(lambda _, append: [append(*each) for each in left])
    async with world(tmp_path) as guard:
        closed = {
            record["entry"]: (record["outcome"], record["executed"], record["late"])
            for record in guard.said()
            if record["kind"] == "closed"
        }
        assert closed == {
            held.entry: ("held", "no", True),
            allowed.entry: ("unknown", "unknown", True),
            denied.entry: ("held", "no", True),
            sent.entry: ("unknown", "unknown", True),
        }
        assert guard.verified().whole


@pytest.mark.parametrize(
    ("verdict", "effect", "durability"),
    [
        (Allow(), Effect.READ, Durability.COMMITTED),
        (Allow(), Effect.WRITE, Durability.SYNCED),
        (Allow(), Effect.DESTRUCTIVE, Durability.SYNCED),
        (Allow(), None, Durability.SYNCED),
        (Hold(Reason.HOLD_WAITING), Effect.WRITE, Durability.COMMITTED),
        (Deny(Reason.SCOPE_EFFECT), Effect.DESTRUCTIVE, Durability.COMMITTED),
    ],
)
def test_whatever_does_more_than_read_is_on_the_disk_before_it_is_sent(
    verdict: Verdict, effect: Effect | None, durability: Durability
) -> None:
    assert stored_with(verdict, effect) is durability


@pytest.mark.parametrize("reason", ["\ud800", "a\udfffb"])
async def test_what_cannot_be_recorded_is_not_begun_and_harms_nobody_else(guard: World, reason: str) -> None:
    ran = False

    async def work(_: Entry) -> Outcome:
        nonlocal ran
        ran = True
        return Outcome.answer()

    opening = guard.opening()
    hostile = type(opening)(
        entry=opening.entry,
        caller=opening.caller,
        capability=opening.capability,
        intent=Intent(Effect.READ, declared=True, reason=reason),
        face=opening.face,
        verdict=Allow(),
    )

    async def refused() -> None:
        with pytest.raises(Unrecordable):
            await record(guard.now.ledger, hostile, work)

    before = len(guard.said())
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(guard.call)
            tasks.start_soon(refused)
    assert not ran
    assert len(guard.said()) == before + 10
    assert guard.now.ledger.open_entries == 0
    assert (await guard.network.get("/readyz")).status_code == 200


async def test_an_entry_cannot_be_opened_twice(guard: World) -> None:
    opening = guard.opening()
    await guard.call(opening)
    assert await guard.call(opening) == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
    await guard.recovered()
    assert [record["kind"] for record in guard.said() if record.get("entry") == opening.entry] == ["opened", "closed"]
    assert guard.verified().whole


async def test_it_can_be_verified_while_calls_go_on(guard: World) -> None:
    async def call_on() -> None:
        for _ in range(200):
            assert (await guard.call()).kind is OutcomeKind.ANSWERED

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(call_on)
        first = await anyio.to_thread.run_sync(guard.verified)
        second = await anyio.to_thread.run_sync(guard.verified)
    last = guard.verified()
    assert first.whole, first.chains[0].problems
    assert second.whole, second.chains[0].problems
    assert last.whole, last.chains[0].problems
    assert last.chains[0].last_seq == 2 + 2 * 10 * 200


async def test_stopping_waits_until_cancelled_calls_are_closed(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        opening = guard.opening()

        async def work(entry: Entry) -> Outcome:
            entry.permit()
            await anyio.sleep_forever()
            raise AssertionError

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(record, guard.now.ledger, opening, work)
            await guard.settle()
            assert guard.now.ledger.open_entries == 1
            tasks.cancel_scope.cancel()
        await guard.now.ledger.wait_until_quiet()
    last = guard.said()[-2:]
    assert [(record["kind"], record.get("outcome")) for record in last] == [("closed", "cancelled"), ("stopped", None)]
