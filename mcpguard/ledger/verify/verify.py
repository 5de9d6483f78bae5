"""The whole question: are the chains of this store whole?"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Final

from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.prunings import Stretch, unfinished
from mcpguard.ledger.verify.anchored import Anchored
from mcpguard.ledger.verify.bodies import BodyCheck
from mcpguard.ledger.verify.report import ChainReport, KeyTrust, Report, Tampering
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.succession import KeySuccession
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.ledger.verify.walk import Progress, Walk
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.offline import refuse_misfits
from mcpguard.store.rows import chains, checkpoints, records

Connect = Callable[[], Connection]
TRIES: Final = 5


def verify(connect: Connect, place: str, anchors: Iterable[Checkpoint], trust: KeyTrust, progress: Progress) -> Report:
    """Walk every chain in the store. `anchors`: checkpoints that were kept elsewhere.

    Works on a live store too: what is appended while it walks is left for the next time.
    """
    with connect() as connection:
        refuse_misfits(connection, place)
        begun = set(chains.every(connection))
        anchored = Anchored(connection, sorted(begun | records.chains_named(connection)))
        for anchor in anchors:
            anchored.take(anchor)
        if not any(report.anchor_keys for report in anchored.reports.values()):
            anchored.missing()
    walked = [_at_rest(connect, asked, asked.chain in begun, trust, progress) for asked in anchored.reports.values()]
    return Report(place, trust, tuple(walked), anchored.elsewhere)


def _at_rest(connect: Connect, asked: ChainReport, begun: bool, trust: KeyTrust, progress: Progress) -> ChainReport:
    """While the guard prunes, records and bodies that are read one after the other are not of one moment: what is found
    then is looked at again."""
    for _ in range(TRIES):
        report, before = deepcopy(asked), _pruning(connect, asked.chain)
        _walk(connect, report, begun, trust, progress)
        if report.whole or _pruning(connect, asked.chain) == before:
            break
    return report


def _pruning(connect: Connect, chain: str) -> tuple[int, list[tuple[Stretch, int]]]:
    """How far pruning has come."""
    with connect() as connection:
        return records.last_of(connection, chain, "pruned"), unfinished(connection, chain)


def _walk(connect: Connect, report: ChainReport, begun: bool, trust: KeyTrust, progress: Progress) -> None:
    chain = report.chain
    with connect() as of_records, connect() as of_bodies, connect() as of_checkpoints:
        signed = checkpoints.last(of_checkpoints, chain)  # before the end is read, which may move on
        end = records.last(of_records, chain)
        upto = end[0] if end else 0
        signed_upto = max(upto, signed.seq if signed else 0)
        if begun != bool(end):
            report.found(1, Tampering.INCONSISTENT, "the table of chains and the table of records do not agree on it")
        hash_of = partial(records.hash_of, of_records, chain)
        keys = KeySuccession(records.of_kind(of_records, chain, "rotated", upto), hash_of, trust, report)
        tombstones = Tombstones(records.of_kind(of_records, chain, "pruned", upto), report)
        for key in tombstones.keys:
            keys.announce(key)
        Walk(
            report,
            Signatures(checkpoints.walk(of_checkpoints, chain, signed_upto), keys, report),
            BodyCheck(records.walk_bodies(of_bodies, chain, upto), report, tombstones),
            tombstones,
            progress,
        ).over(records.walk(of_records, chain, upto))
