"""A report in words: what was found, and what the answer rests on. Also as JSON, with the same facts."""

from collections.abc import Iterator
from datetime import UTC, datetime

from mcpguard.ledger.keys import named
from mcpguard.ledger.verify.report import ChainReport, KeySource, KeyTrust, Report


def sentences(report: Report) -> Iterator[str]:
    """For a person."""
    if not report.chains:
        yield f"{report.place}: nothing has been recorded yet."
    for chain in report.chains:
        yield f"Chain {chain.chain} in {report.place}: {chain.records:,} records{_at(chain)}."
        if chain.pruned:
            yield f"  {chain.pruned:,} of them were pruned: their hashes still hold the chain together."
        yield from (f"  Note: {notice}." for notice in noticed(chain))
        yield from _problems(chain)
        yield from _open(chain)
        yield from (f"  {line}" for line in rests_on(chain, report.trust))
    for missing, seq in report.elsewhere.items():
        yield (
            f"Note: a checkpoint kept elsewhere speaks of chain {missing} up to record {seq:,}, which is not in "
            f"{report.place}: it is another store's, or a whole chain was removed."
        )
    yield f"Whole: {'yes' if report.whole else 'NO'}."


_SIGNED_BY = {
    KeySource.LOG: (
        "a key that only the log itself names ({keys}): whoever can write the log can name a key of their own. "
        "Compare it with the guard's (mcpguard audit key) and give it with --key"
    ),
    KeySource.BESIDE: (
        "a key found beside the log ({keys}): not proof against whoever owns both. "
        "Keep a checkpoint elsewhere (mcpguard audit checkpoint) and give it with --checkpoint"
    ),
    KeySource.ANCHOR: "the key of a checkpoint kept elsewhere ({keys}): nobody without it rewrote them",
    KeySource.GIVEN: "the key that was given ({keys}): nobody without it rewrote them",
}
_SUCCEEDED = {
    KeySource.BESIDE: "a key found beside the log, or one that follows it",
    KeySource.ANCHOR: "the key of a checkpoint kept elsewhere, or one that follows it",
    KeySource.GIVEN: "the key that was given, or one that follows it",
}


def rests_on(chain: ChainReport, trust: KeyTrust) -> Iterator[str]:
    """Why the answer may be believed, and how far."""
    source = KeySource.ANCHOR if trust.source is KeySource.LOG and chain.anchor_keys else trust.source
    rested = max(chain.signed_to, chain.anchored_to)
    if chain.anchored_to:
        yield f"Records 1 to {chain.anchored_to:,} rest on the checkpoint kept elsewhere: nobody rewrote them."
    if chain.signed_to > chain.anchored_to:
        signed_by = _signers(chain, source, trust)
        yield f"Records {chain.anchored_to + 1:,} to {chain.signed_to:,} rest on signatures by {signed_by}."
    if chain.earlier_to > rested:
        yield (
            f"Checkpoints to record {chain.earlier_to:,} are by keys that came before it. They prove nothing: "
            "it has signed nothing after them."
        )
    newest = chain.last_seq - rested
    if newest > 0:
        yield f"The newest {newest:,} records rest on the chain alone: had more followed, their removal would not show."


def _signers(chain: ChainReport, source: KeySource, trust: KeyTrust) -> str:
    keys = ", ".join(sorted(named(key) for key in chain.signers))
    known = trust.keys | chain.anchor_keys
    if known and chain.signers - known:
        return f"{_SUCCEEDED[source]} ({keys}): nobody without one of them rewrote them"
    return _SIGNED_BY[source].format(keys=keys)


def as_json(report: Report) -> dict[str, object]:
    """For a program."""
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
                "notices": [*noticed(chain)],
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


def noticed(chain: ChainReport) -> Iterator[str]:
    """What is no problem, and how much more there is of it than is told."""
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
        yield f"  Open entries: {len(chain.open_entries)} ({', '.join(shown)}{f' and {more} more' if more else ''})."


def _at(chain: ChainReport) -> str:
    if chain.last_at is None:
        return ""
    try:
        at = datetime.fromtimestamp(chain.last_at / 1e6, UTC)
    except (OverflowError, ValueError, OSError):
        return ", the last of an impossible time"
    return f", the last of {at:%Y-%m-%d %H:%M:%S} UTC"
