"""Describes the result for a bundle, as text and as JSON: what is verified, by what, and what is not."""

from collections.abc import Iterator
from datetime import UTC, datetime

from mcpguard.ledger.bundle.bundle_report import BundleReport
from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.export.formats import OWN
from mcpguard.ledger.keys import short
from mcpguard.ledger.verify.explain import listed_notices
from mcpguard.ledger.verify.report import ChainReport


def sentences(report: BundleReport) -> Iterator[str]:
    """The result as sentences for a person. The last one is the answer."""
    manifest = report.manifest
    yield f"Bundle {report.place}" + (":" if manifest is None else f": {_what(manifest)}.")
    for found in report.problems:
        yield f"  PROBLEM ({found.flaw}): {f'{found.file}: ' if found.file else ''}{found.sentence}."
    if report.chain is not None:
        yield from _problems(report.chain)
        yield from (f"  Note: {notice}." for notice in (*report.notices, *listed_notices(report.chain)))
    # Of a bundle with problems nothing is called verified, not even what is.
    if report.whole and manifest is not None:
        yield from (f"  Verified: {each}." for each in proven_facts(report, manifest))
        yield from (f"  Stated by the signer, not verifiable: {each}." for each in signers_claims(report, manifest))
        yield from (f"  Not verified: {each}." for each in unproven_facts(report, manifest))
    yield f"Integrity: {'OK' if report.whole else 'FAILED'}"


def proven_facts(report: BundleReport, manifest: Manifest) -> Iterator[str]:
    """What the bundle proves, and by what."""
    if report.trust.keys:
        given = "the given key" if manifest.key in report.trust.keys else "a key that the given one was rotated to"
        yield f"the holder of {given} ({short(manifest.key)}) made this bundle, and nothing in it was changed"
    chain = report.chain
    if chain is None or not chain.records:
        return
    records = f"{manifest.records:,} records"
    if manifest.selection:
        yield f"each of the {records} has the content that its hash was computed from, together with the previous hash"
    else:
        yield (
            f"the {records} run from {manifest.after + 1:,} to {manifest.upto:,} without a gap, and every "
            "recomputed hash matches: changing one would have meant rewriting all that follow"
        )
    yield from _reach(report, manifest, chain)
    if manifest.bodies:
        yield f"{chain.bodies:,} bodies match the digests in their records"


def signers_claims(report: BundleReport, manifest: Manifest) -> Iterator[str]:
    """What the signer states, and nothing else shows."""
    if manifest.selection:
        yield (
            f"these records belong to chain {manifest.chain}, and they are all records from {manifest.after + 1:,} to "
            f"{manifest.upto:,} that match this filter: {manifest.selection}"
        )
    for kept in manifest.files:
        if kept.what == "records" and kept.form != OWN.word:
            yield f"{kept.name} says what was recorded: it is the signed file, but nothing in it can be recomputed"
    if manifest.pruned:
        yield f"{manifest.pruned:,} records were pruned, as a record says, and their content is gone"
    if report.manifest and manifest.exported:
        chain, seq = manifest.exported
        yield f"record {seq:,} of chain {chain} says that this export was made, and by whom"


def unproven_facts(report: BundleReport, manifest: Manifest) -> Iterator[str]:
    """What the bundle does not prove."""
    if not report.trust.keys:
        yield (
            f"who made it, and that it was not written from scratch: only the bundle itself names the key "
            f"({short(manifest.key)}), and anybody can make one. Compare it with the guard's (mcpguard audit key) and "
            "give it with --key"
        )
    if manifest.selection:
        yield "anything about records that were not selected: neither what they say nor that they still exist"
    elif manifest.after:
        yield f"anything before record {manifest.after + 1:,}: it is linked to a hash, but earlier records are not here"
    yield f"that no record followed {manifest.upto:,}, and that nothing happened without being recorded"
    if not manifest.bodies:
        yield "what calls and replies contained: the bundle has no bodies, only their digests in the records"


def as_json(report: BundleReport) -> dict[str, object]:
    """The result as JSON for a program."""
    manifest, chain = report.manifest, report.chain
    holds = report.whole and manifest is not None
    return {
        "place": report.place,
        "whole": report.whole,
        "signed": report.signed,
        "key": None if manifest is None else manifest.key,
        "key_known": bool(report.trust.keys),
        "chain": None if manifest is None else manifest.chain,
        "after": None if manifest is None else manifest.after,
        "upto": None if manifest is None else manifest.upto,
        "selection": None if manifest is None else manifest.selection,
        "records": None if manifest is None else manifest.records,
        "pruned": None if manifest is None else manifest.pruned,
        "files": [] if manifest is None else [kept.name for kept in manifest.files],
        "checkpoints": 0 if chain is None else chain.checkpoints,
        "signed_to": 0 if chain is None else chain.signed_to,
        "anchored_to": 0 if chain is None else chain.anchored_to,
        "bodies": 0 if chain is None else chain.bodies,
        "notices": [*report.notices, *(() if chain is None else listed_notices(chain))],
        "problem_count": len(report.problems) + (0 if chain is None else chain.problem_count),
        "problems": [
            *({"file": each.file, "flaw": each.flaw.value, "sentence": each.sentence} for each in report.problems),
            *(
                {"seq": each.seq, "tampering": each.tampering.value, "sentence": each.sentence}
                for each in (() if chain is None else chain.problems)
            ),
        ],
        "proven": [*proven_facts(report, manifest)] if holds and manifest else [],
        "said": [*signers_claims(report, manifest)] if holds and manifest else [],
        "not_proven": [*unproven_facts(report, manifest)] if holds and manifest else [],
    }


def _reach(report: BundleReport, manifest: Manifest, chain: ChainReport) -> Iterator[str]:
    """How far external and included checkpoints reach."""
    if chain.anchored_to:
        yield f"record {chain.anchored_to:,} matches the external checkpoint" + (
            "" if manifest.selection else ": nobody rewrote it, or any record before it in this bundle"
        )
    if manifest.selection:
        if report.vouched:
            yield f"{report.vouched:,} of them match checkpoints of their chain"
    elif chain.signed_to > manifest.after:
        made = f"{chain.checkpoints:,} checkpoints, signed as the chain grew"
        yield f"{made}, match these records, the last of them record {chain.signed_to:,}"


def _problems(chain: ChainReport) -> Iterator[str]:
    for number, problem in enumerate(chain.problems):
        mark = "also" if number else "FIRST BAD RECORD:"
        yield f"  {mark} {problem.seq} ({problem.tampering}): {problem.sentence}."
    if hidden := chain.problem_count - len(chain.problems):
        yield f"  and {hidden:,} more."


def _what(manifest: Manifest) -> str:
    chosen = f", filtered by {manifest.selection}" if manifest.selection else ""
    pruned = f", {manifest.pruned:,} of them pruned" if manifest.pruned else ""
    span = f"after {manifest.after:,} to {manifest.upto:,}" if manifest.after else f"to {manifest.upto:,}"
    return (
        f"{manifest.records:,} records{pruned} of chain {manifest.chain}, {span}{chosen}; "
        f"made {_moment(manifest.made_at)} by mcpguard {manifest.version}"
    )


def _moment(at: int) -> str:
    try:
        return f"{datetime.fromtimestamp(at // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return "at an impossible time"
