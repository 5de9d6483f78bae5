"""What the settings let go of the log, and what people have removed: said first, then gone, and the rest is proven."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from mcpguard.app import places
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.decisions import Actor, Decision, Forbidden, Undecidable, is_never_revoked
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable
from mcpguard.guard.audit.retention import PruningRequest, Retention
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.entries import Entry
from mcpguard.ledger.prunings import PruningCause, Unsound
from mcpguard.ledger.verify.report import KeySource, KeyTrust
from mcpguard.settings.guard_groups import RetentionSettings
from mcpguard.store.rows import pruning
from tests import postgres, second_bundle_verifier, second_verifier
from tests.guard.pruned import BY, gone, prunings, rows
from tests.ledger import bundling
from tests.ledger.tampering import EMPTY, rechain, tampering
from tests.recording import record
from tests.world import World, verified, world

pytestmark = pytest.mark.anyio
NARROW = Decision(Actor("uid:1000 (operator)", "operator socket", may_widen=False, holds=is_never_revoked), "a shell")
Json = dict[str, Any]


async def lived(guard: World, calls: int = 10) -> None:
    """Calls with bodies, and a checkpoint after them."""
    for number in range(calls):
        said = guard.opening(arguments=KeptBody(b'{"number": %d}' % number))
        await guard.call(said, Outcome.answer(KeptBody(b"an answer")))
    await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)


def bodies(guard: World) -> int:
    """How many say anything."""
    with closing(sqlite3.connect(guard.database)) as connection:
        found: int = connection.execute("SELECT count(*) FROM bodies WHERE content IS NOT NULL").fetchone()[0]
        return found


def whole(guard: World) -> bool:
    """Whether both verifiers say so."""
    ours, other = guard.verified(), second_verifier.verify(guard.database)
    assert ours.whole == (other == []), (ours.chains, other)
    return ours.whole


@asynccontextmanager
async def living(folder: Path, calls: int = 10, **retention: object) -> AsyncIterator[World]:
    given = {f"retention__{key}": value for key, value in retention.items()}
    async with world(folder, audit__checkpoint_records=1000, **given) as guard:
        # The first sweep, at the start, would otherwise prune what is made here, or not, as it comes.
        while not guard.clock.has_sleeper(guard.now.settings.retention.every_seconds):
            await checkpoint()
        await lived(guard, calls)
        yield guard


async def test_nothing_is_removed_unless_it_is_set_or_asked_for(tmp_path: Path) -> None:
    async with living(tmp_path) as guard:
        guard.clock.jump(400 * 86_400)
        assert await guard.now.guard.retention.sweep()
        assert (gone(guard), prunings(guard), bodies(guard)) == ([], [], 20)


async def test_old_records_go_and_what_is_left_is_proven(tmp_path: Path) -> None:
    async with living(tmp_path, record_days=30) as guard:
        last = max(rows(guard))
        guard.clock.jump(31 * 86_400)
        await lived(guard, 2)
        assert await guard.now.guard.retention.sweep()
        (told,) = prunings(guard)
        assert (told["what"], told["why"], told["first"], told["last"]) == ("records", "age", 2, last)
        assert told["count"] == last - 1
        assert gone(guard) == [*range(2, last + 1)], "what this run started with stays"
        assert bodies(guard) == 4
        assert whole(guard)
        before = len(guard.said())
        assert await guard.now.guard.retention.sweep()
        assert len(guard.said()) == before, "there is nothing more"


async def test_the_newest_stay_where_only_so_many_are_kept(tmp_path: Path) -> None:
    async with living(tmp_path, records=5) as guard:
        assert await guard.now.guard.retention.sweep()
        last = max(seq for seq, full in rows(guard).items() if not full)
        assert prunings(guard)[-1]["why"] == "count"
        assert len(rows(guard)) - last >= 5
        assert whole(guard)


async def test_only_bodies_go_where_only_they_are_old(tmp_path: Path) -> None:
    async with living(tmp_path, body_days=7) as guard:
        guard.clock.jump(8 * 86_400)
        await lived(guard, 1)
        assert await guard.now.guard.retention.sweep()
        (told,) = prunings(guard)
        assert (told["what"], told["why"], told["count"]) == ("bodies", "age", 20)
        assert (gone(guard), bodies(guard)) == ([], 2)
        assert whole(guard)


async def test_a_database_that_is_too_large_loses_its_oldest(tmp_path: Path) -> None:
    large = KeptBody(b"x" * 60_000)
    async with world(tmp_path, audit__checkpoint_records=10_000, retention__database_bytes=16 * 1024**2) as guard:
        for _ in range(200):
            await guard.call(guard.opening(arguments=large), Outcome.answer(large))
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        assert await guard.now.guard.retention.sweep()
        assert prunings(guard)[0]["why"] == "size"
        with closing(sqlite3.connect(guard.database)) as connection:
            pages, free, size = (
                connection.execute(f"PRAGMA {each}").fetchone()[0]
                for each in ("page_count", "freelist_count", "page_size")
            )
        assert (pages - free) * size <= 16 * 1024**2
        assert whole(guard)


def shrinking(guard: World, most: int) -> Retention:
    """One that lets the database take less than the settings allow to say."""
    few = RetentionSettings.model_construct(database_bytes=most)
    return Retention(guard.now.store, guard.now.ledger, guard.clock, few)


async def test_of_records_without_bodies_no_more_go_than_have_to(tmp_path: Path) -> None:
    async with world(tmp_path, audit__checkpoint_records=10_000) as guard:
        for _ in range(1500):
            await guard.call()
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        taken = await guard.now.store.readers.run(pruning.file_bytes) or 0
        most = taken * 3 // 4
        assert await shrinking(guard, most).sweep()
        assert 0 < (await guard.now.store.readers.run(pruning.file_bytes) or 0) <= most
        assert 500 < len(gone(guard)) < 2500
        assert whole(guard)


async def test_where_there_is_never_enough_room_it_ends_all_the_same(tmp_path: Path) -> None:
    async with living(tmp_path, 30) as guard:
        few = shrinking(guard, 1)
        assert await few.sweep()
        assert (len(gone(guard)), len(prunings(guard))) == (max(rows(guard)) - len(guard.said()), 1)
        before = len(guard.said())
        assert await few.sweep()
        assert len(guard.said()) == before, "there is nothing more"
        assert whole(guard)


async def test_a_person_removes_what_they_name_and_the_record_says_who_and_why(tmp_path: Path) -> None:
    async with living(tmp_path) as guard:
        ends = len(rows(guard))
        retention = guard.now.guard.retention
        asked = await retention.prune_on_request(PruningRequest(keep=8), BY, dry=True)
        assert (asked["count"], gone(guard), prunings(guard)) == (ends - 8 - 1, [], []), "a dry run removes nothing"
        done = await retention.prune_on_request(PruningRequest(keep=8), BY, dry=False)
        assert (done["first"], done["last"], done["more"]) == (asked["first"] + 1, asked["last"], False)
        (told,) = prunings(guard)
        assert (told["by"], told["via"], told["words"], told["why"]) == (BY.by.id, BY.by.via, BY.why, "asked")
        assert whole(guard)
        notices = [notice for chain in guard.verified().chains for notice in chain.notices]
        assert any("requested by" in notice and BY.why in notice for notice in notices)


async def test_who_may_not_let_more_happen_removes_nothing(tmp_path: Path) -> None:
    async with living(tmp_path) as guard:
        before = guard.said()
        with pytest.raises(Forbidden):
            await guard.now.guard.retention.prune_on_request(PruningRequest(keep=1), NARROW, dry=False)
        with pytest.raises(Forbidden):
            await guard.now.guard.redacting.redact(3, NARROW)
        assert (guard.said(), gone(guard), bodies(guard)) == (before, [], 20), "and nothing happened"


async def test_what_no_checkpoint_covers_and_what_is_open_stays(tmp_path: Path) -> None:
    async with living(tmp_path) as guard, anyio.create_task_group() as tasks:
        end = anyio.Event()

        async def slow(entry: Entry) -> Outcome:
            entry.permit()
            await end.wait()
            return Outcome.answer()

        tasks.start_soon(record, guard.now.ledger, guard.opening(), slow)
        await guard.settle()
        opened = max(rows(guard))
        await lived(guard, 3)
        await guard.call()
        done = await guard.now.guard.retention.prune_on_request(PruningRequest(keep=0), BY, dry=False)
        assert done["last"] < opened
        assert done["later"] > 0
        with pytest.raises(Undecidable, match="nothing can be pruned yet"):
            await guard.now.guard.retention.prune_on_request(PruningRequest(keep=0), BY, dry=False)
        end.set()
        await guard.settle()
        assert whole(guard)


async def test_what_is_not_what_was_written_stays_as_evidence(tmp_path: Path) -> None:
    async with living(tmp_path) as guard:
        with tampering(guard.database) as connection:
            connection.execute("UPDATE records SET content = CAST(content || ' ' AS BLOB) WHERE seq = 6")
        before = len(guard.said())
        with pytest.raises(Unsound, match="record 6"):
            await guard.now.guard.retention.prune_on_request(PruningRequest(keep=1), BY, dry=False)
        assert (len(guard.said()), gone(guard)) == (before, []), "and nothing happened"
        assert not whole(guard)


BODIES_CHANGED = {
    "edited": "UPDATE bodies SET content = CAST('another' AS BLOB) WHERE seq = ?",
    "lengthened": "UPDATE bodies SET content = CAST(content || ' ' AS BLOB) WHERE seq = ?",
    "emptied": "UPDATE bodies SET content = NULL, salt = NULL WHERE seq = ?",
    "removed": "DELETE FROM bodies WHERE seq = ?",
    "moved": "UPDATE bodies SET seq = seq - (SELECT min(seq) FROM bodies) + 1 WHERE seq = ?",
}


@pytest.mark.parametrize("change", BODIES_CHANGED)
async def test_a_body_that_is_not_what_was_written_stays_with_its_record(tmp_path: Path, change: str) -> None:
    async with living(tmp_path) as guard:
        first = next(record["seq"] for record in guard.said() if "body_size" in record)
        with tampering(guard.database) as connection:
            connection.execute(BODIES_CHANGED[change], (first,))
        before = len(guard.said()), bodies(guard)
        with pytest.raises(Unsound):
            await guard.now.guard.retention.prune_on_request(PruningRequest(keep=1), BY, dry=False)
        assert ((len(guard.said()), bodies(guard)), gone(guard)) == (before, []), "and nothing happened"
        assert not whole(guard)


@pytest.mark.parametrize("what", ["body", "record", "columns"])
async def test_nor_is_a_body_alone_removed_where_it_or_its_record_is_not_what_was_written(
    tmp_path: Path, what: str
) -> None:
    async with living(tmp_path) as guard:
        opened = next(record for record in guard.said() if record["kind"] == "opened")
        with tampering(guard.database) as connection:
            if what == "body":
                connection.execute(BODIES_CHANGED["edited"], (opened["seq"],))
            elif what == "record":
                connection.execute("UPDATE records SET hash = ? WHERE seq = ?", (b"h" * 32, opened["seq"]))
            else:
                connection.execute("UPDATE records SET server = 'mail' WHERE seq = ?", (opened["seq"],))
        before = len(guard.said()), bodies(guard)
        for asked in (
            partial(guard.now.guard.retention.prune_on_request, PruningRequest(keep=1, bodies=True), BY, dry=False),
            partial(guard.now.guard.redacting.redact, opened["entry"], BY),
            partial(guard.now.guard.redacting.redact, opened["seq"], BY),
        ):
            with pytest.raises(Unsound):
                await asked()
        assert (len(guard.said()), bodies(guard)) == before, "and nothing happened"
        assert not whole(guard)


@pytest.mark.parametrize("content", [b"no json", b"[]", b"null", b"\xff", b"{}", b'{"first": "x", "kind": "pruned"}'])
async def test_content_that_nobody_recorded_fails_nothing_else(tmp_path: Path, content: bytes) -> None:
    """Whoever can write the store has made every hash anew."""
    async with living(tmp_path, records=2, body_days=1) as guard:
        opened = next(record for record in guard.said() if record["kind"] == "opened")
        with tampering(guard.database) as connection:
            connection.execute("UPDATE records SET content = ? WHERE seq = ?", (content, opened["seq"]))
            rechain(connection)
        guard.clock.jump(9 * 86_400)
        assert not await guard.now.guard.retention.sweep()
        with pytest.raises((Undecidable, Unsound)):
            await guard.now.guard.redacting.redact(opened["seq"], BY)
        assert (gone(guard), bodies(guard)) == ([], 20), "and nothing happened"
        assert await guard.call() == Outcome.answer()
        assert not guard.verified().whole


async def test_while_nothing_can_be_recorded_nothing_is_removed(tmp_path: Path) -> None:
    async with living(tmp_path) as guard:
        aside = guard.database.with_name("aside.db")
        guard.database.rename(aside)
        await guard.call()
        with pytest.raises((LedgerUnavailable, StoreUnavailable)):
            await guard.now.guard.retention.prune_on_request(PruningRequest(keep=1), BY, dry=False)
        aside.rename(guard.database)
        await guard.recovered()
        assert (gone(guard), prunings(guard)) == ([], [])


@pytest.mark.parametrize("done", [0, 1, 4, 11])
async def test_what_was_begun_is_ended_by_the_next_run(tmp_path: Path, done: int) -> None:
    """The record is there, and the guard was killed when so many were gone."""
    async with living(tmp_path) as guard:
        retention = guard.now.guard.retention
        stretches = await retention.pruner.survey.records(1, 12)
        announce = retention.pruner._announced
        await guard.now.ledger.transact(
            lambda connection, append: announce(stretches, PruningCause.ASKED, {}, connection, append)
        )
        with tampering(guard.database) as connection:
            connection.execute(EMPTY, (2, 1 + done))
            connection.execute("DELETE FROM bodies WHERE seq BETWEEN 2 AND ?", (1 + done,))
        assert gone(guard) == [*range(2, 2 + done)]
        assert whole(guard), "what was said to go may still be there"
    async with world(tmp_path) as guard:
        await guard.settle()
        await guard.now.guard.retention.sweep()
        assert gone(guard) == [*range(2, 13)]
        assert len(prunings(guard)) == 1
        assert whole(guard)


async def test_the_bodies_of_one_call_are_removed_and_all_else_stays(tmp_path: Path) -> None:
    async with living(tmp_path) as guard:
        opened = [record for record in guard.said() if record["kind"] == "opened"]
        call = opened[4]["entry"]
        records = len(guard.said())
        done = await guard.now.guard.redacting.redact(call, BY)
        assert (done["calls"], len(done["bodies"]), bodies(guard)) == ([call], 2, 18)
        assert len(guard.said()) == records + len(done["records"])
        assert all(each["body"] is None or each["body"]["pruned"] for each in await guard.now.guard.auditing.call(call))
        assert {(each["what"], each["why"], each["words"]) for each in prunings(guard)} == {("bodies", "asked", BY.why)}
        assert whole(guard)
        with pytest.raises(Undecidable, match="removed already"):
            await guard.now.guard.redacting.redact(opened[4]["seq"], BY)


async def test_what_was_removed_lies_nowhere_in_the_file(tmp_path: Path) -> None:
    async with living(tmp_path, 0) as guard:
        canary = b"a-canary-that-sings"
        await guard.call(guard.opening(arguments=KeptBody(canary)))
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        (opened,) = (record for record in guard.said() if record["kind"] == "opened")
        await guard.now.guard.redacting.redact(opened["entry"], BY)
        folder = guard.database.parent
        assert not holding(folder, canary), "while the guard runs"
    assert not holding(folder, canary)


async def test_while_somebody_reads_it_lies_in_the_log_of_the_database_and_no_longer(tmp_path: Path) -> None:
    async with living(tmp_path, 0, every_seconds=60) as guard:
        canary = b"a-canary-that-sings"
        await guard.call(guard.opening(arguments=KeptBody(canary)))
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        (opened,) = (record for record in guard.said() if record["kind"] == "opened")
        folder = guard.database.parent
        with closing(sqlite3.connect(guard.database, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM records").fetchall()
            await guard.now.guard.redacting.redact(opened["entry"], BY)
            assert [file.name for file in holding(folder, canary)], "a copy that is being made has it"
        assert await guard.call() == Outcome.answer()
        assert await guard.now.guard.retention.sweep()
        assert not holding(folder, canary)


def holding(folder: Path, canary: bytes) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and canary in file.read_bytes()]


@pytest.mark.parametrize("named", [0, 1, 2, 3])
async def test_what_belongs_together_goes_together(tmp_path: Path, named: int) -> None:
    """A held call, the one that used its answer, and the further pages of what that was answered; others between."""
    async with living(tmp_path, 2) as guard:
        held, made, one, other = (guard.opening(arguments=KeptBody(b"{}")) for _ in range(4))
        made = replace(made, ticket=held.entry)
        pages = replace(one, continues=made.entry), replace(other, continues=made.entry)
        for opening in (held, made, *pages):
            await guard.call(opening, Outcome.answer(KeptBody(b"a part")))
            await lived(guard, 1)
        entries = [each.entry for each in (held, made, *pages)]
        before = bodies(guard)
        done = await guard.now.guard.redacting.redact(entries[named], BY)
        assert (sorted(done["calls"]), before - bodies(guard)) == (entries, 8)
        assert whole(guard)


async def test_of_a_reply_that_was_read_again_and_again_all_goes(tmp_path: Path) -> None:
    async with living(tmp_path, 1) as guard:
        first = guard.opening(arguments=KeptBody(b"{}"))
        await guard.call(first)
        for _ in range(250):
            await guard.call(replace(guard.opening(arguments=KeptBody(b"{}")), continues=first.entry))
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        done = await guard.now.guard.redacting.redact(first.entry, BY)
        assert (len(done["calls"]), bodies(guard)) == (251, 2)
        assert whole(guard)


@pytest.mark.parametrize("named", ["first", "second"])
async def test_while_one_of_them_goes_on_none_is_redacted(tmp_path: Path, named: str) -> None:
    async with living(tmp_path, 1) as guard, anyio.create_task_group() as tasks:
        end = anyio.Event()

        async def slow(entry: Entry) -> Outcome:
            entry.permit()
            await end.wait()
            return Outcome.answer()

        first = guard.opening(arguments=KeptBody(b"{}"))
        second = replace(guard.opening(arguments=KeptBody(b"{}")), ticket=first.entry)
        await guard.call(first)
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        tasks.start_soon(record, guard.now.ledger, second, slow)
        await guard.settle()
        before = bodies(guard)
        with pytest.raises(Undecidable, match="still open"):
            await guard.now.guard.redacting.redact((first if named == "first" else second).entry, BY)
        assert (bodies(guard), prunings(guard)) == (before, []), "and nothing happened"
        end.set()


async def test_a_call_that_goes_on_is_not_redacted(tmp_path: Path) -> None:
    async with living(tmp_path, 1) as guard, anyio.create_task_group() as tasks:
        end = anyio.Event()

        async def slow(entry: Entry) -> Outcome:
            entry.permit()
            await end.wait()
            return Outcome.answer()

        opening = guard.opening(arguments=KeptBody(b"{}"))
        tasks.start_soon(record, guard.now.ledger, opening, slow)
        await guard.settle()
        before = bodies(guard)
        with pytest.raises(Undecidable, match="still open"):
            await guard.now.guard.redacting.redact(opening.entry, BY)
        assert (bodies(guard), prunings(guard)) == (before, []), "and nothing happened"
        end.set()


async def test_calls_go_on_while_much_is_removed(tmp_path: Path) -> None:
    async with living(tmp_path, 300) as guard, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: guard.now.guard.retention.prune_on_request(PruningRequest(keep=10), BY, dry=False))
        for _ in range(20):
            assert await guard.call() == Outcome.answer()
    assert whole(guard)


async def test_what_went_before_a_rotation_is_proven_by_either_key(tmp_path: Path) -> None:
    async with living(tmp_path, 4) as guard:
        old = guard.now.ledger.chain.public_key
        await guard.now.guard.rotating.rotate(BY)
        await lived(guard, 4)
        new = guard.now.ledger.chain.public_key
        done = await guard.now.guard.retention.prune_on_request(PruningRequest(keep=4), BY, dry=False)
        (rotated,) = (record["seq"] for record in guard.said() if record["kind"] == "rotated")
        assert done["first"] < rotated < done["last"]
        assert [(each["first"], each["last"]) for each in prunings(guard)] == [
            (2, rotated - 1),
            (rotated + 1, done["last"]),
        ], "what says which key signs stays"
        await lived(guard, 1)
        for key in (old, new):
            assert guard.verified(trust=KeyTrust(frozenset({key}), KeySource.GIVEN)).whole
        assert second_verifier.verify(guard.database, keys={new}) == second_verifier.verify(guard.database) == []
    async with world(tmp_path) as guard:
        assert guard.now.ledger.chain.public_key == new
        await guard.now.guard.retention.prune_on_request(PruningRequest(keep=0, bodies=True), BY, dry=False)
        assert whole(guard)


@pytest.mark.parametrize("begin", [0, 6])
async def test_a_bundle_of_it_is_whole(tmp_path: Path, begin: int) -> None:
    async with living(tmp_path) as guard:
        await guard.now.guard.redacting.redact(max(rows(guard)), BY)
        await guard.now.guard.retention.prune_on_request(PruningRequest(keep=8), BY, dry=False)
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        file, key = guard.database, guard.now.ledger.chain.public_key
    bundling.bundle(tmp_path / "bundle", file, after=begin)
    for known in (None, key):
        assert bundling.checked(tmp_path / "bundle", known).whole
        assert second_bundle_verifier.verify(tmp_path / "bundle", known) is None


async def test_on_postgresql_too(tmp_path: Path, postgres_server: str) -> None:
    url = postgres.fresh_database(postgres_server)
    async with world(tmp_path, store__url=url, audit__checkpoint_records=1000) as guard:
        for _ in range(5):
            await guard.call(guard.opening(arguments=KeptBody(b"{}")), Outcome.answer(KeptBody(b"a")))
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        done = await guard.now.guard.retention.prune_on_request(PruningRequest(keep=3), BY, dry=False)
        assert done["count"] > 5
        page = await guard.now.guard.auditing.page(limit=100)
        assert [each["seq"] for each in page.records if each["pruned"]] == [*range(done["first"], done["last"] + 1)]
        assert verified(places.database(guard.now.settings)).whole
        for _ in range(5):
            await guard.call(guard.opening(arguments=KeptBody(b"{}")), Outcome.answer(KeptBody(b"a")))
        await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        await guard.now.guard.redacting.redact(guard.said()[-1]["seq"], BY)
        done = await guard.now.guard.retention.prune_on_request(PruningRequest(keep=3, bodies=True), BY, dry=False)
        assert done["count"] == 11, "and three of before"
        assert verified(places.database(guard.now.settings)).whole
        few = shrinking(guard, 1)
        assert await few.sweep()
        assert await few.sweep(), "and it ends"
        assert prunings(guard)[-1]["why"] == "size"
        assert verified(places.database(guard.now.settings)).whole
    async with world(tmp_path, store__url=url) as guard:
        assert await guard.call() == Outcome.answer()
        assert verified(places.database(guard.now.settings)).whole
