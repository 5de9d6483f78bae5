"""A guard rotates its signing key while it runs, and comes through whatever interrupts that."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcpguard.domain.decisions import Actor, ActorRevoked, Decision, Undecidable
from mcpguard.domain.errors import LedgerUnavailable, StoreUnavailable
from mcpguard.domain.people import Role
from mcpguard.ledger import keys
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.keyfile import KeyFile
from mcpguard.ledger.verify.report import KeySource, KeyTrust
from mcpguard.store.files import keyfiles
from tests import postgres, second_verifier
from tests.ledger.rotating import BY, DECISION, rotated
from tests.ledger.tampering import tampering
from tests.web.rest import API, program
from tests.world import World, verified, world

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["sqlite", "postgres"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """The same on both databases."""
    url = {}
    if request.param == "postgres":
        url["store__url"] = postgres.fresh_database(request.getfixturevalue("postgres_server"))
    async with world(tmp_path, **url) as running:
        yield running


def key_file(guard: World) -> Path:
    return guard.now.settings.data_dir / "audit.key"


def in_file(guard: World) -> str:
    return keys.load(key_file(guard)).public


def following(guard: World) -> Path:
    return KeyFile(key_file(guard)).next


def given(*public: str) -> KeyTrust:
    return KeyTrust(frozenset(public), KeySource.GIVEN)


def kinds(guard: World) -> list[str]:
    return [record["kind"] for record in guard.said()]


async def test_the_old_key_says_which_one_follows_and_the_new_one_signs_from_then_on(either: World) -> None:
    before = in_file(either)
    done = await rotated(either)
    assert (done.previous, done.key, done.moved) == (before, in_file(either), True)
    assert before != done.key
    assert not following(either).exists()
    assert key_file(either).stat().st_mode & 0o777 == 0o600
    assert either.now.guard.status().ledger.key == done.key
    *_, rotation, gone = either.said()
    said = {
        "kind": "rotated",
        "seq": done.record,
        "previous": before,
        "key": done.key,
        "why": DECISION.why,
        "by": BY.id,
    }
    assert rotation | said | {"via": BY.via, "process": BY.process} == rotation
    assert (gone["kind"], gone["key"]) == ("retired", before)
    for trust in (given(before), given(done.key), given(before, done.key)):
        report = either.verified(trust=trust)
        assert report.whole, report.chains[0].problems
        assert (report.chains[0].signed_to, report.chains[0].last_seq) == (done.record + 1, done.record + 1)
    assert not either.verified(trust=given(keys.new_key()[0].public)).whole


async def test_calls_that_run_meanwhile_are_all_recorded_and_it_is_whole(either: World) -> None:
    first = in_file(either)

    async def calls() -> None:
        for _ in range(20):
            await either.call()

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(calls)
        for _ in range(3):
            await rotated(either)
    assert kinds(either).count("rotated") == 3
    assert kinds(either).count("closed") == 80
    for key in (first, in_file(either)):
        report = either.verified(trust=given(key))
        assert report.whole, report.chains[0].problems
    assert report.chains[0].rotations == 3


async def test_the_second_verifier_agrees(tmp_path: Path) -> None:
    async with world(tmp_path, audit__checkpoint_records=3) as guard:
        first = in_file(guard)
        for _ in range(3):
            await guard.call()
            await rotated(guard)
        database, now = guard.database, in_file(guard)
    for known in (set(), {first}, {now}):
        assert second_verifier.verify(database, keys=known) == []
    assert second_verifier.verify(database, keys={keys.new_key()[0].public})


async def test_rotations_at_once_wait_for_each_other(guard: World) -> None:
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(rotated, guard)
    assert kinds(guard).count("rotated") == kinds(guard).count("retired") == 5
    assert guard.verified().whole


async def test_the_next_start_goes_on_with_the_new_key(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        done = await rotated(guard)
    async with world(tmp_path) as guard:
        await guard.call()
        assert [each["key"] for each in guard.said() if each["kind"] == "started"] == [done.previous, done.key]
        for key in (done.previous, done.key):
            assert guard.verified(trust=given(key)).whole


# What cannot be done is not, and nothing happened.


async def standing(guard: World) -> tuple[Any, ...]:
    return guard.said(), in_file(guard), following(guard).exists(), guard.now.ledger.chain.public_key


async def test_a_key_file_that_cannot_be_replaced_is_told_and_nothing_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a file system that cannot be written, which whoever is root can write nevertheless."""
    elsewhere = tmp_path / "keys"
    elsewhere.mkdir()
    async with world(tmp_path, audit__key_file=elsewhere / "signing.pem") as guard:
        before = guard.said()

        def read_only(*_: object) -> None:
            raise OSError(30, os.strerror(30))

        monkeypatch.setattr(keyfiles, "make", read_only)
        with pytest.raises(Undecidable, match="cannot be replaced: Read-only file system"):
            await rotated(guard)
        assert guard.said() == before
        assert [each.name for each in elsewhere.iterdir()] == ["signing.pem"]
        monkeypatch.undo()
        await rotated(guard)
        assert guard.verified().whole


async def test_while_nothing_can_be_recorded_the_old_key_stays(guard: World) -> None:
    before = await standing(guard)
    away = guard.database.with_name("away.db")
    guard.database.rename(away)
    for _ in range(2):
        with pytest.raises(LedgerUnavailable):
            await rotated(guard)
    assert guard.now.ledger.chain.public_key == before[1] == in_file(guard)
    away.rename(guard.database)
    await guard.recovered()
    await guard.call()
    assert "rotated" not in kinds(guard)
    done = await rotated(guard)
    assert done.previous == before[1]
    assert not following(guard).exists()
    assert guard.verified(trust=given(done.previous)).whole


async def test_whoever_may_do_nothing_any_more_rotates_nothing(guard: World) -> None:
    before = await standing(guard)
    with pytest.raises(ActorRevoked):
        await guard.now.guard.rotating.rotate(
            Decision(Actor("user:1", "api", may_widen=True, holds=lambda: False), "why not")
        )
    with pytest.raises(Undecidable):
        await guard.now.guard.rotating.rotate(Decision(BY, "x" * 3000))
    assert await standing(guard) == before


# Crashes.


def crashed(data_dir: Path, to: Path) -> Path:
    """The data directory as it lies there at this moment."""
    shutil.copytree(data_dir, to / "data", ignore=shutil.ignore_patterns("*.sock", "guard.lock"))
    return to


async def test_a_crash_before_the_record_leaves_the_old_key(guard: World, tmp_path: Path) -> None:
    KeyFile(key_file(guard)).offer()
    assert following(guard).stat().st_mode & 0o777 == 0o600
    old = in_file(guard)
    (again := tmp_path / "again").mkdir()
    async with world(crashed(guard.now.settings.data_dir, again)) as next_:
        assert in_file(next_) == old == next_.now.ledger.chain.public_key
        assert not following(next_).exists()
        assert "retired" not in kinds(next_)
        assert next_.verified(trust=given(old)).whole


async def test_what_a_crash_left_and_nobody_can_remove_keeps_no_guard_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as guard:
        KeyFile(key_file(guard)).offer()
        old = in_file(guard)

        def read_only(*_: object) -> None:
            raise OSError(30, os.strerror(30))

        monkeypatch.setattr(keyfiles, "remove", read_only)
    async with world(tmp_path) as guard:
        assert (in_file(guard), following(guard).exists()) == (old, True)
        with pytest.raises(Undecidable, match="Read-only file system"):
            await rotated(guard)
        monkeypatch.undo()
        assert (await rotated(guard)).previous == old
        assert guard.verified(trust=given(old)).whole


async def test_a_crash_amid_writing_the_new_key_leaves_the_old_one(guard: World, tmp_path: Path) -> None:
    old = in_file(guard)
    for content in (b"", b"-----BEGIN PRIVATE KEY-----\nMC4C"):
        (again := tmp_path / f"again{len(content)}").mkdir()
        crashed(guard.now.settings.data_dir, again)
        half = again / "data" / "audit.key.next"
        half.touch(mode=0o600)
        half.write_bytes(content)
        async with world(again) as next_:
            assert in_file(next_) == old
            assert not half.exists()


async def test_a_crash_after_the_record_finishes_with_the_new_key(
    guard: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KeyFile, "finish", lambda _: False)
    done = await rotated(guard)
    assert not done.moved
    assert in_file(guard) == done.previous
    assert following(guard).exists()
    monkeypatch.undo()
    (again := tmp_path / "again").mkdir()
    async with world(crashed(guard.now.settings.data_dir, again)) as next_:
        assert in_file(next_) == done.key == next_.now.ledger.chain.public_key
        assert not following(next_).exists()
        started, gone, *_ = (each for each in next_.said() if each["seq"] > done.record)
        assert (started["kind"], started["key"]) == ("started", done.key)
        assert (gone["kind"], gone["key"]) == ("retired", done.previous)
        await next_.call()
        for key in (done.previous, done.key):
            assert next_.verified(trust=given(key)).whole


async def test_a_file_that_could_not_be_moved_is_by_the_stop_at_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as guard:
        monkeypatch.setattr(KeyFile, "finish", lambda _: False)
        done = await rotated(guard)
        with pytest.raises(Undecidable, match="it was rotated before"):
            await rotated(guard)
        assert kinds(guard).count("rotated") == 1
        monkeypatch.undo()
    assert in_file(guard) == done.key
    assert not following(guard).exists()
    said = [record["kind"] for record in guard.said()]
    assert said[-3:] == ["rotated", "retired", "stopped"]
    assert verified(guard.database, trust=given(done.key)).whole


async def test_a_rotation_that_was_stored_although_it_was_said_to_have_failed_is_found_out(
    guard: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the connection to a database breaks between the commit and the answer to it."""
    backend = guard.now.store.writer._backend
    there, gone = backend.still_there, False

    def gone_after_the_commit() -> None:
        nonlocal gone
        if not gone and "rotated" in kinds(guard):
            gone = True
            raise StoreUnavailable("it broke between the two")
        there()

    old = in_file(guard)
    monkeypatch.setattr(backend, "still_there", gone_after_the_commit)
    with pytest.raises(LedgerUnavailable):
        await rotated(guard)
    assert (in_file(guard), following(guard).exists()) == (old, True)
    await guard.recovered()
    await guard.call()
    assert guard.now.ledger.chain.public_key != old, "what is stored counts"
    done = await rotated(guard)
    assert kinds(guard).count("rotated") == 2
    assert [each["key"] for each in guard.said() if each["kind"] == "retired"] == [old, done.previous]
    for key in (old, done.previous, done.key):
        assert guard.verified(trust=given(key)).whole


async def test_a_retired_key_starts_no_guard(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        kept = key_file(guard).read_bytes()
        done = await rotated(guard)
        new = key_file(guard).read_bytes()
    key_file(guard).write_bytes(kept)
    before = guard.said()
    with pytest.raises(ExceptionGroup) as refused:
        async with world(tmp_path):
            pass
    (error,) = refused.value.exceptions
    assert f"was rotated to another one (record {done.record} of the audit log)" in str(error)
    assert guard.said() == before
    key_file(guard).write_bytes(new)
    async with world(tmp_path) as guard:
        assert guard.verified(trust=given(done.previous)).whole


async def test_a_key_that_an_operator_puts_there_by_hand_signs_and_nothing_joins_it(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        done = await rotated(guard)
    key_file(guard).unlink()
    async with world(tmp_path) as guard:
        assert in_file(guard) not in {done.key, done.previous}
        assert guard.verified().whole
        assert not guard.verified(trust=given(done.key)).whole
        assert not guard.verified(trust=given(in_file(guard))).whole
        assert guard.verified(trust=given(done.key, in_file(guard))).whole


# The checkpoint that others ask for.


async def test_a_checkpoint_is_given_for_all_that_is_there_and_nothing_is_appended(guard: World) -> None:
    await guard.call()
    before = guard.said()
    signed = await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
    assert (signed.statement.seq, signed.statement.why) == (len(before), CheckpointCause.EXPORT)
    assert await guard.now.ledger.checkpoint(CheckpointCause.PRUNING) == signed, "nothing is new"
    assert guard.said() == before
    report = guard.verified(signed.statement)
    assert report.whole
    assert report.chains[0].anchored_to == len(before)


# Over the API.


async def test_an_admin_rotates_it_over_the_network_and_nobody_else(guard: World) -> None:
    before = in_file(guard)
    for role in (Role.VIEWER, Role.AUDITOR, Role.APPROVER):
        answer = await guard.network.post(
            f"{API}/signing-key/rotate", json={"why": "x"}, headers=await program(guard, role, role.value)
        )
        assert answer.status_code == 403
    assert in_file(guard) == before
    answer = await guard.network.post(
        f"{API}/signing-key/rotate", json={"why": "x"}, headers=await program(guard, Role.ADMIN)
    )
    assert answer.status_code == 200
    said = answer.json()
    assert said == {"key": in_file(guard), "previous": before, "record": said["record"], "moved": True}
    (rotation,) = (record for record in guard.said() if record["kind"] == "rotated")
    assert (rotation["seq"], rotation["via"], rotation["why"]) == (said["record"], "api", "x")
    assert rotation["by"].startswith("token:")


async def test_no_answer_or_record_has_a_private_key(guard: World) -> None:
    answer = await guard.operator.post(f"{API}/signing-key/rotate", json={"why": "x"})
    private = key_file(guard).read_text().splitlines()[1]
    with tampering(guard.database) as connection:
        contents = [bytes(content) for (content,) in connection.execute("SELECT content FROM records")]
    assert private not in answer.text
    assert not [each for each in contents if private.encode() in each]


async def test_a_key_that_was_rotated_to_and_stays_is_not_called_exchanged(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await rotated(guard)
    async with world(tmp_path) as guard:
        await guard.call()
        (chain,) = guard.verified().chains
        assert not [said for said in chain.notices if "without a rotation" in said]


async def test_a_key_that_is_exchanged_while_no_guard_runs_is_told_by_whoever_verifies(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await guard.call()
        old, file = in_file(guard), key_file(guard)
        await rotated(guard)
        before = in_file(guard)
        assert not [said for chain in guard.verified().chains for said in chain.notices if "without a rotation" in said]
    file.write_bytes(keys.new_key()[1])
    async with world(tmp_path) as guard:
        assert in_file(guard) not in (old, before)
        await guard.call()
        (chain,) = guard.verified().chains
        started = [said["seq"] for said in guard.said() if said["kind"] == "started"][-1]
        assert [said for said in chain.notices if f"record {started}: from here on another key signs" in said]
        assert not guard.verified(trust=given(before)).whole
