"""Describes a verification report, as text and as JSON: the findings, and how far the result can be relied on."""

from collections.abc import Iterator
from datetime import UTC, datetime

from mcpguard.ledger.keys import display_name
from mcpguard.ledger.verify.report import ChainReport, KeySource, KeyTrust, Report


def sentences(report: Report) -> Iterator[str]:
    """The report as sentences for a person. The last one is the answer."""
    if not report.chains:
        yield f"{report.place}: nothing has been recorded yet."
    for chain in report.chains:
        yield f"Chain {chain.chain} in {report.place}: {chain.records:,} records{_at(chain)}."
        if chain.pruned:
            yield f"  {chain.pruned:,} of them were pruned; their hashes still link the chain."
        yield from (f"  Note: {notice}." for notice in listed_notices(chain))
        yield from _problems(chain)
        yield from _open(chain)
        yield from (f"  {line}" for line in rests_on(chain, report.trust))
    for missing, seq in report.elsewhere.items():
        yield (
            f"Note: an external checkpoint covers chain {missing} up to record {seq:,}, which is not in "
            f"{report.place}: it belongs to another store, or a whole chain was removed."
        )
    yield f"Integrity: {'OK' if report.whole else 'FAILED'}"


_SIGNED_BY = {
    KeySource.LOG: (
        "a key that only the log itself names ({keys}): whoever can write the log can name a key of their own. "
        "Compare it with the guard's public key, and verify with that one"
    ),
    KeySource.BESIDE: (
        "a key stored beside the log ({keys}): no proof against whoever controls both. "
        "Keep a checkpoint in another place, and verify with that one"
    ),
    KeySource.ANCHOR: "the key of an external checkpoint ({keys}): nobody without it rewrote them",
    KeySource.GIVEN: "the given key ({keys}): nobody without it rewrote them",
}
_SUCCEEDED = {
    KeySource.BESIDE: "a key stored beside the log, or one it was rotated to",
    KeySource.ANCHOR: "the key of an external checkpoint, or one it was rotated to",
    KeySource.GIVEN: "the given key, or one it was rotated to",
}


def rests_on(chain: ChainReport, trust: KeyTrust) -> Iterator[str]:
    """Which records are covered by what: external checkpoints, signatures, or the hash chain alone."""
    # An external checkpoint names its key, which then is known from outside of the log.
    source = KeySource.ANCHOR if trust.source is KeySource.LOG and chain.anchor_keys else trust.source
    rested = max(chain.signed_to, chain.anchored_to)
    if chain.anchored_to:
        yield f"{_span(1, chain.anchored_to)}: covered by an external checkpoint; nobody rewrote them."
    # What an external checkpoint covers needs no signature in the store.
    if chain.signed_to > chain.anchored_to:
        signed_by = _signers(chain, source, trust)
        yield f"{_span(chain.anchored_to + 1, chain.signed_to)}: signed by {signed_by}."
    if chain.earlier_to > rested:
        yield (
            f"Checkpoints up to record {chain.earlier_to:,} are signed by earlier keys. They prove nothing: "
            "the key that counts has signed nothing after them."
        )
    if chain.last_seq > rested:
        # What earlier keys signed is signed, and nobody may rely on it.
        how = "hash-chained only" if chain.earlier_to > rested else "hash-chained, not signed"
        yield f"{_span(rested + 1, chain.last_seq)}: {how}; truncation of the tail cannot be detected."


def _span(first: int, last: int) -> str:
    return f"Records {first:,} to {last:,}" if first < last else f"Record {last:,}"


def _signers(chain: ChainReport, source: KeySource, trust: KeyTrust) -> str:
    keys = ", ".join(sorted(display_name(key) for key in chain.signers))
    # Signers beyond the known keys are their successors, by rotations in the log.
    known = trust.keys | chain.anchor_keys
    if known and chain.signers - known:
        return f"{_SUCCEEDED[source]} ({keys}): nobody without one of them rewrote them"
    return _SIGNED_BY[source].format(keys=keys)


def as_json(report: Report) -> dict[str, object]:
    """The report as JSON for a program."""
    return {
        "place": report.place,
        "whole": report.whole,
        "chains": [
            {
                "chain": chain.chain,
                "whole": chain.whole,
                "records": chain.records,
                "last": chain.last_seq,
                "pruned": chain.pruned,
                "bodies": chain.bodies,
                "checkpoints": chain.checkpoints,
                "signed_to": chain.signed_to,
                "anchored_to": chain.anchored_to,
                "earlier_to": chain.earlier_to,
                "rotations": chain.rotations,
                "keys": sorted(chain.keys),
                "signers": sorted(chain.signers),
                "open": sorted(chain.open_entries),
                "notices": [*listed_notices(chain)],
                "problem_count": chain.problem_count,
                "problems": [
                    {"seq": problem.seq, "tampering": problem.tampering.value, "sentence": problem.sentence}
                    for problem in chain.problems
                ],
                "rests_on": list(rests_on(chain, report.trust)),
            }
            for chain in report.chains
        ],
        "elsewhere": dict(report.elsewhere),
    }


def listed_notices(chain: ChainReport) -> Iterator[str]:
    """The notices of a chain, and how many more there are than were kept."""
    yield from chain.notices
    for kind, more in sorted(chain.unlisted.items()):
        yield f"{more:,} more records of kind {kind} are not listed here"


def _problems(chain: ChainReport) -> Iterator[str]:
    if chain.first is None:
        return
    yield f"  FIRST BAD RECORD: {chain.first.seq} ({chain.first.tampering}): {chain.first.sentence}."
    for problem in chain.problems[1:]:
        yield f"  also {problem.seq} ({problem.tampering}): {problem.sentence}."
    hidden = chain.problem_count - len(chain.problems)
    if hidden:
        yield f"  and {hidden:,} more."


def _open(chain: ChainReport) -> Iterator[str]:
    if chain.open_entries:
        shown = sorted(chain.open_entries)[:10]
        more = len(chain.open_entries) - len(shown)
        yield f"  Open calls: {len(chain.open_entries)} ({', '.join(shown)}{f' and {more} more' if more else ''})."


def _at(chain: ChainReport) -> str:
    if chain.last_at is None:
        return ""
    try:
        at = datetime.fromtimestamp(chain.last_at / 1e6, UTC)
    except (OverflowError, ValueError, OSError):
        return ", the last at an impossible time"
    return f", the last at {at:%Y-%m-%d %H:%M:%S} UTC"
