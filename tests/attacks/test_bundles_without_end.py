"""A small file unpacks to as many records as its maker likes, and each wants to be remembered. What verifying it keeps
is bounded all the same, and what is not listed is counted."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from mcpguard.ledger.bundle.bundle_report import BundleReport
from mcpguard.ledger.bundle.explain_bundle import as_json, sentences
from mcpguard.ledger.bundle.make_bundle import WantedBundle
from mcpguard.ledger.format import GENESIS, link
from mcpguard.ledger.verify import call_entries as entries
from mcpguard.ledger.verify import succession, tombstones
from mcpguard.ledger.verify.report import LONGEST, ChainReport, Tampering
from tests.ledger import sample
from tests.ledger.bundling import STRANGER, bundle, checked, said, signed_anew

Records = Iterable[dict[str, object]]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.make(tmp_path_factory.mktemp("ledger"))


@pytest.fixture
def written(ledger: Path, tmp_path: Path) -> Callable[[Records], Path]:
    """A bundle of these records, with right hashes, signed by a stranger."""

    def write(told: Records) -> Path:
        folder = tmp_path / f"bundle-{len([*tmp_path.iterdir()])}"
        chain = bundle(folder, ledger, WantedBundle(("jsonl",), packed=True)).chain
        ends = _write(folder / "records.jsonl.gz", chain, told)
        (folder / "checkpoints.jsonl").write_bytes(b"")
        upto = ends[1]["seq"]
        counts = {"records": upto, "upto": upto, "pruned": 0, "exported": None, "first": ends[0], "last": ends[1]}

        def now(manifest: dict[str, Any]) -> None:
            manifest.update(counts)
            for each in manifest["files"]:
                each["plain"] = 2**40

        signed_anew(folder, STRANGER, now)
        assert said(folder)["records"] == upto
        return folder

    return write


def _write(file: Path, chain: str, told: Records) -> list[dict[str, Any]]:
    """The first record and the last."""
    ends: list[dict[str, Any]] = []
    previous = GENESIS
    with gzip.open(file, "wb", compresslevel=1) as lines:
        for seq, fields in enumerate(told, start=1):
            record = {"v": 1, "chain": chain, "seq": seq, "at": seq, **fields}
            content = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
            hash_ = link(previous, content)
            lines.write(b'{"hash":"%s","previous":"%s",' % (hash_.hex().encode(), previous.hex().encode()))
            lines.write(b'"record":%s}\n' % content)
            ends[1:] = [{"seq": seq, "hash": hash_.hex()}]
            ends = ends if len(ends) == 2 else [*ends, *ends]
            previous = hash_
    return ends


def resumed(count: int) -> Records:
    return ({"kind": "resumed", "refused": 1} for _ in range(count))


def peak(folder: Path) -> int:
    """How much memory is in use at most while it is verified, and told to a program and a person."""
    tracemalloc.start()
    try:
        report = checked(folder)
        assert as_json(report)
        assert [*sentences(report)]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_ten_times_as_much_to_say_takes_no_more_memory(written: Callable[[Records], Path]) -> None:
    few, many = written(resumed(5_000)), written(resumed(50_000))
    peak(few)  # what is read only once, such as modules
    assert peak(many) < 1.2 * peak(few)


def test_what_is_not_listed_is_counted(written: Callable[[Records], Path]) -> None:
    rare = {"kind": "lost", "found": 1, "acknowledged": 2}
    report = checked(written([*resumed(1_000), rare]))
    chain = _chain(report)
    assert report.whole
    assert len(chain.notices) == ChainReport.KEEP + 1, "what is rare is not lost among what is frequent"
    assert "the records between are lost" in chain.notices[-1]
    told = f"{1_000 - ChainReport.KEEP:,} more records of kind resumed are not listed here"
    assert f"  Note: {told}." in [*sentences(report)]
    assert told in as_json(report)["notices"]  # type: ignore[operator]


def test_a_long_word_is_not_repeated_to_its_end(written: Callable[[Records], Path]) -> None:
    long = "x" * 1_000_000
    pruning: dict[str, object] = {
        "kind": "pruned",
        "what": "bodies",
        "first": 1,
        "last": 1,
        "why": "asked",
        "by": long,
        "words": long,
    }
    refused: list[dict[str, object]] = [{"kind": "resumed", "refused": long}, {"kind": "closed", "entry": long}]
    chain = _chain(checked(written([{"kind": "other"}, pruning, *refused])))
    assert len(chain.notices) == 2
    assert max(map(len, [*chain.notices, *(each.sentence for each in chain.problems)])) <= LONGEST + 1


def test_a_line_of_many_values_takes_no_more_memory_than_one_of_text(written: Callable[[Records], Path]) -> None:
    values: dict[str, object] = {"kind": "other", "x": [[] for _ in range(300_000)]}
    many, text = written([values]), written([{"kind": "other", "x": json.dumps(values["x"])}])
    peak(text)  # what is read only once, such as modules
    assert peak(many) < 2 * peak(text)
    assert not checked(many).whole


def test_calls_that_never_end_are_followed_up_to_a_number(written: Callable[[Records], Path]) -> None:
    long = "x" * 200
    opened: Records = ({"kind": "opened", "entry": f"{long}{at}"} for at in range(entries.MOST + 3))
    chain = _chain(checked(written(opened)))
    assert len(chain.open_entries) == entries.MOST
    assert max(map(len, chain.open_entries)) <= entries.LONGEST
    assert chain.problem_count == 3
    assert chain.first is not None
    assert (chain.first.tampering, chain.first.seq) == (Tampering.INCONSISTENT, entries.MOST + 1)


@pytest.mark.parametrize("kind", ["started", "pruned"])
def test_keys_are_known_up_to_a_number(written: Callable[[Records], Path], kind: str) -> None:
    some = (f"{at:043}=" for at in range(succession.MOST + 3))
    told: Records
    if kind == "started":
        told = ({"kind": "started", "key": key} for key in some)
    else:
        keys = " ".join([*some, "x" * 1000])
        told = [{"kind": "other"}, {"kind": "pruned", "what": "bodies", "first": 1, "last": 1, "keys": keys}]
    chain = _chain(checked(written(told)))
    assert len(chain.keys) == succession.MOST
    assert max(map(len, chain.keys)) <= succession.LONGEST
    assert chain.first is not None
    assert chain.first.tampering is Tampering.KEY_FORGED


def test_handing_over_is_followed_up_to_a_number(written: Callable[[Records], Path]) -> None:
    chain = _chain(checked(written({"kind": "rotated", "key": "x"} for _ in range(succession.MOST + 5))))
    # The walk finds every one of them wrong, from the first on; that it gave up reading them ahead is told once.
    assert chain.problem_count == succession.MOST + 5 + 1


def test_what_was_pruned_is_followed_up_to_a_number(written: Callable[[Records], Path]) -> None:
    one: dict[str, object] = {"kind": "pruned", "what": "bodies", "first": 1, "last": 1, "count": 1, "why": "age"}
    told: list[dict[str, object]] = [{"kind": "other"}, *([one] * (tombstones.MOST + 2))]
    report = checked(written(told))
    chain = _chain(report)
    assert len(chain.notices) == ChainReport.KEEP
    assert chain.unlisted["pruned"] == tombstones.MOST - ChainReport.KEEP
    assert chain.problem_count == len(told) - 1 + 1, "no checkpoint covers any, and one is told to be too much"


def _chain(report: BundleReport) -> ChainReport:
    assert report.chain is not None
    assert not report.problems, report.problems
    return report.chain
