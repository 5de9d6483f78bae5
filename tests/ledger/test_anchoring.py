"""Checkpoints go into a file outside, one after the other; whoever rolls the store back is found out by it."""

import json
import os
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from anyio import to_thread

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import anchors
from mcpguard.ledger.anchoring import PATIENCE
from mcpguard.ledger.checkpoints import Checkpoint, CheckpointCause, SignedCheckpoint, sign
from mcpguard.settings.problems import SettingsError
from mcpguard.store.engine.durability import Durability
from mcpguard.store.rows.checkpoints import StoredCheckpoint
from tests import postgres, second_verifier
from tests.gateway.hearing import until
from tests.ledger.chained import new_key
from tests.ledger.rotating import DECISION
from tests.world import World, verified, world

pytestmark = pytest.mark.anyio


def outside(folder: Path) -> Path:
    (folder / "elsewhere").mkdir(exist_ok=True)
    return folder / "elsewhere" / "anchors.jsonl"


@asynccontextmanager
async def anchored(folder: Path, **given: object) -> AsyncIterator[World]:
    settings = {"audit__anchor_file": outside(folder), "audit__checkpoint_records": 5}
    async with world(folder, **settings | given) as guard:
        yield guard


async def written(guard: World) -> None:
    """Whatever is signed is in the file, or could not be."""
    anchoring = guard.now.guard.anchoring
    assert anchoring is not None
    await anchoring.catch_up()


async def lived(guard: World, calls: int = 3) -> None:
    for _ in range(calls):
        await guard.call()
    await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
    await written(guard)


def in_file(folder: Path) -> list[int]:
    return [each.statement.seq for each in anchors.read(outside(folder))]


def in_store(database: Path) -> list[int]:
    with closing(sqlite3.connect(database)) as connection:
        return [seq for (seq,) in connection.execute("SELECT seq FROM checkpoints ORDER BY seq")]


def stored(database: Path) -> list[StoredCheckpoint]:
    with closing(sqlite3.connect(database)) as connection:
        query = "SELECT seq, content, signature FROM checkpoints ORDER BY seq"
        return [StoredCheckpoint(*row) for row in connection.execute(query)]


def trouble(guard: World) -> str:
    status = guard.now.guard.status().ledger.anchors
    assert status is not None
    assert status.failing == bool(status.trouble)
    return status.trouble


def told(guard: World) -> str:
    """What is said of a store that was rolled back."""
    status = guard.now.guard.status().ledger.anchors
    assert status is not None
    return status.rolled_back


async def test_every_checkpoint_is_in_the_file_in_order_and_as_it_is_stored(tmp_path: Path) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard, 12)
        await guard.now.guard.rotating.rotate(DECISION)
        await lived(guard)
        status = guard.now.guard.status().ledger.anchors
        assert status is not None
        assert (status.file, status.to) == (str(outside(tmp_path)), guard.now.guard.status().ledger.signed_to)
        assert (status.failing, status.trouble, status.rolled_back) == (False, "", "")
    file = outside(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = [SignedCheckpoint.from_json(line) for line in file.read_bytes().splitlines()]
    assert [(each.statement.content(), each.signature) for each in lines] == [
        (each.content, each.signature) for each in stored(guard.database)
    ]
    assert len(lines) > 6, "the last is that of the stop"
    assert lines[-1].statement.why is CheckpointCause.STOP
    assert len({each.statement.key for each in lines}) == 2
    report = verified(guard.database, *(each.statement for each in lines))
    assert report.whole
    assert report.chains[0].anchored_to == report.chains[0].last_seq
    assert second_verifier.verify(guard.database, file.read_bytes()) == []


async def test_it_is_the_same_on_postgres(tmp_path: Path, postgres_server: str) -> None:
    url = postgres.fresh_database(postgres_server)
    async with anchored(tmp_path, store__url=url) as guard:
        await lived(guard)
        await guard.now.guard.rotating.rotate(DECISION)
        await written(guard)
        report = guard.verified(*(each.statement for each in anchors.read(outside(tmp_path))))
        assert report.whole
        assert report.chains[0].anchored_to == report.chains[0].last_seq
    async with anchored(tmp_path, store__url=url) as guard:
        assert trouble(guard) == ""
        assert "rolled_back" not in [record["kind"] for record in guard.said()]


async def test_a_checkpoint_comes_into_the_file_by_itself(tmp_path: Path) -> None:
    async with anchored(tmp_path) as guard:
        for _ in range(5):
            await guard.call()
        await until(lambda: in_file(tmp_path) == in_store(guard.database))
        assert len(in_file(tmp_path)) > 1


async def test_without_the_setting_there_is_none(guard: World) -> None:
    assert guard.now.guard.anchoring is None
    assert guard.now.guard.status().ledger.anchors is None


@pytest.mark.parametrize("place", ["anchors.jsonl", "below/anchors.jsonl", "."])
async def test_a_file_in_the_data_directory_is_refused_and_nothing_happened(tmp_path: Path, place: str) -> None:
    with pytest.raises(SettingsError, match=r"audit\.anchor_file: the file must be outside the data directory"):
        async with world(tmp_path, audit__anchor_file=tmp_path / "data" / place):
            pass
    assert not (tmp_path / "data" / "audit.key").exists()


async def test_neither_is_one_that_leads_into_it_or_is_the_key(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(SettingsError):
        async with world(tmp_path, audit__anchor_file=tmp_path / "link" / "anchors.jsonl"):
            pass
    with pytest.raises(SettingsError):
        async with world(tmp_path, audit__anchor_file=tmp_path / "k", audit__key_file=tmp_path / "k"):
            pass


# What goes wrong with the file.


async def test_what_cannot_be_appended_refuses_no_call_and_is_there_when_it_can_again(tmp_path: Path) -> None:
    file = outside(tmp_path)
    async with anchored(tmp_path) as guard:
        await lived(guard)
        before = in_file(tmp_path)
        kept = file.rename(tmp_path / "kept")
        file.mkdir()
        await lived(guard, 7)
        assert trouble(guard) == "it is not a regular file"
        assert guard.now.guard.readiness().ready
        metrics = (await guard.operator.get("/metrics")).text
        assert "mcpguard_ledger_anchor_failing 1.0" in metrics
        file.rmdir()
        kept.rename(file)
        assert in_file(tmp_path) == before
        await lived(guard)
        assert trouble(guard) == ""
        assert in_file(tmp_path) == in_store(guard.database), "none is left out"
        metrics = (await guard.operator.get("/metrics")).text
        assert f"mcpguard_ledger_anchored_records {in_file(tmp_path)[-1]}.0" in metrics
        assert "mcpguard_ledger_anchor_failing 0.0" in metrics


@pytest.mark.parametrize("kind", ["a folder that is not there", "a pipe", "a device"])
async def test_a_file_that_never_can_be_one_is_told_and_the_guard_starts(
    tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    place = {
        "a folder that is not there": tmp_path / "no" / "file",
        "a pipe": tmp_path / "pipe",
        "a device": Path("/dev/null"),
    }
    if kind == "a pipe":
        os.mkfifo(place[kind])
    async with world(tmp_path, audit__anchor_file=place[kind]) as guard:
        await lived(guard)
        await lived(guard)
        assert trouble(guard)
        assert guard.now.guard.readiness().ready
    assert capfd.readouterr().out.count("ledger.not_anchored") == 1, "once for each cause"


async def test_a_file_that_does_not_answer_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = threading.Event()
    append = anchors.append

    def slow(*args: object) -> object:
        answers.wait()
        return append(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("mcpguard.ledger.anchoring.PATIENCE", 0.05)
    async with anchored(tmp_path) as guard:
        await lived(guard)
        monkeypatch.setattr(anchors, "append", slow)
        await lived(guard)
        assert "has not answered" in trouble(guard)
        await lived(guard)
        assert "has not answered" in trouble(guard), "and no second thread waits for it"
        answers.set()
        monkeypatch.setattr(anchors, "append", append)
        monkeypatch.setattr("mcpguard.ledger.anchoring.PATIENCE", PATIENCE)
        await to_thread.run_sync(guard.now.guard.anchoring._busy.acquire)  # type: ignore[union-attr]
        guard.now.guard.anchoring._busy.release()  # type: ignore[union-attr]
        await lived(guard)
        assert trouble(guard) == ""
        assert sorted({*in_file(tmp_path)}) == in_store(guard.database)


@pytest.mark.parametrize(
    "rest", [b'{"con', b'{"content":"eyJh', b"\0\0\0", b'{"content":"eyJh","signature":"A\0\0', b"garbage"]
)
async def test_a_line_that_a_crash_cut_off_is_followed_by_a_new_one(tmp_path: Path, rest: bytes) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
    with outside(tmp_path).open("ab") as file:
        file.write(rest)
    async with anchored(tmp_path) as guard:
        await lived(guard)
        assert trouble(guard) == ""
    assert rest in outside(tmp_path).read_bytes().split(b"\n")
    if rest == b"garbage":
        with pytest.raises(StoreUnavailable, match=r"line \d+: "):
            in_file(tmp_path)
        assert second_verifier.verify(guard.database, outside(tmp_path).read_bytes())
    else:
        assert in_file(tmp_path) == in_store(guard.database)
        assert second_verifier.verify(guard.database, outside(tmp_path).read_bytes()) == []


async def test_a_line_that_was_cut_off_is_written_once_more(tmp_path: Path) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
    file = outside(tmp_path)
    file.write_bytes(file.read_bytes()[:-20])
    async with anchored(tmp_path) as guard:
        assert not told(guard)
        await written(guard)
        assert in_file(tmp_path) == in_store(guard.database)


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("what", ["removed", "emptied", "shortened"])
async def test_a_file_that_is_not_as_it_was_left_gets_what_it_lacks(tmp_path: Path, what: str, running: bool) -> None:
    file = outside(tmp_path)

    def spoil() -> None:
        lines = file.read_bytes().splitlines(keepends=True)
        file.unlink()
        if what != "removed":
            file.write_bytes(b"".join(lines[: len(lines) // 2]) if what == "shortened" else b"")

    async with anchored(tmp_path) as guard:
        await lived(guard)
        if running:
            spoil()
            await lived(guard)
    if not running:
        spoil()
        async with anchored(tmp_path) as guard:
            await lived(guard)
    assert in_file(tmp_path) == in_store(guard.database)


async def test_a_file_that_is_named_later_gets_all_that_was_signed_before(tmp_path: Path) -> None:
    async with world(tmp_path, audit__checkpoint_records=2) as guard:
        for _ in range(300):
            await guard.call()
    assert len(in_store(guard.database)) > 250
    async with anchored(tmp_path) as guard:
        await written(guard)
        assert in_file(tmp_path) == in_store(guard.database)


async def test_lines_of_another_store_in_the_file_are_in_nobodys_way(tmp_path: Path) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
    other = tmp_path / "other"
    other.mkdir()
    async with world(other) as second:
        await lived_elsewhere(second)
    with outside(tmp_path).open("ab") as file:
        file.writelines(json.dumps(line).encode() + b"\n" for line in kept(second.database))
    async with anchored(tmp_path) as guard:
        assert not told(guard)
        await lived(guard)
    report = verified(guard.database, *(each.statement for each in anchors.read(outside(tmp_path))))
    assert report.whole
    assert [*report.elsewhere.values()] == [in_store(second.database)[-1]]
    assert second_verifier.verify(guard.database, outside(tmp_path).read_bytes()) == []


async def lived_elsewhere(guard: World) -> None:
    for _ in range(3):
        await guard.call()


def kept(database: Path) -> list[dict[str, str]]:
    return [SignedCheckpoint(Checkpoint.read(each.content), each.signature).as_json() for each in stored(database)]


# Whoever rolls the store back.


async def test_a_store_that_was_rolled_back_is_told_everywhere_and_the_guard_starts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
    copy = Path(shutil.copy(guard.database, tmp_path / "copy.db"))
    ended = in_store(copy)[-1]
    async with anchored(tmp_path) as guard:
        await lived(guard)
    last = in_file(tmp_path)[-1]
    shutil.copy(copy, guard.database)
    capfd.readouterr()
    async with anchored(tmp_path) as guard:
        assert capfd.readouterr().out.count("ledger.rolled_back") == 1
        status = guard.now.guard.status().ledger.anchors
        assert status is not None
        assert f"has a checkpoint of record {last}" in status.rolled_back
        assert "mcpguard_ledger_rolled_back 1.0" in (await guard.operator.get("/metrics")).text
        (record,) = (each for each in guard.said() if each["kind"] == "rolled_back")
        assert (record["anchored"], record["found"], record["seq"]) == (last, ended, ended + 2)
        assert "anchored_chain" not in record
        await lived(guard)
        assert guard.now.guard.readiness().ready
        assert [notice for notice in guard.verified().chains[0].notices if "rolled back" in notice]
    report = verified(guard.database, *(each.statement for each in anchors.read(outside(tmp_path))))
    assert not report.whole
    assert report.chains[0].anchored_to == in_store(guard.database)[-1]
    assert second_verifier.verify(guard.database, outside(tmp_path).read_bytes())
    assert {*in_store(guard.database)} <= {*in_file(tmp_path)}, "what is signed since then is in the file"
    async with anchored(tmp_path) as guard:
        assert [each["kind"] for each in guard.said()].count("rolled_back") == 1, "it is told once"


@pytest.mark.parametrize("what", ["rolled back", "removed"])
async def test_a_file_that_comes_back_later_tells_of_it_then(tmp_path: Path, what: str) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
    copy = Path(shutil.copy(guard.database, tmp_path / "copy.db"))
    async with anchored(tmp_path) as guard:
        await lived(guard)
    if what == "removed":
        shutil.rmtree(tmp_path / "data")
    else:
        shutil.copy(copy, guard.database)
    away = outside(tmp_path).rename(tmp_path / "away")
    outside(tmp_path).mkdir()
    async with anchored(tmp_path) as guard:
        await written(guard)
        assert trouble(guard)
        assert not told(guard)
        outside(tmp_path).rmdir()
        away.rename(outside(tmp_path))
        await lived(guard)
        assert trouble(guard) == ""
        assert told(guard)
        await lived(guard)
        assert [each["kind"] for each in guard.said()].count("rolled_back") == 1
        assert guard.verified().whole
        assert {*in_store(guard.database)} <= {*in_file(tmp_path)}


async def test_a_store_that_was_removed_is_told(tmp_path: Path) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
        chain = guard.now.ledger.chain.id
    shutil.rmtree(tmp_path / "data")
    async with anchored(tmp_path) as guard:
        (record,) = (each for each in guard.said() if each["kind"] == "rolled_back")
        assert (record["anchored_chain"], record["found"]) == (chain, 0)
        assert told(guard)
        assert guard.verified().whole
    report = verified(guard.database, *(each.statement for each in anchors.read(outside(tmp_path))))
    assert report.elsewhere.keys() == {chain}


async def test_a_store_that_was_rewritten_is_told(tmp_path: Path) -> None:
    async with anchored(tmp_path) as guard:
        await lived(guard)
    with closing(sqlite3.connect(guard.database)) as connection:
        connection.execute("UPDATE records SET hash = zeroblob(32) WHERE seq = (SELECT max(seq) FROM records)")
        connection.commit()
    async with anchored(tmp_path) as guard:
        assert [each["kind"] for each in guard.said()].count("rolled_back") == 1


async def test_a_line_that_somebody_made_up_is_told_and_keeps_nothing_out(tmp_path: Path) -> None:
    """It says that more is in the file already than there is."""
    async with anchored(tmp_path) as guard:
        await lived(guard)
        chain = guard.now.ledger.chain.id
    thief = new_key()
    statement = Checkpoint(chain, 10**9, "00" * 32, 7, CheckpointCause.TIME, 0, thief.public)
    with outside(tmp_path).open("ab") as file:
        file.write(json.dumps(SignedCheckpoint(statement, sign(statement, thief)).as_json()).encode() + b"\n")
    async with anchored(tmp_path) as guard:
        assert [each["anchored"] for each in guard.said() if each["kind"] == "rolled_back"] == [10**9]
        await lived(guard)
        assert [seq for seq in in_file(tmp_path) if seq != 10**9] == in_store(guard.database)


async def test_what_is_in_the_file_was_on_the_disk_of_the_store_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that is not synced may be lost with the power; the one that is made before the file is written is."""
    synced: list[int] = []
    async with anchored(tmp_path) as guard:
        writer = guard.now.store.writer
        submit, append = writer.submit, anchors.append

        async def seen(work: object, durability: Durability = Durability.COMMITTED, **how: bool) -> object:
            done: object = await submit(work, durability, **how)  # type: ignore[arg-type]
            if durability is Durability.SYNCED:
                synced.append(in_store(guard.database)[-1])
            return done

        def behind(path: Path, lines: list[bytes]) -> object:
            assert SignedCheckpoint.from_json(lines[-1]).statement.seq <= synced[-1]
            return append(path, lines)

        monkeypatch.setattr(writer, "submit", seen)
        monkeypatch.setattr(anchors, "append", behind)
        for _ in range(12):
            await guard.call()
        await written(guard)
        assert trouble(guard) == ""
        assert in_file(tmp_path) == in_store(guard.database)
        monkeypatch.undo()
