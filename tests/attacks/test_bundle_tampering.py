"""Somebody changes a bundle on its way to the auditor. Both verifiers find it; ours says what was done, and writes
nothing."""

import base64
import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.domain.filters import Filter
from mcpguard.ledger.bundle import tar
from mcpguard.ledger.bundle.bundle_report import BundleReport
from mcpguard.ledger.bundle.explain_bundle import as_json, sentences
from mcpguard.ledger.bundle.make_bundle import WantedBundle
from mcpguard.ledger.bundle.manifest import MANIFEST, SIGNATURE
from mcpguard.ledger.export.selection import Fitting
from mcpguard.ledger.format import link
from tests import second_bundle_verifier as second
from tests.ledger import sample
from tests.ledger.bundling import (
    STRANGER,
    bundle,
    checked,
    kept_elsewhere,
    key_of,
    said,
    signed_anew,
    tarred,
)
from tests.ledger.tampering import tampering
from tests.tiers import examples

Attack = Callable[[Path], object]
LATE = Fitting(Filter(since=0))
"""Chosen by a filter, all the same everything that was not pruned."""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.make(tmp_path_factory.mktemp("ledger"))


@pytest.fixture(scope="module")
def pruned_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.make(tmp_path_factory.mktemp("pruned"), pruned=True)


@pytest.fixture(scope="module")
def untouched(ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle") / "untouched"
    bundle(folder, ledger)
    return folder


@pytest.fixture
def copy(untouched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(untouched, tmp_path / "copy"))


def found(report: BundleReport) -> set[str]:
    words = {each.flaw.value for each in report.problems}
    return words | ({each.tampering.value for each in report.chain.problems} if report.chain else set())


def lines(change: Callable[[list[bytes]], object], name: str = "records.jsonl") -> Attack:
    def attack(folder: Path) -> None:
        there = (folder / name).read_bytes().splitlines(keepends=True)
        change(there)
        (folder / name).write_bytes(b"".join(there))

    return attack


def replaced(old: bytes, new: bytes, at: int | None = None, name: str = "records.jsonl") -> Attack:
    def change(there: list[bytes]) -> None:
        place = next(number for number, line in enumerate(there) if old in line) if at is None else at
        assert old in there[place]
        there[place] = there[place].replace(old, new)

    return lines(change, name)


def flipped(place: int) -> Attack:
    """Another digit in the line of record 5."""

    def change(there: list[bytes]) -> None:
        digit = b"1" if there[4][place : place + 1] == b"0" else b"0"
        there[4] = there[4][:place] + digit + there[4][place + 1 :]

    return lines(change)


def swapped(there: list[bytes]) -> None:
    there[3], there[4] = there[4], there[3]


def made_anew(there: list[bytes]) -> None:
    """As a careful forger does: another outcome, and every hash after it computed again."""
    before = bytes(32)
    for at, line in enumerate(there):
        content = line[line.index(b'"record":') + 9 : -2].replace(b'"outcome":"answered"', b'"outcome":"refused"')
        after = link(before, content)
        there[at] = b'{"hash":"%b","previous":"%b","record":%b}\n' % (
            after.hex().encode(), before.hex().encode(), content,
        )  # fmt: skip
        before = after


def both(*attacks: Attack) -> Attack:
    def attack(folder: Path) -> None:
        for each in attacks:
            each(folder)

    return attack


def manifest(**changes: object) -> Attack:
    def attack(folder: Path) -> None:
        changed = said(folder) | changes
        (folder / MANIFEST).write_bytes(json.dumps(changed, sort_keys=True, separators=(",", ":")).encode())

    return attack


def cut(name: str, by: int = 10) -> Attack:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-by])


def other(ledger: Path, *names: str) -> Attack:
    """Files of another bundle of the same guard."""

    def attack(folder: Path) -> None:
        beside = folder.parent / "other"
        bundle(beside, ledger, after=3)
        for name in names:
            shutil.copy(beside / name, folder / name)

    return attack


def emptied(name: str) -> Attack:
    return lambda folder: (folder / name).write_bytes(b"")


def linked(folder: Path) -> None:
    (folder / "records.csv").rename(folder.parent / "moved")
    (folder / "records.csv").symlink_to(folder.parent / "moved")


def piped(folder: Path) -> None:
    (folder / "records.csv").unlink()
    os.mkfifo(folder / "records.csv")


def renamed(to: str) -> Attack:
    """The manifest names a file that lies elsewhere, as whoever has the key could have it."""

    def attack(folder: Path) -> None:
        (folder.parent / "elsewhere").write_bytes(b"")
        signed_anew(folder, STRANGER, lambda it: it["files"][0].update(name=to))

    return attack


ATTACKS: dict[str, tuple[Attack, set[str]]] = {
    "a record is edited": (replaced(b'"answered"', b'"answeree"'), {"file changed", "edited"}),
    "a hash is edited": (
        flipped(9),
        {"file changed", "edited"},
    ),
    "what a record follows is edited": (
        flipped(90),
        {"file changed", "edited"},
    ),
    "a record is removed": (lines(lambda there: there.pop(4)), {"file cut", "removed", "counts differ"}),
    "the first record is removed": (lines(lambda there: there.pop(0)), {"file cut", "removed", "counts differ"}),
    "the last record is removed": (lines(lambda there: there.pop()), {"file cut", "tail cut", "counts differ"}),
    "all records are removed": (emptied("records.jsonl"), {"file cut", "tail cut", "counts differ"}),
    "a record is there twice": (lines(lambda there: there.insert(4, there[4])), {"file changed", "added"}),
    "a record is added at the end": (
        lines(lambda there: there.append(there[-1].replace(b'"seq":16', b'"seq":17'))),
        {"file changed", "added"},
    ),
    "two records change places": (lines(swapped), {"file changed", "removed", "reordered"}),
    "a record is told as pruned": (
        lines(
            lambda there: there.__setitem__(
                4,
                json.dumps(
                    {"chain": json.loads(there[4])["record"]["chain"], "hash": json.loads(there[4])["hash"],
                     "pruned": True, "seq": 5}, separators=(",", ":"),
                ).encode() + b"\n",
            )
        ),
        {"file cut", "pruned without a record", "counts differ"},
    ),
    "everything is written anew": (lines(made_anew), {"rewritten", "counts differ"}),
    "a line is no record": (lines(lambda there: there.insert(2, b"{}\n")), {"file changed", "file unreadable"}),
    "a line is no JSON": (lines(lambda there: there.insert(2, b"\xff\x00\n")), {"file changed", "file unreadable"}),
    "the records are cut within a line": (cut("records.jsonl"), {"file cut", "file unreadable"}),
    "the table is edited": (replaced(b"answered", b"answeree", name="records.csv"), {"file changed"}),
    "the table is cut": (cut("records.csv"), {"file cut"}),
    "a body is edited": (
        replaced(base64.b64encode(b"contents"), base64.b64encode(b"contenta"), name="bodies.jsonl"),
        {"file changed", "body edited"},
    ),
    "a body is removed": (lines(lambda there: there.pop(0), "bodies.jsonl"), {"file cut", "body removed"}),
    "a body is told as pruned": (
        lines(lambda there: there.__setitem__(0, b'{"pruned":true,"seq":3}\n'), "bodies.jsonl"),
        {"file cut", "pruned without a record"},
    ),
    "a checkpoint is removed": (
        lines(lambda there: there.pop(1), "checkpoints.jsonl"),
        {"file cut", "checkpoint removed"},
    ),
    "a checkpoint is edited": (
        lines(lambda there: there.__setitem__(0, there[0].replace(there[0][20:24], b"AAAA")), "checkpoints.jsonl"),
        {"file changed", "file unreadable"},
    ),
    "a checkpoint's signature is another's": (
        lines(
            lambda there: there.__setitem__(
                0, json.dumps(json.loads(there[0]) | {"signature": json.loads(there[1])["signature"]}).encode() + b"\n"
            ),
            "checkpoints.jsonl",
        ),
        {"file changed", "checkpoint forged"},
    ),
    "a file is removed": (lambda folder: (folder / "records.csv").unlink(), {"file missing"}),
    "the records are removed": (lambda folder: (folder / "records.jsonl").unlink(), {"file missing"}),
    "a file is added": (lambda folder: (folder / "more.txt").write_text("x"), {"file added"}),
    "a folder is added": (lambda folder: (folder / "more").mkdir(), {"file added"}),
    "a file is a link to the same elsewhere": (linked, {"file missing", "file added"}),
    "a file is a pipe": (piped, {"file missing", "file added"}),
    "the manifest says less": (manifest(records=3), {"signature wrong", "counts differ"}),
    "the manifest says another time": (manifest(made_at=2), {"signature wrong"}),
    "the manifest says another filter": (manifest(selection="server:files"), {"signature wrong"}),
    "the manifest has another member": (manifest(more=1), {"manifest unreadable"}),
    "the manifest has no version of ours": (manifest(v=2), {"manifest unreadable"}),
    "the manifest is not canonical": (
        lambda folder: (folder / MANIFEST).write_text(json.dumps(said(folder))),
        {"manifest unreadable"},
    ),
    "the manifest is cut": (cut(MANIFEST), {"manifest unreadable"}),
    "the manifest is empty": (emptied(MANIFEST), {"manifest unreadable"}),
    "the manifest is very long": (
        lambda folder: (folder / MANIFEST).write_bytes(b" " * 200_000),
        {"manifest unreadable"},
    ),
    "the manifest is very deep": (
        lambda folder: (folder / MANIFEST).write_bytes(b"[" * 60_000),
        {"manifest unreadable"},
    ),
    "the signature is removed": (lambda folder: (folder / SIGNATURE).unlink(), {"signature wrong"}),
    "the signature is another's": (
        lambda folder: (folder / SIGNATURE).write_bytes(base64.b64encode(bytes(64))),
        {"signature wrong"},
    ),
    "the signature is no base64": (lambda folder: (folder / SIGNATURE).write_bytes(b"\xff"), {"signature wrong"}),
    "a name leads elsewhere": (renamed("../elsewhere"), {"manifest unreadable"}),
    "a name is a whole path": (renamed("/etc/passwd"), {"manifest unreadable"}),
    "a name is that of the manifest": (renamed(MANIFEST), {"manifest unreadable"}),
    "somebody else signs it": (lambda folder: signed_anew(folder, STRANGER), {"another key"}),
    "somebody else edits and signs it": (
        both(replaced(b'"answered"', b'"answeree"'), lambda folder: signed_anew(folder, STRANGER)),
        {"another key", "edited"},
    ),
}  # fmt: skip


def test_an_untouched_bundle_is_whole_and_says_what_it_proves(untouched: Path, ledger: Path) -> None:
    key = key_of(ledger).public
    anchor, kept = kept_elsewhere(untouched)
    for report in (checked(untouched), checked(untouched, key), checked(untouched, key, anchor)):
        assert report.whole, [*sentences(report)]
        assert report.signed
        assert report.chain is not None
        assert report.chain.signed_to == report.chain.last_seq
        assert report.chain.bodies == 4
    assert report.chain is not None
    assert report.chain.anchored_to == anchor.seq
    assert second.verify(untouched, key, kept) is None
    told = "\n".join(sentences(checked(untouched)))
    assert "Not verified: who made it" in told
    told = "\n".join(sentences(checked(untouched, key, anchor)))
    assert "Not verified: who made it" not in told
    assert "records.csv says what was recorded" in told
    assert "matches the external checkpoint: nobody rewrote it" in told


def careful(attack: Attack, ledger: Path) -> Attack:
    """The same by somebody who lets the manifest fit and has the guard's key."""
    return both(attack, lambda folder: signed_anew(folder, key_of(ledger)))


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_found_and_named(name: str, copy: Path, ledger: Path) -> None:
    attack, kinds = ATTACKS[name]
    attack(copy)
    before = sorted((each, each.lstat().st_mtime_ns) for each in copy.parent.rglob("*"))
    report = checked(copy, key_of(ledger).public)
    assert not report.whole
    assert kinds <= found(report)
    assert sorted((each, each.lstat().st_mtime_ns) for each in copy.parent.rglob("*")) == before, "nothing was written"
    told = [*sentences(report)]
    assert told[-1] == "Integrity: FAILED"
    assert as_json(report)["proven"] == []
    if name != "a file is a pipe":  # the second one would wait for what comes out of it
        assert second.verify(copy, key_of(ledger).public)


@pytest.mark.parametrize(
    "name", [name for name, (_, kinds) in ATTACKS.items() if kinds & {"edited", "removed", "tail cut", "added"}]
)
def test_a_guard_that_signs_it_anew_cannot_make_the_records_hold(name: str, copy: Path, ledger: Path) -> None:
    if "somebody else" in name:
        return
    careful(ATTACKS[name][0], ledger)(copy)
    report = checked(copy, key_of(ledger).public)
    assert not report.whole
    assert not found(report) & {"file changed", "file cut", "signature wrong"}
    assert second.verify(copy, key_of(ledger).public)


def test_files_of_another_bundle_of_the_same_guard_do_not_pass(copy: Path, ledger: Path) -> None:
    names = ["records.jsonl", "checkpoints.jsonl", "bodies.jsonl", "records.csv"]
    other(ledger, *names)(copy)
    report = checked(copy, key_of(ledger).public)
    assert {each.file for each in report.problems} == {*names}
    assert second.verify(copy, key_of(ledger).public)


def test_whoever_has_the_key_and_writes_everything_anew_is_found_from_elsewhere(copy: Path, ledger: Path) -> None:
    anchor, kept = kept_elsewhere(copy)
    both(lines(made_anew), emptied("checkpoints.jsonl"))(copy)
    there = (copy / "records.jsonl").read_bytes().splitlines()

    def change(it: dict[str, object]) -> None:
        ends = [{"seq": json.loads(line)["record"]["seq"], "hash": json.loads(line)["hash"]} for line in there]
        it |= {"first": ends[0], "last": ends[-1]}

    signed_anew(copy, key_of(ledger), change)
    assert checked(copy, key_of(ledger).public).whole
    assert second.verify(copy, key_of(ledger).public) is None
    report = checked(copy, key_of(ledger).public, anchor)
    assert "rewritten" in found(report)
    assert second.verify(copy, key_of(ledger).public, kept)


def named_too(name: str, what: str, form: str, of: str) -> Callable[[Path, dict[str, object]], None]:
    """The manifest names one more file, with what another one of the bundle holds."""

    def attack(folder: Path, manifest: dict[str, object]) -> None:
        content = (folder / of).read_bytes().replace(b'"answered"', b'"refused"')
        (folder / name).write_bytes(content)
        sizes = {"bytes": len(content), "plain": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        files = manifest["files"]
        assert isinstance(files, list)
        files.append({"name": name, "what": what, "form": form, "packed": False, **sizes})

    return attack


def called(name: str, **otherwise: str) -> Callable[[Path, dict[str, object]], None]:
    """The manifest says that one of its files holds something else."""

    def attack(_: Path, manifest: dict[str, object]) -> None:
        files = manifest["files"]
        assert isinstance(files, list)
        next(each for each in files if each["name"] == name).update(otherwise)

    return attack


def left_out(name: str) -> Callable[[Path, dict[str, object]], None]:
    """The manifest names one of its files no more, and it is gone."""

    def attack(folder: Path, manifest: dict[str, object]) -> None:
        files = manifest["files"]
        assert isinstance(files, list)
        manifest["files"] = [each for each in files if each["name"] != name]
        (folder / name).unlink()

    return attack


@pytest.mark.parametrize(
    "lie",
    [
        named_too("a.jsonl", "records", "jsonl", "records.jsonl"),
        named_too("a.csv", "records", "csv", "records.csv"),
        named_too("a.jsonl", "bodies", "", "bodies.jsonl"),
        named_too("a.jsonl", "checkpoints", "", "checkpoints.jsonl"),
        named_too("a.jsonl", "readme", "jsonl", "records.jsonl"),
        named_too("a.jsonl", "more", "", "records.jsonl"),
        called("records.jsonl", form="other"),
        called("records.jsonl", what="readme"),
        called("checkpoints.jsonl", what="other"),
        left_out("checkpoints.jsonl"),
        left_out("bodies.jsonl"),
        lambda _, manifest: manifest.update(bodies=False),
    ],
)
def test_the_guards_key_signs_no_two_files_that_tell_the_same_nor_one_that_nobody_looks_at(
    copy: Path, ledger: Path, lie: Callable[[Path, dict[str, object]], None]
) -> None:
    signed_anew(copy, key_of(ledger), partial(lie, copy))
    report = checked(copy, key_of(ledger).public)
    assert found(report) == {"manifest unreadable"}
    assert as_json(report)["proven"] == []
    assert second.verify(copy, key_of(ledger).public)


def test_a_file_with_holes_is_read_no_further_than_what_was_signed(copy: Path, ledger: Path) -> None:
    os.truncate(copy / "records.csv", 2**42)  # hours of zeros
    assert found(checked(copy, key_of(ledger).public)) == {"file changed"}


def test_a_checkpoint_of_another_chain_or_of_what_the_bundle_does_not_reach(ledger: Path, tmp_path: Path) -> None:
    other_ledger = sample.make(tmp_path)
    bundle(tmp_path / "stranger", other_ledger)
    bundle(tmp_path / "late", ledger, after=6)
    stranger, line = kept_elsewhere(tmp_path / "stranger")
    report = checked(tmp_path / "late", None, stranger)
    assert found(report) == {"another checkpoint"}
    assert second.verify(tmp_path / "late", None, line)
    bundle(tmp_path / "all", ledger)
    early, line = kept_elsewhere(tmp_path / "all", 0)
    report = checked(tmp_path / "late", None, early)
    assert report.whole
    assert "outside this bundle" in " ".join(report.notices)
    assert second.verify(tmp_path / "late", None, line) is None


@pytest.mark.parametrize("after", range(0, 16, 3))
@pytest.mark.parametrize("pruned", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_a_bundle_that_begins_anywhere_is_whole(
    ledger: Path, pruned_ledger: Path, tmp_path: Path, after: int, pruned: bool, packed: bool
) -> None:
    ledger = pruned_ledger if pruned else ledger
    made = bundle(tmp_path / "b", ledger, WantedBundle(("jsonl",), packed=packed, bodies=True), after=after)
    report = checked(tmp_path / "b", key_of(ledger).public)
    assert report.whole, [*sentences(report)]
    assert made.records == made.upto - after
    assert second.verify(tmp_path / "b", key_of(ledger).public) is None
    path = tarred(tmp_path / "b", tmp_path / "b.tar")
    assert checked(path, key_of(ledger).public).whole
    assert second.verify(path, key_of(ledger).public) is None


def test_some_records_prove_less_and_say_so(ledger: Path, tmp_path: Path) -> None:
    bundle(tmp_path / "b", ledger, selection=LATE)
    report = checked(tmp_path / "b", key_of(ledger).public)
    assert report.whole
    told = "\n".join(sentences(report))
    assert "Stated by the signer, not verifiable: these records belong to chain" in told
    assert "that match this filter: since:1970-01-01T00:00:00Z" in told
    assert "Not verified: anything about records that were not selected" in told
    assert report.vouched > 0
    assert second.verify(tmp_path / "b", key_of(ledger).public) is None


@pytest.mark.parametrize(
    ("attack", "kind"),
    [
        (replaced(b'"answered"', b'"answeree"'), "edited"),
        (lines(swapped), "reordered"),
        (lines(lambda there: there.insert(4, there[4])), "added"),
        (lines(lambda there: there.pop(4)), "counts differ"),
        (lines(made_anew), "rewritten"),
        (lines(lambda there: there.__setitem__(4, there[4][:75] + there[4][there[4].index(b'"record"') :])), "edited"),
        (lines(lambda there: there.pop(1), "checkpoints.jsonl"), "checkpoint removed"),
        (replaced(base64.b64encode(b"contents"), base64.b64encode(b"contenta"), name="bodies.jsonl"), "body edited"),
    ],
)
def test_changes_among_some_records_are_found(ledger: Path, tmp_path: Path, attack: Attack, kind: str) -> None:
    bundle(tmp_path / "b", ledger, selection=LATE)
    careful(attack, ledger)(tmp_path / "b")
    report = checked(tmp_path / "b", key_of(ledger).public)
    assert kind in found(report)
    assert second.verify(tmp_path / "b", key_of(ledger).public)


def test_a_bundle_of_a_store_that_was_tampered_with_is_not_whole(tmp_path: Path) -> None:
    """What the guard signs is what lies there; it is the records that tell."""
    ledger = sample.make(tmp_path)
    with tampering(ledger) as connection:
        connection.execute("UPDATE records SET content = x'00ff' WHERE seq = 4")
        connection.execute("DELETE FROM records WHERE seq = 6")
    bundle(tmp_path / "b", ledger)
    report = checked(tmp_path / "b", key_of(ledger).public)
    assert found(report) >= {"edited", "removed"}
    assert second.verify(tmp_path / "b", key_of(ledger).public)


# What is hostile by itself.


def test_what_unpacks_to_more_than_was_said_is_not_unpacked(ledger: Path, tmp_path: Path) -> None:
    bundle(tmp_path / "b", ledger, WantedBundle(("jsonl",), packed=True))
    bomb = gzip.compress(b"\n" * 50_000_000)
    (tmp_path / "b" / "records.jsonl.gz").write_bytes(bomb)
    report = checked(tmp_path / "b")
    assert found(report) >= {"file unreadable", "file changed"}
    (tmp_path / "b" / "records.jsonl.gz").write_bytes(gzip.compress(b"x" * 50_000_000))
    signed_anew(tmp_path / "b", key_of(ledger), lambda it: it["files"][0].update(plain=2**62))
    assert found(checked(tmp_path / "b")) == {"file unreadable"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-600],
        lambda data: data[:-1024],
        lambda data: data[:-512],
        lambda data: data + b"\0" * 512,
        lambda data: data + b"more",
        lambda data: data[:100] + b"\1" + data[101:],
        lambda data: data[:156] + b"2" + data[157:],
        lambda data: data[512:],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1024] + data,
        lambda data: data[:124] + b"99999999999\0" + data[136:],
        lambda _: b"ustar" * 300,
        lambda _: b"",
    ],
)
def test_a_tar_that_is_none_of_ours_is_told_in_a_sentence(
    untouched: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    path = tarred(untouched, tmp_path / "b.tar")
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(StoreUnavailable, match="is not a bundle"):
        checked(path)
    assert second.verify(path)


def test_a_folder_that_is_no_bundle_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"it has no manifest\.json"):
        checked(tmp_path)


def test_a_tar_is_read_by_everybody(untouched: Path, tmp_path: Path) -> None:
    path = tarred(untouched, tmp_path / "b.tar")
    shutil.unpack_archive(path, tmp_path / "unpacked", filter="data")
    assert checked(tmp_path / "unpacked").whole
    with path.open("rb") as file:
        assert {*tar.parts(file)} == {each.name for each in untouched.iterdir()}


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_both_verifiers_agree_on_any_change_of_any_file(
    ledger: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Bytes, lines and whole files, by somebody who lets the manifest fit or not."""
    folder = tmp_path_factory.mktemp("any") / "b"
    selection = data.draw(st.sampled_from([Fitting(), LATE]))
    after = data.draw(st.sampled_from([0, 5]))
    bundle(
        folder,
        ledger,
        WantedBundle(("jsonl",), packed=data.draw(st.booleans()), bodies=True),
        after=after,
        selection=selection,
    )
    names = sorted(each.name for each in folder.iterdir())
    for _ in range(data.draw(st.integers(0, 2))):
        name = data.draw(st.sampled_from(names))
        content = bytearray((folder / name).read_bytes())
        packed = name.endswith(".gz")
        if packed:
            content = bytearray(gzip.decompress(content))
        there = bytes(content).splitlines(keepends=True) or [b""]
        at, to = (data.draw(st.integers(0, len(there) - 1)) for _ in range(2))
        match data.draw(st.sampled_from(["byte", "remove", "repeat", "move", "cut"])):
            case "byte" if content:
                place = data.draw(st.integers(0, len(content) - 1))
                content[place] = data.draw(st.integers(0, 255))
                there = [bytes(content)]
            case "remove":
                there.pop(at)
            case "repeat":
                there.insert(at, there[at])
            case "move":
                there.insert(to, there.pop(at))
            case _:
                there = [bytes(content)[: data.draw(st.integers(0, len(content)))]]
        plain = b"".join(there)
        (folder / name).write_bytes(gzip.compress(plain, mtime=0) if packed else plain)
    if data.draw(st.booleans()):
        try:
            signed_anew(folder, key_of(ledger))
        except (ValueError, KeyError, TypeError, AttributeError):
            return  # the manifest itself was changed
    key = data.draw(st.sampled_from([None, key_of(ledger).public]))
    try:
        ours = checked(folder, key).whole
    except StoreUnavailable:
        ours = False
    theirs = second.verify(folder, key)
    assert ours == (theirs is None), theirs
    shutil.rmtree(folder.parent)
