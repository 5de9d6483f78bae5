"""`/audit/verify`: the whole log is verified as the command does it, and what is wrong is told, with where."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpguard.domain.people import Role
from mcpguard.guard.audit.verification import NO_ANCHORS, UNFINISHED, RunningVerification, _Ended, _rested
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.verify.explain import sentences
from mcpguard.ledger.verify.report import KeySource, KeyTrust
from tests.gateway.holding import until
from tests.ledger.tampering import rechain, tampering
from tests.web.pages.reading import page
from tests.web.pages.reading import text as plain
from tests.web.rest import browser
from tests.world import World, world

pytestmark = pytest.mark.anyio
VERIFY = "/audit/verify"
SENT = {"content-type": "application/x-www-form-urlencoded"}
"""As a form without fields."""
FORGED = "UPDATE records SET content = CAST(replace(CAST(content AS TEXT), 'an agent', 'nobody at') AS BLOB)"


async def asked(guard: World, by: dict[str, str]) -> str:
    """The page, when what was asked for has come to its end."""
    answer = await guard.network.post(VERIFY, headers=SENT | by)
    assert (answer.status_code, answer.headers["location"]) == (303, VERIFY)
    verifying = guard.now.guard.verifying
    await until(lambda: verifying.now is None and verifying.last is not None)
    return plain(await page(guard, by, VERIFY))


async def test_a_whole_log_is_told_as_that_everywhere(guard: World) -> None:
    by = await browser(guard, Role.AUDITOR)
    before = plain(await page(guard, by, VERIFY))
    assert "Not verified since the guard started." in before
    assert "Not verified since the guard started." in plain(await page(guard, by, "/audit"))
    await guard.call()
    told = await asked(guard, by)
    newest = len(guard.said())
    assert f"Integrity OK , verified up to record {newest} ." in told
    await guard.call()
    audit = plain(await page(guard, by, "/audit"))
    assert f"Integrity OK: verified up to {newest} at" in audit
    assert "2 newer records are not verified yet." in audit
    assert f"Audit log: verified Verified up to record {newest} at" in plain(await page(guard, by, "/"))
    assert len(guard.said()) == newest + 2, "looking leaves no record"


async def test_it_says_what_the_command_says_of_this_data_directory(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
    await asked(guard, by)
    last, key = guard.now.guard.verifying.last, guard.now.ledger.chain.public_key
    assert last is not None
    report = guard.verified(trust=KeyTrust(frozenset({key}), KeySource.BESIDE))
    assert [*last.said] == [each.strip().replace(str(guard.database), "the store") for each in sentences(report)]
    assert any("a key stored beside the log" in each for each in last.said)
    assert str(guard.database.parent) not in await page(guard, by, VERIFY)


async def test_a_log_that_was_tampered_with_is_told_as_broken_with_the_record(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    with tampering(guard.database) as connection:
        connection.execute(f"{FORGED} WHERE kind = 'closed'")
    seq = next(record["seq"] for record in guard.said() if "nobody at" in str(record.values()))
    told = await asked(guard, by)
    assert f"Integrity FAILED at record {seq} (edited): its content or its hash is not what was written." in told
    assert f'href="/audit/{seq}"' in await page(guard, by, VERIFY)
    assert f"Audit log: FAILED Broken at record {seq}, detected at" in plain(await page(guard, by, "/"))
    assert f"Integrity FAILED at record {seq}" in plain(await page(guard, by, "/audit"))


async def test_a_careful_forger_is_found_by_the_key_that_signs_here(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
    with tampering(guard.database) as connection:
        connection.execute(FORGED)
        rechain(connection)
    assert "(rewritten)" in await asked(guard, by)


async def test_a_store_that_holds_what_no_guard_writes_is_told_as_not_whole(guard: World) -> None:
    by = await browser(guard)
    with tampering(guard.database) as connection:
        connection.execute("UPDATE records SET kind = x'ff' WHERE seq = 2")
    told = await asked(guard, by)
    assert "Integrity FAILED" in told
    assert "in the table records, record 2 of chain" in told
    assert "Audit log: FAILED" in told


async def test_what_cannot_be_read_is_not_told_as_whole_and_names_no_file(guard: World) -> None:
    by = await browser(guard)
    await asked(guard, by)
    guard.database.rename(guard.database.with_suffix(".aside"))
    answer = await guard.network.post(VERIFY, headers=SENT | by)
    assert answer.status_code == 303
    verifying = guard.now.guard.verifying
    await until(lambda: verifying.now is None)
    guard.database.with_suffix(".aside").rename(guard.database)
    text = await page(guard, by, VERIFY)
    assert "Not finished" in text
    assert UNFINISHED in plain(text)
    assert str(guard.database.parent) not in text
    assert "Audit log: verified" not in text


async def test_one_is_made_at_a_time(guard: World) -> None:
    by, verifying = await browser(guard), guard.now.guard.verifying
    await guard.network.post(VERIFY, headers=SENT | by)
    began = verifying.now
    assert began is not None
    assert not verifying.begin("somebody else")
    assert verifying.now is began
    await until(lambda: verifying.now is None)
    assert verifying.last is not None
    assert verifying.last.by.endswith("(ada)")
    assert verifying.begin("somebody else")
    await until(lambda: verifying.now is None)
    assert verifying.last.by == "somebody else"


async def test_whoever_may_not_look_begins_none(guard: World) -> None:
    for by in (await browser(guard, Role.VIEWER), {}):
        answer = await guard.network.post(VERIFY, headers=SENT | by)
        assert answer.status_code in (303, 403)
        assert answer.headers.get("location", "/login") == "/login"
    assert guard.now.guard.verifying.now is None
    assert guard.now.guard.verifying.last is None


@asynccontextmanager
async def anchored(folder: Path) -> AsyncIterator[tuple[World, Path]]:
    file = folder / "elsewhere" / "anchors"
    file.parent.mkdir()
    async with world(folder, audit__anchor_file=file) as guard:
        yield guard, file


async def test_the_anchor_file_is_held_against_the_log(tmp_path: Path) -> None:
    async with anchored(tmp_path) as (guard, file):
        by = await browser(guard)
        await guard.call()
        await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
        assert guard.now.guard.anchoring is not None
        await guard.now.guard.anchoring.catch_up()
        assert file.read_bytes().count(b"\n") > 0
        told = await asked(guard, by)
        assert ": covered by an external checkpoint; nobody rewrote them." in told
        with tampering(guard.database) as connection:
            connection.execute(FORGED)
            rechain(connection)
            connection.execute("DELETE FROM checkpoints WHERE seq > 1")
        assert "an external checkpoint has a different hash for it" in await asked(guard, by)
        file.unlink()
        assert NO_ANCHORS in await asked(guard, by)
        file.write_text("nothing of ours")
        assert UNFINISHED in await asked(guard, by)


def test_it_rests_as_long_as_it_works_and_ends_when_the_guard_does() -> None:
    times = iter([0.0, 3.0, 100.0, 100.0, 100.0, 101.0])
    underway, stopping, rests = RunningVerification("me", 0, 10), threading.Event(), list[float]()
    told = _rested(underway, _Waiting(rests, stopping), lambda: next(times))
    told(7)
    assert (underway.at, rests) == (7, [0.5])
    told(9)
    assert rests == [0.5, 0.0]
    stopping.set()
    with pytest.raises(_Ended):
        told(10)


class _Waiting(threading.Event):
    """An event for which nobody waits, and that says how long they would have."""

    def __init__(self, rests: list[float], of: threading.Event) -> None:
        super().__init__()
        self._rests, self._of = rests, of

    def wait(self, timeout: float | None = None) -> bool:
        self._rests.append(timeout or 0.0)
        return self._of.is_set()


async def test_whatever_makes_it_fail_ends_that_verification_and_not_the_guard(
    guard: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    by = await browser(guard)
    monkeypatch.setattr("mcpguard.guard.audit.verification.verify", fails)
    assert UNFINISHED in await asked(guard, by)
    monkeypatch.undo()
    assert "Integrity OK , verified up to record" in await asked(guard, by)
    assert (await guard.call()).executed.value == "yes"
