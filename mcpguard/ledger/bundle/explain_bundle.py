"""What was found in a bundle, in words: what is proven, by what, and what is not. Also as JSON, with the same facts."""

from collections.abc import Iterator
from datetime import UTC, datetime

from mcpguard.ledger.bundle.bundle_report import BundleReport
from mcpguard.ledger.bundle.manifest import Manifest
from mcpguard.ledger.export.formats import OWN
from mcpguard.ledger.keys import short
from mcpguard.ledger.verify.explain import noticed
from mcpguard.ledger.verify.report import ChainReport


def sentences(report: BundleReport) -> Iterator[str]:
    """For a person."""
    manifest = report.manifest
    yield f"Bundle {report.place}" + (":" if manifest is None else f": {_what(manifest)}.")
    for found in report.problems:
        yield f"  NOT AS SIGNED ({found.flaw}): {f'{found.file}: ' if found.file else ''}{found.sentence}."
    if report.chain is not None:
        yield from _problems(report.chain)
        yield from (f"  Note: {notice}." for notice in (*report.notices, *noticed(report.chain)))
    if report.whole and manifest is not None:
        yield from (f"  Proven: {each}." for each in proven(report, manifest))
        yield from (f"  On the word of whoever has the key: {each}." for each in said(report, manifest))
        yield from (f"  Not proven: {each}." for each in unproven(report, manifest))
    yield f"Whole: {'yes' if report.whole else 'NO'}."


def proven(report: BundleReport, manifest: Manifest) -> Iterator[str]:
    """What is certain, and why."""
    if report.trust.keys:
        given = "the key that was given" if manifest.key in report.trust.keys else "a key that follows the one given"
        yield f"whoever has {given} ({short(manifest.key)}) made this bundle, and none of it was changed"
    chain = report.chain
    if chain is None or not chain.records:
        return
    records = f"{manifest.records:,} records"
    if manifest.selection:
        yield f"of each of the {records}, its content is the one from which its hash was made, with the hash before it"
    else:
        yield (
            f"the {records} follow one another from {manifest.after + 1:,} to {manifest.upto:,} without a gap, and "
            "every hash, computed anew, is right: whoever changed one would have had to make all that follow anew"
        )
    yield from _reach(report, manifest, chain)
    if manifest.bodies:
        yield f"{chain.bodies:,} bodies are those that their records speak of"


def said(report: BundleReport, manifest: Manifest) -> Iterator[str]:
    """What the signature says and nothing else shows."""
    if manifest.selection:
        yield (
            f"these records are of the chain {manifest.chain}, and they are all of {manifest.after + 1:,} to "
            f"{manifest.upto:,} that this chooses: {manifest.selection}"
        )
    for kept in manifest.files:
        if kept.what == "records" and kept.form != OWN.word:
            yield f"{kept.name} says what was recorded. It is the file that was signed; nothing in it can be computed"
    if manifest.pruned:
        yield f"{manifest.pruned:,} records were pruned, as a record says, and what they held is gone"
    if report.manifest and manifest.exported:
        yield f"record {manifest.exported[1]:,} of chain {manifest.exported[0]} says that it was exported, and by whom"


def unproven(report: BundleReport, manifest: Manifest) -> Iterator[str]:
    """What nobody should conclude."""
    if not report.trust.keys:
        yield (
            f"who made it, and that it was not all written anew: the key ({short(manifest.key)}) is named by the "
            "bundle alone, and anybody can make one. Compare it with the guard's (mcpguard audit key) and give it with "
            "--key"
        )
    if manifest.selection:
        yield "anything about what was not chosen: neither what it says nor that it is still there"
    elif manifest.after:
        yield f"what came before: record {manifest.after + 1:,} is bound to a hash, and the records to it are not here"
    yield f"that nothing came after record {manifest.upto:,}, and that nothing happened that was not recorded"
    if not manifest.bodies:
        yield "what calls and replies held: there are no bodies in it, and the records have digests of them"


def as_json(report: BundleReport) -> dict[str, object]:
    """For a program."""
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
        "notices": [*report.notices, *(() if chain is None else noticed(chain))],
        "problem_count": len(report.problems) + (0 if chain is None else chain.problem_count),
        "problems": [
            *({"file": each.file, "flaw": each.flaw.value, "sentence": each.sentence} for each in report.problems),
            *(
                {"seq": each.seq, "tampering": each.tampering.value, "sentence": each.sentence}
                for each in (() if chain is None else chain.problems)
            ),
        ],
        "proven": [*proven(report, manifest)] if holds and manifest else [],
        "said": [*said(report, manifest)] if holds and manifest else [],
        "not_proven": [*unproven(report, manifest)] if holds and manifest else [],
    }


def _reach(report: BundleReport, manifest: Manifest, chain: ChainReport) -> Iterator[str]:
    """How far checkpoints carry."""
    if chain.anchored_to:
        yield f"record {chain.anchored_to:,} is the one that the checkpoint kept elsewhere names" + (
            "" if manifest.selection else ": nobody wrote it, or any before it in this bundle, anew"
        )
    if manifest.selection:
        if report.vouched:
            yield f"{report.vouched:,} of them are named by checkpoints of their chain"
    elif chain.signed_to > manifest.after:
        made = f"{chain.checkpoints:,} checkpoints, made as the chain grew"
        yield f"{made}, name what stands here, the last of them record {chain.signed_to:,}"


def _problems(chain: ChainReport) -> Iterator[str]:
    for number, problem in enumerate(chain.problems):
        mark = "also" if number else "FIRST BAD RECORD:"
        yield f"  {mark} {problem.seq} ({problem.tampering}): {problem.sentence}."
    if hidden := chain.problem_count - len(chain.problems):
        yield f"  and {hidden:,} more."


def _what(manifest: Manifest) -> str:
    chosen = f", chosen by {manifest.selection}" if manifest.selection else ""
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
