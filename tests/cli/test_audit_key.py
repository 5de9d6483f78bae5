"""`mcpguard audit key`, and proving a log with keys that followed each other, at the command line of a real guard."""

import base64
import json
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcpguard.ledger import keys
from mcpguard.ledger.checkpoints import Checkpoint, CheckpointCause, SignedCheckpoint, sign
from tests.cli.command import inert, mcpguard, refusal
from tests.process import run, serving, until
from tests.world import said


def rotated(data_dir: Path, reason: str = "a year is over") -> dict[str, Any]:
    told = mcpguard("audit", "key", "rotate", "--reason", reason, "--data-dir", data_dir, "-o", "json")
    assert (told.exit_code, told.stderr) == (0, ""), told.output
    done: dict[str, Any] = json.loads(told.stdout)
    return done


def public(data_dir: Path, *words: str) -> str:
    told = mcpguard("audit", "key", *words, "--data-dir", data_dir)
    assert (told.exit_code, told.stderr) == (0, "")
    return told.stdout.strip()


def proved(data_dir: Path, *words: str | Path) -> dict[str, Any]:
    """The report about the one chain."""
    told = mcpguard("audit", "verify", "--data-dir", data_dir, "-o", "json", *words)
    assert told.stderr == ""
    report = json.loads(told.stdout)
    assert report["whole"] == (told.exit_code == 0)
    (chain,) = report["chains"]
    return {**chain, "elsewhere": report["elsewhere"]}


def test_a_guard_rotates_its_key_and_the_log_is_proved_with_either(tmp_path: Path) -> None:
    file = tmp_path / "anchors.jsonl"
    with serving(tmp_path / "data", environ={"MCPGUARD_AUDIT__ANCHOR_FILE": str(file)}) as guard:
        data_dir = guard.data_dir
        before = public(data_dir)
        assert public(data_dir, "show") == before
        told = mcpguard("audit", "key", "rotate", "--reason", "a year is over", "--data-dir", data_dir)
        assert (told.exit_code, told.stderr) == (0, "")
        assert inert(told.stdout)
        after = public(data_dir)
        assert [line.split()[3] for line in told.stdout.splitlines()] == [after, before]
        assert before != after
        status = mcpguard("status", "--data-dir", data_dir).stdout
        assert after in status
        assert str(file) in status
        again = rotated(data_dir)
        assert (again["previous"], again["key"]) == (after, public(data_dir))
        assert not (data_dir / "audit.key.next").exists()
        guard.signal(signal.SIGTERM)
        assert guard.ended() == 0
    records = said(data_dir / "mcpguard.db")
    (first, _) = (record for record in records if record["kind"] == "rotated")
    assert (first["why"], first["via"]) == ("a year is over", "operator socket")
    assert first["by"].startswith(f"uid:{os.getuid()}")
    for key in (before, after, again["key"]):
        chain = proved(data_dir, "--key", key)
        assert (chain["problems"], chain["signed_to"], chain["rotations"]) == ([], len(records), 2)
    stranger = keys.new_key()[0].public
    assert not proved(data_dir, "--key", stranger)["whole"]
    chain = proved(data_dir, "--key", stranger, "--key", again["key"])
    assert (chain["whole"], chain["signers"]) == (True, [again["key"]])
    chain = proved(data_dir, "--checkpoint", file)
    assert (chain["whole"], chain["anchored_to"]) == (True, len(records))
    told = mcpguard("audit", "verify", "--data-dir", data_dir, "--key", before)
    assert "by the given key, or one it was rotated to (" in told.stdout
    assert "the signing key was rotated; from here on" in told.stdout


def test_a_guard_that_is_killed_right_after_the_record_starts_with_the_new_key(tmp_path: Path) -> None:
    """The folder cannot be renamed in, so the rotation stands where a crash would leave it."""
    with serving(tmp_path / "data") as guard:
        data_dir = guard.data_dir
        before = public(data_dir)
        done = rotated(data_dir)
        new = (data_dir / "audit.key").read_bytes()
        guard.kill()
    old = keys.new_key()[1]  # what lay there is gone for good; any other key stands for it
    (data_dir / "audit.key").write_bytes(old)
    (data_dir / "audit.key.next").touch(mode=0o600)
    (data_dir / "audit.key.next").write_bytes(new)
    with closing(sqlite3.connect(data_dir / "mcpguard.db")) as connection:
        for table in ("records", "checkpoints"):
            connection.execute(f"DELETE FROM {table} WHERE seq > ?", (done["record"],))
        connection.commit()
    with serving(data_dir):
        assert public(data_dir) == done["key"]
        assert not (data_dir / "audit.key.next").exists()
        for key in (before, done["key"]):
            assert proved(data_dir, "--key", key)["whole"]


def test_without_a_guard_it_says_what_to_do_and_nothing_happened(lived: Path) -> None:
    before = ((lived / "audit.key").read_bytes(), said(lived / "mcpguard.db"))
    told = refusal(mcpguard("audit", "key", "rotate", "--reason", "x", "--data-dir", lived))
    assert "start it (mcpguard serve)" in told
    assert ((lived / "audit.key").read_bytes(), said(lived / "mcpguard.db")) == before


@pytest.mark.parametrize("words", [(), ("show",)])
def test_a_key_that_is_not_there_is_told_in_a_sentence(lived: Path, words: tuple[str, ...]) -> None:
    (lived / "audit.key").unlink()
    assert "audit.key" in refusal(mcpguard("audit", "key", *words, "--data-dir", lived))


def test_a_store_that_was_rolled_back_is_told_at_the_start_and_in_the_status(tmp_path: Path) -> None:
    environ = {"MCPGUARD_AUDIT__ANCHOR_FILE": str(tmp_path / "anchors.jsonl")}
    with serving(tmp_path / "data", environ=environ) as guard:
        data_dir = guard.data_dir
        rotated(data_dir)
        until(lambda: len((tmp_path / "anchors.jsonl").read_bytes().splitlines()) >= 3, "its checkpoints are outside")
        guard.kill()
    with closing(sqlite3.connect(data_dir / "mcpguard.db")) as connection:
        connection.execute("DELETE FROM records WHERE seq > 1")
        connection.execute("DELETE FROM checkpoints WHERE seq > 1")
        connection.commit()
    with serving(data_dir, environ=environ) as guard:
        assert [line for line in guard.announced if line.startswith("  ROLLED BACK ")]
        (logged,) = guard.logged("ledger.rolled_back")
        assert logged["level"] == "error"
        assert (
            "ROLLED BACK: the anchor file has a checkpoint of record"
            in mcpguard("status", "--data-dir", data_dir).stdout
        )
        assert [record["found"] for record in said(data_dir / "mcpguard.db") if record["kind"] == "rolled_back"] == [1]
    told = mcpguard("audit", "verify", "--data-dir", data_dir, "--checkpoint", tmp_path / "anchors.jsonl")
    assert told.exit_code == 1
    assert "an external checkpoint has a different hash for it" in told.stdout or "vouches for them" in told.stdout


def test_an_anchor_file_inside_is_refused_at_the_start(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    environ = {"MCPGUARD_AUDIT__ANCHOR_FILE": str(data_dir / "anchors.jsonl")}
    told = run("serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir, environ=environ)
    assert told.returncode == 1
    assert "audit.anchor_file: the file must be outside the data directory" in told.stderr
    assert "Traceback" not in told.stderr
    assert not (data_dir / "mcpguard.db").exists()


# Files of checkpoints.


@pytest.fixture
def line(lived: Path) -> bytes:
    kept = json.loads(mcpguard("audit", "checkpoint", "--data-dir", lived).stdout)
    return json.dumps(kept, separators=(",", ":")).encode()


Spoil = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("spoil", "number"),
    [
        (lambda line: line + b"\ngarbage\n", 2),
        (lambda line: line + b"\n" + line[:50] + b"\n{}\n", 3),
        (lambda line: b"\n\n" + line + b"\n[]", 4),
        (lambda line: line + b"\n" + b" " * 70_000 + b"\n", 2),
        (lambda line: (line + b"\n") * 200 + b"x" * 100_000, 201),
        (lambda line: line + b"\n" + line[:-9] + b'AAAAAA"}' + b"\n", 2),
        (lambda line: line + b"\n" + line.replace(b'"content"', b'"Content"') + b"\n", 2),
        (lambda line: line + b"\n" + line + line + b"\n", 2),
        (lambda line: b"# kept by us\n" + line + b"\n", 1),
    ],
)
def test_a_line_that_is_no_checkpoint_is_told_by_its_number(
    lived: Path, tmp_path: Path, line: bytes, spoil: Spoil, number: int
) -> None:
    file = tmp_path / "anchors.jsonl"
    file.write_bytes(spoil(line))
    told = refusal(mcpguard("audit", "verify", "--data-dir", lived, "--checkpoint", file))
    assert f"{file} is not a file of checkpoints: line {number}" in told


@pytest.mark.parametrize(
    "written",
    [
        lambda line: line,
        lambda line: line + b"\n" + line + b"\r\n\n",
        lambda line: line + b"\n" + line[:40],
        lambda line: line[:12] + b"\n" + line + b"\n",
        lambda line: line + b"\n" + line[:-1] + b"\0\0\0\n" + line + b"\n",
        lambda line: json.dumps(json.loads(line), indent=2).encode(),
        lambda line: json.dumps(json.loads(line)).encode() + b"\n" + line,
    ],
)
def test_a_file_of_checkpoints_is_read_however_it_ends(
    lived: Path, tmp_path: Path, line: bytes, written: Spoil
) -> None:
    file = tmp_path / "anchors.jsonl"
    file.write_bytes(written(line))
    chain = proved(lived, "--checkpoint", file)
    assert (chain["whole"], chain["anchored_to"]) == (True, chain["last"])


def test_every_anchor_that_does_not_agree_is_told_and_the_highest_that_does_counts(lived: Path, tmp_path: Path) -> None:
    """Those of several chains are in it; of the one in the store, one was signed for another history."""
    stranger, anchors = keys.new_key()[0], []
    (chain,) = json.loads(mcpguard("audit", "verify", "--data-dir", lived, "-o", "json").stdout)["chains"]
    with closing(sqlite3.connect(lived / "mcpguard.db")) as connection:
        rows = connection.execute("SELECT content, signature FROM checkpoints ORDER BY seq").fetchall()
    anchors += [
        {"content": base64.b64encode(one).decode(), "signature": base64.b64encode(two).decode()} for one, two in rows
    ]
    for name, seq in ((chain["chain"], 2), (chain["chain"], 3), (chain["chain"], 99), ("another", 7)):
        anchors.insert(0, made_up(name, seq, stranger))
    file = tmp_path / "anchors.jsonl"
    file.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in anchors))
    found = proved(lived, "--checkpoint", file)
    assert found["anchored_to"] == chain["last"]
    assert [(each["seq"], each["tampering"]) for each in found["problems"]] == [
        (2, "rewritten"),
        (3, "rewritten"),
        (chain["last"] + 1, "tail cut"),
    ]
    assert found["elsewhere"] == {"another": 7}
    told = mcpguard("audit", "verify", "--data-dir", lived, "--checkpoint", file).stdout
    assert "Note: an external checkpoint covers chain another up to record 7, which is not in" in told


def made_up(chain: str, seq: int, key: keys.SigningKey) -> dict[str, str]:
    statement = Checkpoint(chain, seq, "00" * 32, 7, CheckpointCause.TIME, 0, key.public)
    return SignedCheckpoint(statement, sign(statement, key)).as_json()


@pytest.mark.parametrize("key", ["", "x", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB="])
def test_what_is_no_key_is_told_in_a_sentence(lived: Path, key: str) -> None:
    told = refusal(mcpguard("audit", "verify", "--data-dir", lived, "--key", public(lived), "--key", key))
    assert "is not a public key: it must be base64 of 32 bytes" in told
