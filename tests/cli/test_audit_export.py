"""`mcpguard audit export`: a guard that runs records it first, what is written is whole or gone on with, and a bundle
is verified with nothing but itself."""

import gzip
import hashlib
import json
import os
import pty
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpguard.cli.audit.export_file import PartialFile
from mcpguard.ledger.export.export import ExportSpan, Tape, batches
from mcpguard.ledger.export.formats import form
from mcpguard.store.engine.offline import open_offline
from mcpguard.store.rows import chains
from tests import second_bundle_verifier as second
from tests.cli.command import HOSTILE, inert, mcpguard, refusal
from tests.ledger.export.ocsf_validator import problems
from tests.ledger.tampering import tampering
from tests.patience import PATIENCE
from tests.process import MCPGUARD, ROOT, Served, environment, run, serving
from tests.world import said

UNRECORDED = "no guard is running here to record this export"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path / "data") as guard:
        yield guard


def records(data: bytes) -> list[dict[str, object]]:
    return [json.loads(line)["record"] for line in data.splitlines()]


# With a guard that runs.


def test_a_guard_that_runs_records_it_and_the_export_has_that_record(served: Served, tmp_path: Path) -> None:
    out = tmp_path / "log.jsonl"
    told = mcpguard("audit", "export", "-o", out, "--data-dir", served.data_dir)
    assert (told.exit_code, told.stdout) == (0, "")
    there = said(served.data_dir / "mcpguard.db")
    assert records(out.read_bytes()) == there
    last = there[-1]
    assert (last["kind"], last["form"], last["via"]) == ("exported", "jsonl", "operator socket")
    assert last["by"].startswith(f"uid:{os.getuid()}")
    assert UNRECORDED not in told.stderr
    assert hashlib.sha256(out.read_bytes()).hexdigest() in told.stderr
    assert f"{len(there):,} records" in told.stderr
    assert out.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"data", "log.jsonl"}, "nothing else is left"
    assert mcpguard("audit", "verify", "--data-dir", served.data_dir).exit_code == 0


def test_where_the_guard_cannot_record_it_nothing_is_written(served: Served, tmp_path: Path) -> None:
    """Its file was replaced: what lies there now could be read, and is not."""
    database = served.data_dir / "mcpguard.db"
    assert run("db", "backup", tmp_path / "copy", "--data-dir", served.data_dir).returncode == 0
    (tmp_path / "copy").replace(database)
    for words in (("-o", f"{tmp_path}/out"), ("--bundle", f"{tmp_path}/b"), ()):
        told = mcpguard("audit", "export", *words, "--data-dir", served.data_dir)
        assert (told.exit_code, told.stdout) == (1, "")
        assert "mcpguard.db was removed or replaced" in told.stderr
    assert {each.name for each in tmp_path.iterdir()} == {"data"}


def test_a_bundle_of_a_running_guard_is_checked_without_it(served: Served, tmp_path: Path) -> None:
    key = mcpguard("audit", "key", "--data-dir", served.data_dir).stdout.strip()
    kept = tmp_path / "checkpoint.json"
    kept.write_text(mcpguard("audit", "checkpoint", "--data-dir", served.data_dir).stdout)
    words = ("--format", "jsonl", "--format", "csv", "--format", "ocsf", "--bodies", "--gzip")
    told = mcpguard("audit", "export", "--bundle", tmp_path / "b", *words, "--data-dir", served.data_dir)
    assert (told.exit_code, told.stdout) == (0, "")
    assert f"mcpguard audit verify {tmp_path / 'b'} --key {key}" in told.stderr
    last = said(served.data_dir / "mcpguard.db")[-1]
    assert (last["form"], last["bundle"], last["bodies"], last["compressed"]) == ("jsonl csv ocsf", True, True, True)
    served.kill()
    elsewhere = shutil.move(tmp_path / "b", tmp_path / "elsewhere")
    shutil.rmtree(served.data_dir)
    checked = mcpguard("audit", "verify", elsewhere, "--key", key, "--checkpoint", kept)
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert checked.stdout.splitlines()[-1] == "Integrity: OK"
    assert f"record {last['seq']:,} of chain {last['chain']} says that this export was made" in checked.stdout
    assert second.verify(Path(elsewhere), key, kept.read_bytes()) is None
    report = json.loads(mcpguard("audit", "verify", elsewhere, "-o", "json").stdout)
    assert (report["whole"], report["signed"], report["key_known"]) == (True, True, False)
    assert report["upto"] == last["seq"]
    assert any("who made it" in sentence for sentence in report["not_proven"])


# Without one.


def test_without_a_guard_and_of_a_copy_it_says_that_nobody_records_it(lived: Path, tmp_path: Path) -> None:
    before = said(lived / "mcpguard.db")
    out = tmp_path / "log.jsonl"
    told = mcpguard("audit", "export", "-o", out, "--data-dir", lived)
    assert told.exit_code == 0
    assert UNRECORDED in told.stderr
    copy = shutil.copy(lived / "mcpguard.db", tmp_path / "copy.db")
    told = mcpguard("audit", "export", "--db", copy, "-o", tmp_path / "other.jsonl")
    assert told.exit_code == 0
    assert "this is a copy, so its export is not recorded" in told.stderr
    assert (tmp_path / "other.jsonl").read_bytes() == out.read_bytes()
    assert records(out.read_bytes()) == before == said(lived / "mcpguard.db")


def test_it_is_chosen_compressed_and_piped(lived: Path) -> None:
    there = said(lived / "mcpguard.db")
    told = run("audit", "export", "--after", "3", "--data-dir", lived)
    assert records(told.stdout.encode()) == there[3:]
    late = run("audit", "export", "since:2999-01-01T00:00+01:00", "--data-dir", lived)
    assert (late.returncode, late.stdout) == (0, "")
    early = run("audit", "export", "until:2999-01-01", "--format", "csv", "--data-dir", lived)
    assert "]0;owned" in HOSTILE
    assert "]0;owned" in early.stdout
    assert "\x1b" not in early.stdout, "in a table it is a JSON string"
    words = [*MCPGUARD, "audit", "export", "--gzip", "--data-dir", str(lived)]
    packed = subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE, cwd=ROOT, env=environment({}))
    assert records(gzip.decompress(packed.stdout)) == there


def test_every_record_is_a_valid_event_of_the_open_schema(lived: Path, tmp_path: Path) -> None:
    out = tmp_path / "log.ocsf.jsonl"
    assert mcpguard("audit", "export", "--format", "ocsf", "-o", out, "--data-dir", lived).exit_code == 0
    events = [json.loads(line) for line in out.read_bytes().splitlines()]
    there = said(lived / "mcpguard.db")
    assert [event["unmapped"]["record"] for event in events] == there
    assert [event["metadata"]["uid"] for event in events] == [f"{each['chain']}:{each['seq']}" for each in there]
    assert [found for event in events for found in problems(event)] == []


def test_a_terminal_gets_no_records(lived: Path) -> None:
    """It would obey what agents wrote."""
    ours, theirs = pty.openpty()
    words = [*MCPGUARD, "audit", "export", "--data-dir", str(lived)]
    told = subprocess.run(
        words, stdout=theirs, stderr=subprocess.PIPE, check=False, timeout=PATIENCE, cwd=ROOT, env=environment({})
    )
    os.close(theirs)
    os.close(ours)
    assert told.returncode == 1
    assert b"records are not printed to a terminal" in told.stderr


def test_nothing_that_is_there_is_written_over_unless_that_is_asked_for(lived: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("precious")
    assert "already exists" in refusal(mcpguard("audit", "export", "-o", out, "--data-dir", lived))
    assert out.read_text() == "precious"
    assert mcpguard("audit", "export", "-o", out, "--force", "--data-dir", lived).exit_code == 0
    assert records(out.read_bytes()) == said(lived / "mcpguard.db")
    link, target = tmp_path / "link", tmp_path / "target"
    target.write_text("precious")
    link.symlink_to(target)
    assert "already exists" in refusal(mcpguard("audit", "export", "-o", link, "--data-dir", lived))
    assert mcpguard("audit", "export", "-o", link, "--force", "--data-dir", lived).exit_code == 0
    assert (target.read_text(), link.is_symlink()) == ("precious", False), "the link is replaced, and not followed"
    folder = tmp_path / "folder"
    folder.mkdir()
    assert "already exists" in refusal(mcpguard("audit", "export", "--bundle", folder, "--data-dir", lived))
    assert not [*folder.iterdir()]


@pytest.mark.parametrize("name", ["missing/out", "file/out"])
def test_a_place_that_cannot_be_written_is_told_in_a_sentence(lived: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    assert "cannot be written" in refusal(mcpguard("audit", "export", "-o", tmp_path / name, "--data-dir", lived))
    told = mcpguard("audit", "export", "--bundle", tmp_path / name, "--data-dir", lived)
    assert "cannot be created" in refusal(told)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_chain_that_is_not_there_is_told(lived: Path) -> None:
    told = refusal(mcpguard("audit", "export", "--chain", "none", "--data-dir", lived))
    assert said(lived / "mcpguard.db")[0]["chain"] in told


# Interrupted.


def interrupted(lived: Path, out: Path, word: str, *, packed: bool, after_mark: bytes) -> None:
    """As a crash leaves it: some is good, and something stands behind it."""
    with open_offline(lived / "mcpguard.db") as connect, connect() as connection:
        chain = chains.newest(connection)
        assert chain is not None
        tape = Tape(form(word), packed=packed)
        file = PartialFile.new(out, {"chain": chain, "form": word, "packed": packed, "selection": ""}, force=False)
        file.write(tape.begin())
        (some,) = batches(connection, ExportSpan(chain, 0, 4))
    file.write(tape.take(some))
    file.advance(some[-1].seq, len(some))
    file.write(tape.mark())
    file.mark()
    file.write(after_mark)
    file.close()


@pytest.mark.parametrize("word", ["jsonl", "csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_what_was_interrupted_is_gone_on_with_and_is_the_same(
    lived: Path, tmp_path: Path, word: str, packed: bool
) -> None:
    def plain(path: Path) -> bytes:
        return gzip.decompress(path.read_bytes()) if packed else path.read_bytes()

    words = ("--format", word, *(["--gzip"] if packed else []), "--data-dir", str(lived))
    assert mcpguard("audit", "export", "-o", tmp_path / "whole", *words).exit_code == 0
    out = tmp_path / "out"
    interrupted(lived, out, word, packed=packed, after_mark=b"half a line, not yet on the di")
    told = refusal(mcpguard("audit", "export", "-o", out, *words))
    assert "--resume continues it" in told
    done = mcpguard("audit", "export", "-o", out, "--resume", *words)
    assert done.exit_code == 0
    assert plain(out) == plain(tmp_path / "whole")
    assert hashlib.sha256(out.read_bytes()).hexdigest() in done.stderr
    assert f"{len(said(lived / 'mcpguard.db'))} records" in done.stderr
    assert {each.name for each in tmp_path.iterdir()} >= {"out", "whole"}
    assert not [*tmp_path.glob("*.part*")]


def test_a_guard_that_runs_records_that_it_is_gone_on_with(served: Served, tmp_path: Path) -> None:
    out = tmp_path / "out"
    interrupted(served.data_dir, out, "jsonl", packed=False, after_mark=b"")
    assert mcpguard("audit", "export", "-o", out, "--resume", "--data-dir", served.data_dir).exit_code == 0
    there = said(served.data_dir / "mcpguard.db")
    assert (there[-1]["kind"], there[-1]["after"]) == ("exported", len(there) - 1)
    assert records(out.read_bytes()) == there


def test_what_was_begun_otherwise_or_never_or_cut_is_not_gone_on_with(lived: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("audit", "export", "-o", out, "--resume", "--data-dir", lived)
    assert "cannot be resumed" in refusal(mcpguard(*words))
    interrupted(lived, out, "jsonl", packed=False, after_mark=b"")
    for other in (["--format", "csv"], ["--gzip"], ["since:2020-01-01"]):
        assert "was started with other options: " in refusal(mcpguard(*words, *other))
    part, mark = tmp_path / "out.part", tmp_path / "out.part-at"
    there, good = mark.read_bytes(), part.read_bytes()
    for spoilt in (b"", b"[]", b"{}", b'{"seq":"x"}', b"\xff"):
        mark.write_bytes(spoilt)
        assert "cannot be read" in refusal(mcpguard(*words))
    mark.write_bytes(there)
    part.write_bytes(good[:-3])
    assert "is shorter than it was" in refusal(mcpguard(*words))
    assert not out.exists()


def test_a_reader_that_goes_is_told_where_to_go_on(lived: Path) -> None:
    with tampering(lived / "mcpguard.db") as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            "INSERT INTO records (chain, seq, hash, content) SELECT chain, 100 + i, zeroblob(32), "
            "CAST('{\"seq\":' || (100 + i) || ',\"x\":\"' || hex(zeroblob(200)) || '\"}' AS BLOB) "
            "FROM records, n WHERE seq = 1"
        )
    words = [*MCPGUARD, "audit", "export", "--data-dir", str(lived)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=environment({})
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(9) == b'{"hash":"'
        process.stdout.close()
        told = process.stderr.read().decode()
        assert process.wait(PATIENCE) == 1
    assert "interrupted; --after" in told
    assert "Traceback" not in told
    assert "BrokenPipe" not in told


# What is printed of a bundle.


def test_a_bundle_that_somebody_wrote_cannot_speak_for_the_verifier(lived: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    assert mcpguard("audit", "export", "--bundle", folder, "--data-dir", lived).exit_code == 0
    (folder / f"{HOSTILE.replace('/', '').replace(chr(0), '')}").touch()
    (folder / "Integrity: OK\n").touch()
    told = mcpguard("audit", "verify", folder)
    assert told.exit_code == 1
    assert inert(told.stdout)
    assert [line for line in told.stdout.splitlines() if line.startswith("Integrity")] == ["Integrity: FAILED"]
    told = mcpguard("audit", "verify", folder, "-o", "json")
    assert inert(told.stdout)
    assert json.loads(told.stdout)["whole"] is False


def test_a_bundle_of_bytes_that_are_no_text_is_told_too(lived: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    assert mcpguard("audit", "export", "--bundle", folder, "--data-dir", lived).exit_code == 0
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).touch()
    for form_ in ("table", "json"):
        told = mcpguard("audit", "verify", folder, "-o", form_)
        assert (told.exit_code, inert(told.stdout)) == (1, True)
