"""Verifies all chains of a store."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Final

from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.prunings import Stretch, unfinished_prunings
from mcpguard.ledger.verify.anchor_check import AnchorCheck
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.helpers import ALONE, WorkShare, checking
from mcpguard.ledger.verify.index_check import check_index
from mcpguard.ledger.verify.report import ChainReport, KeyTrust, Report, Tampering
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.ledger.verify.walk import Progress, Walk
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import refuse_misfits
from mcpguard.store.rows import chains, checkpoints, records
from mcpguard.store.rows.segments import bodies_in, records_in, segments

Connect = Callable[[], Connection]
TRIES: Final = 5


def verify(
    connect: Connect,
    place: str,
    anchors: Iterable[Checkpoint],
    trust: KeyTrust,
    progress: Progress,
    share: WorkShare = ALONE,
) -> Report:
    """Verify every chain in the store. `anchors`: external checkpoints. `share`: whether other processes help.

    Works on a live store too: records that are added meanwhile are not looked at.
    """
    with connect() as connection:
        refuse_misfits(connection, place)
        begun = set(chains.list_chains(connection))
        anchored = AnchorCheck(connection, sorted(begun | records.chains_named(connection)))
        for anchor in anchors:
            anchored.take(anchor)
        # Another store's checkpoints are no problem, unless this store has none of the chains that they name.
        if not any(report.anchor_keys for report in anchored.reports.values()):
            anchored.report_missing_chains()
    at_rest = partial(_at_rest, connect, trust, progress, share)
    walked = [at_rest(asked, asked.chain in begun) for asked in anchored.reports.values()]
    return Report(place, trust, tuple(walked), anchored.elsewhere)


def _at_rest(
    connect: Connect, trust: KeyTrust, progress: Progress, share: WorkShare, asked: ChainReport, begun: bool
) -> ChainReport:
    """Verify a chain, and again if it has problems and the guard pruned meanwhile: records and bodies are not read in
    one moment then."""
    for _ in range(TRIES):
        report, before = deepcopy(asked), _pruning(connect, asked.chain)
        _walk(connect, trust, progress, share, report, begun)
        # Nothing was pruned meanwhile: what was found is there.
        if report.whole or _pruning(connect, asked.chain) == before:
            break
    return report


def _pruning(connect: Connect, chain: str) -> tuple[int, list[tuple[Stretch, int]]]:
    """How far pruning has come: the last pruning record, and what is unfinished."""
    with connect() as connection:
        return records.last_of_kind(connection, chain, "pruned"), unfinished_prunings(connection, chain)


def _walk(
    connect: Connect, trust: KeyTrust, progress: Progress, share: WorkShare, report: ChainReport, begun: bool
) -> None:
    chain = report.chain
    with connect() as of_records, connect() as of_checkpoints:
        signed = checkpoints.last_checkpoint(of_checkpoints, chain)  # before the end is read, which may move on
        end = records.last_record(of_records, chain)
        upto = end[0] if end else 0
        signed_upto = max(upto, signed.seq if signed else 0)
        # A chain without records, or records, bodies or checkpoints without a chain: a table was edited.
        if not (begun and end):
            report.add_problem(
                1, Tampering.INCONSISTENT, "the table of chains and the table of records disagree about it"
            )
        hash_of = partial(records.hash_of, of_records, chain)
        keys = KeySuccession(records.records_of_kind(of_records, chain, "rotated", upto), hash_of, trust, report)
        tombstones = Tombstones(records.records_of_kind(of_records, chain, "pruned", upto), report)
        for key in tombstones.keys:
            keys.announce(key)
        signatures = Signatures(checkpoints.walk(of_checkpoints, chain, signed_upto), keys, report)
        walk = Walk(report, signatures, tombstones, progress)
        with checking(connect, share, upto) as check:
            for segment, plain in check(segments(of_records, chain, upto, share.size)):
                # What helpers found right is read again where it is needed to say what is wrong.
                if plain is None or not walk.join(plain):
                    bodies = BodyCheck(bodies_in(of_records, segment), report, tombstones)
                    walk.run(records_in(of_records, segment), bodies)
        walk.finish()
        for seq in records.bodies_behind(of_records, chain, upto):
            report.add_problem(seq, Tampering.BODY_ADDED, "a body is stored here that belongs to no record")
        if report.whole:
            check_index(of_records, report)
