"""The whole question: are the chains of this store whole?"""

from collections.abc import Callable

from mcpguard.ledger.checkpoints import Checkpoint
from mcpguard.ledger.verify.bodies import Bodies
from mcpguard.ledger.verify.report import ChainReport, Report, Tampering, Trust
from mcpguard.ledger.verify.signatures import Signatures
from mcpguard.ledger.verify.tombstones import Tombstones
from mcpguard.ledger.verify.walk import Progress, Walk
from mcpguard.store import chains, checkpoints, records
from mcpguard.store.backend import Connection
from mcpguard.store.offline import refuse_misfits

Connect = Callable[[], Connection]


def verify(connect: Connect, place: str, anchor: Checkpoint | None, trust: Trust, progress: Progress) -> Report:
    """Walk every chain in the store. `anchor` is a checkpoint kept elsewhere.

    Works on a live store too: what is appended while it walks is left for the next time.
    """
    with connect() as connection:
        refuse_misfits(connection, place)
        begun = set(chains.every(connection))
        found = sorted(begun | records.chains_named(connection))
    if anchor is not None and anchor.chain not in found:
        found.append(anchor.chain)
    walked = (_chain(connect, chain, chain in begun, anchor, trust, progress) for chain in found)
    return Report(place, trust, tuple(walked))


def _chain(
    connect: Connect, chain: str, begun: bool, anchor: Checkpoint | None, trust: Trust, progress: Progress
) -> ChainReport:
    report = ChainReport(chain)
    mine = anchor if anchor is not None and anchor.chain == chain else None
    with connect() as of_records, connect() as of_bodies, connect() as of_checkpoints:
        signed = checkpoints.last(of_checkpoints, chain)  # before the end is read, which may move on
        end = records.last(of_records, chain)
        upto = end[0] if end else 0
        signed_upto = max(upto, signed.seq if signed else 0)
        if begun != bool(end):
            report.found(1, Tampering.INCONSISTENT, "the table of chains and the table of records do not agree on it")
        tombstones = Tombstones(records.of_kind(of_records, chain, "pruned", upto), report)
        Walk(
            report,
            Signatures(checkpoints.walk(of_checkpoints, chain, signed_upto), mine, trust.keys, report),
            Bodies(records.walk_bodies(of_bodies, chain, upto), report, tombstones),
            tombstones,
            progress,
        ).over(records.walk(of_records, chain, upto))
    return report
