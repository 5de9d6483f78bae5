"""A bundle of a log whose key was rotated: which keys prove what, and what a retired or a stranger's key is worth."""

from pathlib import Path

import pytest

from mcpguard.domain.filters import Filter, FilterKey, FilterTerm
from mcpguard.ledger.bundle.bundle_report import BundleReport, Flaw
from mcpguard.ledger.checkpoints import Checkpoint, SignedCheckpoint
from mcpguard.ledger.export.selection import EVERYTHING, Fitting
from mcpguard.ledger.verify.report import Tampering
from tests import second_bundle_verifier
from tests.ledger.bundling import STRANGER, bundle, checked, key_of
from tests.ledger.rotating import rotated
from tests.world import World, world

pytestmark = pytest.mark.anyio
SOME = Fitting(Filter((FilterTerm(FilterKey.SERVER, ("files",)),)))
ROTATIONS = Fitting(Filter((FilterTerm(FilterKey.KIND, ("rotated",)),)))


async def a_log(folder: Path) -> tuple[Path, list[str], list[Checkpoint]]:
    """Its file, the keys in their order, and a checkpoint by each that was kept elsewhere."""
    keys, kept = list[str](), list[Checkpoint]()

    def keep(guard: World) -> None:
        signed = guard.now.ledger.chain.signed
        assert isinstance(signed, SignedCheckpoint)
        keys.append(signed.statement.key)
        kept.append(signed.statement)

    async with world(folder, audit__checkpoint_records=4) as guard:
        for round_ in range(3):
            for _ in range(4):
                await guard.call()
            keep(guard)
            if round_ < 2:
                await rotated(guard)
        database = guard.database
    return database, keys, kept


def problems(report: BundleReport) -> set[object]:
    assert report.chain is not None
    return {each.flaw for each in report.problems} | {each.tampering for each in report.chain.problems}


@pytest.mark.parametrize("selection", [EVERYTHING, SOME], ids=["all", "some"])
async def test_whoever_has_the_newest_key_or_none_finds_it_whole(tmp_path: Path, selection: Fitting) -> None:
    ledger, keys, kept = await a_log(tmp_path)
    assert len({*keys}) == 3
    bundle(tmp_path / "bundle", ledger, selection=selection)
    for key in (keys[-1], None):
        for anchors in ((), kept):
            report = checked(tmp_path / "bundle", key, *anchors)
            assert report.whole, (report.problems, report.chain)
            assert report.chain is not None
            assert report.chain.checkpoints > 0
    anchored = checked(tmp_path / "bundle", keys[-1], *kept).chain
    assert anchored is not None
    assert selection == SOME or anchored.anchored_to == kept[-1].seq


async def test_an_older_key_reaches_the_newest_by_the_records_that_are_there(tmp_path: Path) -> None:
    ledger, keys, _ = await a_log(tmp_path)
    bundle(tmp_path / "whole", ledger)
    for key in keys:
        assert checked(tmp_path / "whole", key).whole
    bundle(tmp_path / "some", ledger, selection=SOME)
    for key in keys[:-1]:
        assert Flaw.KEY in problems(checked(tmp_path / "some", key)), "nothing in it joins them"


@pytest.mark.parametrize("selection", [EVERYTHING, SOME], ids=["all", "some"])
async def test_a_strangers_key_is_worth_nothing(tmp_path: Path, selection: Fitting) -> None:
    ledger, keys, _ = await a_log(tmp_path)
    bundle(tmp_path / "bundle", ledger, selection=selection)
    assert Flaw.KEY in problems(checked(tmp_path / "bundle", STRANGER.public))
    bundle(tmp_path / "theirs", ledger, selection=selection, key=STRANGER)
    for key in keys:
        assert Flaw.KEY in problems(checked(tmp_path / "theirs", key))


@pytest.mark.parametrize("selection", [EVERYTHING, ROTATIONS], ids=["all", "some"])
async def test_a_key_that_was_retired_signs_no_bundle_of_what_came_after(tmp_path: Path, selection: Fitting) -> None:
    async with world(tmp_path) as guard:
        ledger, old = guard.database, key_of(guard.database)
        await guard.call()
        await rotated(guard)
        await guard.call()
    bundle(tmp_path / "stolen", ledger, selection=selection, key=old)
    for key in (None, old.public, key_of(ledger).public):
        report = checked(tmp_path / "stolen", key)
        assert Flaw.KEY in problems(report)
        assert not report.whole
    assert second_bundle_verifier.verify(tmp_path / "stolen", old.public)
    bundle(tmp_path / "right", ledger, selection=selection)
    assert checked(tmp_path / "right", old.public).whole


async def test_a_checkpoint_that_names_another_hash_is_found_among_many(tmp_path: Path) -> None:
    ledger, keys, kept = await a_log(tmp_path)
    bundle(tmp_path / "bundle", ledger)
    wrong = Checkpoint(kept[1].chain, kept[1].seq, "0" * 64, 1, kept[1].why, 0, kept[1].key)
    report = checked(tmp_path / "bundle", keys[-1], kept[0], wrong, kept[2])
    assert not report.whole
    assert problems(report) == {Tampering.REWRITTEN}
    assert key_of(ledger).public == keys[-1]
