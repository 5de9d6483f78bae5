"""Checks the integrity of records before pruning; records that were tampered with are evidence, and are kept."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from mcpguard.ledger.format import GENESIS, SALT_BYTES, body_digest, link, parse_content
from mcpguard.ledger.prunings import NOTHING, CoveredNumbers, Unsound
from mcpguard.store.engine.backend import Connection
from mcpguard.store.rows import records
from mcpguard.store.rows.pages import batches
from mcpguard.store.rows.records import COLUMNS, StoredBody, StoredRecord

TOGETHER: Final = 10
"""Bodies that are read at once: each may have 16 MiB."""


def sound(chain: str, stored: StoredRecord, previous: bytes | None) -> Mapping[str, Any]:
    """The fields of a record, after checking it against the previous hash. Raises Unsound."""
    # Pruning destroys evidence. So whatever does not match its hash is kept.
    if stored.content is None or previous is None or link(previous, stored.content) != stored.hash:
        raise Unsound(f"record {stored.seq} is not what was written")
    said = parse_content(stored.content)
    if said.get("chain") != chain or tuple(map(said.get, COLUMNS)) != stored.columns:
        raise Unsound(f"the columns of record {stored.seq} are not what was written")
    return said


def check_bodies(
    connection: Connection, chain: str, told: Mapping[int, Mapping[str, Any]], pruned: CoveredNumbers = NOTHING
) -> None:
    """Compare bodies with their records. `pruned`: the numbers whose bodies may be gone. Raises Unsound."""
    for some in batches(sorted(told), TOGETHER):
        there = {body.seq: body for body in records.bodies_of(connection, chain, some)}
        for seq in some:
            _compare(seq, told[seq], there.get(seq), pruned)


def check_alone(connection: Connection, chain: str, seqs: Sequence[int]) -> None:
    """Check each of these records against the previous one, and its body. Raises Unsound."""
    for some in batches(seqs, TOGETHER):
        beside = {each.seq: each for each in _with_those_before(connection, chain, some)}
        told = {}
        for seq in some:
            if seq not in beside:
                raise Unsound(f"record {seq} is missing")
            before = beside.get(seq - 1)
            told[seq] = sound(chain, beside[seq], GENESIS if seq == 1 else before.hash if before else None)
        check_bodies(connection, chain, told)


def _with_those_before(connection: Connection, chain: str, seqs: Iterable[int]) -> list[StoredRecord]:
    wanted = {*seqs}
    return records.records_numbered(connection, chain, sorted(wanted | {seq - 1 for seq in wanted}))


def _compare(seq: int, said: Mapping[str, Any], body: StoredBody | None, pruned: CoveredNumbers) -> None:
    if said.get("body_kept") is not True:
        if body is not None:
            raise Unsound(f"a body is stored for record {seq}, which has none")
    elif body is None:
        raise Unsound(f"the body of record {seq} is missing")
    elif body.salt is None and body.content is None:
        # Emptied by somebody, and not by the guard: that is tampering, and stays visible.
        if seq not in pruned:
            raise Unsound(f"the body of record {seq} is gone, and no record accounts for it")
    else:
        salt, content = body.salt or b"", body.content or b""
        sizes = (len(salt), len(content))
        if said.get("body_digest") != body_digest(salt, content) or sizes != (SALT_BYTES, said.get("body_size")):
            raise Unsound(f"the body of record {seq} is not what was written")
