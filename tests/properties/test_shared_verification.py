"""However a chain is cut into segments, and whoever checks them: what is found is the same, in the same words and the
same order, as one record after the other finds, of whole chains and of chains to which anything was done."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil  # type: ignore[import-untyped]  # no stubs are among the dependencies
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url

from mcpguard.domain.errors import NotWhole
from mcpguard.ledger.verify import call_entries
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.explain import as_json, sentences
from mcpguard.ledger.verify.helpers import HelperLost, WorkShare
from mcpguard.ledger.verify.report import LOG_ONLY, ChainReport, Report, Tampering
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.ledger.verify.verify import verify
from mcpguard.ledger.verify.walk import Walk
from mcpguard.store.engine.offline import Place, open_offline, refuse_misfits
from mcpguard.store.rows import chains, checkpoints, records
from tests.ledger.forging import ATTACKS, HISTORIES, Attack, History, Step, attack
from tests.postgres import fresh_database
from tests.tiers import examples
from tests.world import world

LONG: list[Step] = [("call", 1), ("open", 3), ("call", 2)] * 20
Found = str | tuple[object, ...]


def found(file: Place, share: WorkShare) -> Found:
    """Everything that is found, or the sentence of the error."""
    try:
        with open_offline(file) as connect:
            return told(verify(connect, "here", (), LOG_ONLY, lambda _: None, share))
    except NotWhole as error:
        return str(error)


def told(report: Report) -> tuple[object, ...]:
    return as_json(report), [*sentences(report)], report.chains


def one_by_one(file: Path) -> Found:
    """What is found without segments: every record of every chain is checked after the one before it."""
    reports = []
    with open_offline(file) as connect, connect() as connection, connect() as other, connect() as third:
        try:
            refuse_misfits(connection, "here")
        except NotWhole as error:
            return str(error)
        begun = {*chains.list_chains(connection)}
        for chain in sorted(begun | records.chains_named(connection)):
            report = ChainReport(chain)
            signed, end = checkpoints.last_checkpoint(connection, chain), records.last_record(connection, chain)
            upto = end[0] if end else 0
            if not (chain in begun and end):
                sentence = "the table of chains and the table of records disagree about it"
                report.add_problem(1, Tampering.INCONSISTENT, sentence)
            of_kind = partial(records.records_of_kind, connection, chain, upto=upto)
            keys = KeySuccession(of_kind("rotated"), partial(records.hash_of, third, chain), LOG_ONLY, report)
            tombstones = Tombstones(of_kind("pruned"), report)
            for key in tombstones.keys:
                keys.announce(key)
            stored = checkpoints.walk(third, chain, max(upto, signed.seq if signed else 0))
            walk = Walk(report, Signatures(stored, keys, report), tombstones, lambda _: None)
            bodies = BodyCheck(records.walk_bodies(other, chain, upto), report, tombstones)
            walk.run(records.walk(connection, chain, upto), bodies)
            walk.finish()
            for seq in records.bodies_behind(connection, chain, upto):
                report.add_problem(seq, Tampering.BODY_ADDED, "a body is stored here that belongs to no record")
            reports.append(report)
    return told(Report("here", LOG_ONLY, tuple(reports)))


def shared(place: Place, processes: int = 2, size: int = 3) -> WorkShare:
    return WorkShare(place, processes, least=0, size=size)


@pytest.fixture
def long(tmp_path: Path) -> Path:
    return History(tmp_path / "long.db").live(LONG)


def helpers() -> list[psutil.Process]:
    return [*psutil.Process().children()]


@settings(max_examples=examples(200), deadline=None)
@given(history=HISTORIES, attacks=ATTACKS, size=st.sampled_from([1, 2, 3, 5, 8, 1000]))
def test_segments_find_what_one_record_after_the_other_finds(
    history: list[Step], attacks: list[Attack], size: int
) -> None:
    with TemporaryDirectory() as folder:
        file = History(Path(folder, "chain.db")).live(history)
        attack(file, attacks)
        assert found(file, WorkShare(size=size)) == one_by_one(file)


@settings(max_examples=examples(10), deadline=None)
@given(history=HISTORIES, attacks=ATTACKS, size=st.integers(1, 5))
def test_helpers_find_what_one_record_after_the_other_finds(
    history: list[Step], attacks: list[Attack], size: int
) -> None:
    with TemporaryDirectory() as folder:
        file = History(Path(folder, "chain.db")).live(history)
        attack(file, attacks)
        assert found(file, shared(file, 2, size)) == one_by_one(file)


@pytest.mark.parametrize("most", [0, 3, 21])
def test_no_more_entries_are_followed_than_otherwise(most: int, long: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_entries, "MOST", most)
    said = one_by_one(long)
    assert ("more than" in str(said)) == (most < 21)
    assert found(long, WorkShare(size=7)) == found(long, shared(long, size=7)) == said


async def test_helpers_read_a_server_too(tmp_path: Path, postgres_server: str) -> None:
    url = fresh_database(postgres_server)
    async with world(tmp_path, store__url=url) as guard:
        for _ in range(9):
            await guard.call()
        place = make_url(url)
        alone = found(place, WorkShare())
        assert found(place, shared(place)) == found(place, WorkShare(size=2)) == alone
        assert "Integrity: OK" in str(alone)


def test_no_process_is_started_for_a_short_chain_or_by_one_alone(long: Path) -> None:
    begun: list[psutil.Process] = []
    for share in (WorkShare(long, 8), shared(long, 1)):
        with open_offline(long) as connect:
            verify(connect, "here", (), LOG_ONLY, lambda _: begun.extend(helpers()), share)
    assert begun == []


@pytest.mark.parametrize("victims", [slice(0, 1), slice(1, 2), slice(0, 2)], ids=["first", "second", "both"])
def test_a_killed_helper_ends_the_verification(victims: slice, long: Path) -> None:
    def kill(_: int) -> None:
        for helper in helpers()[victims]:
            helper.kill()

    with open_offline(long) as connect, pytest.raises(HelperLost, match=r"was not verified.* was killed \(SIGKILL\)"):
        verify(connect, "here", (), LOG_ONLY, kill, shared(long, size=1))
    assert helpers() == []


def test_an_interrupt_leaves_no_helper(long: Path) -> None:
    seen: list[psutil.Process] = []

    def interrupt(_: int) -> None:
        seen.extend(helpers())
        # A terminal interrupts the whole group, of which helpers are no part.
        assert all(os.getpgid(helper.pid) != os.getpgid(0) for helper in seen)
        raise KeyboardInterrupt

    with open_offline(long) as connect, pytest.raises(KeyboardInterrupt):
        verify(connect, "here", (), LOG_ONLY, interrupt, shared(long, size=1))
    assert len(seen) == 2
    assert helpers() == []


PARENT = """
import os, sys, psutil
from pathlib import Path
from mcpguard.ledger.verify.helpers import WorkShare
from mcpguard.ledger.verify.report import LOG_ONLY
from mcpguard.ledger.verify.verify import verify
from mcpguard.store.engine.offline import open_offline

def told(_):
    print(*(each.pid for each in psutil.Process().children()), flush=True)
    sys.stdin.read()

place = Path(sys.argv[1])
with open_offline(place) as connect:
    verify(connect, "here", (), LOG_ONLY, told, WorkShare(place, 2, least=0, size=1))
"""


def test_helpers_end_with_a_parent_that_is_killed(long: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", PARENT, str(long)], stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        them = [psutil.Process(int(each)) for each in parent.stdout.readline().split()]
        assert len(them) == 2
        parent.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(them, timeout=60)
        assert alive == []
