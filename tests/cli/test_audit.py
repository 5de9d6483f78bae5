"""`mcpguard audit`: what is printed can be believed, also when what is read was written by an enemy."""

import base64
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcpguard.ledger import keys
from tests.cli.command import HOSTILE, inert, mcpguard, refusal
from tests.world import World, said

KINDS = ["started", "configured", *["opened", "closed"] * 3, "stopped"]


def tampered(data_dir: Path, *statements: str, values: tuple[object, ...] = ()) -> Path:
    """The database after somebody has had his way with it."""
    database = data_dir / "mcpguard.db"
    with closing(sqlite3.connect(database)) as connection:
        for statement in statements:
            connection.execute(statement, values)
        connection.commit()
    return database


# Listing.


def test_the_newest_records_are_listed_the_newest_last(lived: Path) -> None:
    told = mcpguard("audit", "list", "--data-dir", lived)
    assert (told.exit_code, told.stderr) == (0, "")
    head, *rows = (line.split() for line in told.stdout.splitlines())
    assert head == ["seq", "time", "(UTC)", "kind", "who", "what", "effect", "result", "reason"]
    assert [row[3] for row in rows] == KINDS
    assert [int(row[0]) for row in rows] == list(range(1, len(KINDS) + 1))
    denied = rows[6]
    assert denied[-4:] == ["files:read_file", "read", "deny", "server:quarantined"]


def test_as_many_are_listed_as_were_asked_for(lived: Path) -> None:
    told = json.loads(mcpguard("audit", "list", "-n", "2", "-o", "json", "--data-dir", lived).stdout)
    assert [record["kind"] for record in told] == KINDS[-2:]
    assert len(mcpguard("audit", "list", "--limit", "1", "--data-dir", lived).stdout.splitlines()) == 2


def test_json_is_what_the_records_say(lived: Path) -> None:
    told = mcpguard("audit", "list", "-o", "json", "--data-dir", lived)
    assert (told.exit_code, told.stderr) == (0, "")
    assert json.loads(told.stdout) == said(lived / "mcpguard.db")


def test_a_copy_is_listed_by_its_path(lived: Path, tmp_path: Path) -> None:
    copy = (lived / "mcpguard.db").rename(tmp_path / "copy.db")
    told = mcpguard("audit", "list", "--db", copy, "-o", "json")
    assert [record["kind"] for record in json.loads(told.stdout)] == KINDS


@pytest.mark.anyio
async def test_a_live_store_can_be_listed_and_proved(guard: World) -> None:
    await guard.call()
    data_dir = guard.now.settings.data_dir
    told = mcpguard("audit", "list", "-o", "json", "--data-dir", data_dir)
    assert [record["kind"] for record in json.loads(told.stdout)] == ["started", "configured", "opened", "closed"]
    assert mcpguard("audit", "verify", "--data-dir", data_dir).exit_code == 0
    await guard.call()


@pytest.mark.parametrize("form", ["table", "json"])
def test_hostile_text_in_a_record_is_printed_inert(lived: Path, form: str) -> None:
    told = mcpguard("audit", "list", "-o", form, "--data-dir", lived)
    assert told.exit_code == 0
    assert inert(told.stdout)
    if form == "table":
        assert len(told.stdout.splitlines()) == len(KINDS) + 1
        assert "⟨U+001B⟩[2J⟨U+009B⟩31m⟨U+000D⟩⟨U+000A⟩⟨U+202E⟩evil" in told.stdout
        assert "[red]Integrity: OK[/red] é 日本" in told.stdout
    else:
        assert HOSTILE in [record.get("caller_label") for record in json.loads(told.stdout)], "and not changed by it"


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("UPDATE records SET content = x'00ff' WHERE seq = 2", ()),
        ("UPDATE records SET content = 'text' WHERE seq = 2", ()),
        ("UPDATE records SET content = 7 WHERE seq = 2", ()),
        ("UPDATE records SET content = ? WHERE seq = 2", (b"[1, 2]",)),
        ("UPDATE records SET content = ? WHERE seq = 2", (b"null",)),
        ("UPDATE records SET content = ? WHERE seq = 2", (b"{}",)),
        ("UPDATE records SET content = ? WHERE seq = 2", (b'{"kind": 7, "at": "then", "server": 1}',)),
        ("UPDATE records SET content = ? WHERE seq = 2", (b'{"kind": "opened", "at": 9007199254740991}',)),
        ("UPDATE records SET content = ? WHERE seq = 2", (b'{"kind": "opened", "at": -99999999999999999}',)),
        ("UPDATE records SET content = NULL WHERE seq = 2", ()),
        ("UPDATE records SET hash = 'text' WHERE seq = 2", ()),
        ("UPDATE records SET hash = x'' WHERE seq = 2", ()),
        ("UPDATE records SET at = 'then', kind = x'00', entry = 3.5 WHERE seq = 2", ()),
        ("UPDATE checkpoints SET content = 'text', signature = 7", ()),
        ("UPDATE chains SET created_at = 'then'", ()),
    ],
)
def test_what_was_tampered_with_is_found_and_listing_it_still_works(
    lived: Path, statement: str, values: tuple[object, ...]
) -> None:
    database = tampered(lived, statement, values=values)
    listed = mcpguard("audit", "list", "--db", database)
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert len(listed.stdout.splitlines()) == len(KINDS) + 1
    as_json = json.loads(mcpguard("audit", "list", "--db", database, "-o", "json").stdout)
    assert len(as_json) == len(KINDS)
    checked = mcpguard("audit", "verify", database)
    if "created_at" in statement:  # nothing rests on when a chain was begun
        assert checked.exit_code == 0
    elif checked.stdout:
        assert (checked.exit_code, checked.stdout.splitlines()[-1]) == (1, "Integrity: FAILED")
    else:
        assert "was modified: in the table " in refusal(checked)


# Proving.


def test_a_whole_log_is_called_whole(lived: Path) -> None:
    told = mcpguard("audit", "verify", "--data-dir", lived)
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.splitlines()[-1] == "Integrity: OK"
    report = json.loads(mcpguard("audit", "verify", "--data-dir", lived, "-o", "json").stdout)
    assert report["whole"] is True
    assert report["chains"][0]["records"] == len(KINDS)


@pytest.mark.parametrize(
    ("statement", "bad", "how"),
    [
        (
            "UPDATE records SET content = CAST(replace(content, 'read_file', 'read_fire') AS BLOB) WHERE seq = 5",
            5,
            "edited",
        ),
        ("UPDATE records SET name = 'harmless' WHERE seq = 5", 5, "columns edited"),
        ("DELETE FROM records WHERE seq = 3", 3, "removed"),
        ("UPDATE records SET seq = 99 WHERE seq = 2", 2, "removed"),
    ],
)
def test_tampering_is_named_by_record_and_kind(lived: Path, statement: str, bad: int, how: str) -> None:
    database = tampered(lived, statement)
    told = mcpguard("audit", "verify", database)
    assert (told.exit_code, told.stderr) == (1, "")
    lines = told.stdout.splitlines()
    assert [line for line in lines if line.startswith(f"  FIRST BAD RECORD: {bad} ({how}): ")]
    assert lines[-1] == "Integrity: FAILED"
    told = mcpguard("audit", "verify", database, "-o", "json")
    assert told.exit_code == 1
    report = json.loads(told.stdout)
    assert report["whole"] is False
    first = report["chains"][0]["problems"][0]
    assert (first["seq"], first["tampering"]) == (bad, how)


FORGED = "\x1b[1A\x1b[2K\r\nIntegrity: OK\n\u202e"


@pytest.mark.parametrize(
    ("statements", "values"),
    [
        (["UPDATE chains SET id = ?1", "UPDATE records SET chain = ?1"], (FORGED,)),
        (["UPDATE records SET content = ? WHERE seq = 2"], (json.dumps({"seq": FORGED, "chain": FORGED}).encode(),)),
        (["UPDATE records SET content = ? WHERE seq = 2"], (json.dumps({"kind": "lost", "found": FORGED}).encode(),)),
        (
            ["UPDATE records SET content = ? WHERE seq = 2"],
            (json.dumps({"kind": "opened", "entry": FORGED, "key": FORGED}).encode(),),
        ),
        (["UPDATE records SET content = ? WHERE seq = 1"], (json.dumps({"kind": "started", "key": FORGED}).encode(),)),
    ],
)
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_forged_log_cannot_speak_for_the_verifier(
    lived: Path, statements: list[str], values: tuple[object, ...], form: str
) -> None:
    told = mcpguard("audit", "verify", tampered(lived, *statements, values=values), "-o", form)
    assert told.exit_code == 1
    if not told.stdout:
        refusal(told)
    elif form == "table":
        assert inert(told.stdout)
        assert [line for line in told.stdout.splitlines() if line.startswith("Integrity")] == ["Integrity: FAILED"]
    else:
        assert inert(told.stdout)
        assert json.loads(told.stdout)["whole"] is False


# Checkpoints.


def checkpoint_of(data_dir: Path, file: Path) -> dict[str, str]:
    told = mcpguard("audit", "checkpoint", "--data-dir", data_dir)
    assert told.exit_code == 0
    assert told.stderr.startswith("It covers record ")
    file.write_text(told.stdout)
    found: dict[str, str] = json.loads(told.stdout)
    return found


def test_a_checkpoint_says_how_much_came_after_it(lived: Path) -> None:
    with closing(sqlite3.connect(lived / "mcpguard.db")) as connection:
        [(before,)] = connection.execute("SELECT seq FROM checkpoints ORDER BY seq DESC LIMIT 1 OFFSET 1")
        connection.execute("DELETE FROM checkpoints WHERE seq > ?", (before,))
        connection.commit()
    told = mcpguard("audit", "checkpoint", "--data-dir", lived)
    assert told.exit_code == 0
    assert json.loads(base64.b64decode(json.loads(told.stdout)["content"]))["seq"] == before
    follow = len(KINDS) - before
    assert told.stderr.startswith(f"It covers record {before} and all before it; {follow} more follow it")


def test_a_checkpoint_kept_elsewhere_is_what_a_log_rests_on(lived: Path, tmp_path: Path) -> None:
    kept = tmp_path / "checkpoint.json"
    said_there = json.loads(base64.b64decode(checkpoint_of(lived, kept)["content"]))
    assert said_there["seq"] == len(KINDS)
    assert said_there["key"] == mcpguard("audit", "key", "--data-dir", lived).stdout.strip()
    told = mcpguard("audit", "verify", "--data-dir", lived, "--checkpoint", kept)
    assert told.exit_code == 0
    assert f"Records 1 to {len(KINDS)}: covered by an external checkpoint; nobody rewrote them." in told.stdout


def test_a_log_that_is_shorter_than_its_checkpoint_is_not_whole(lived: Path, tmp_path: Path) -> None:
    kept = tmp_path / "checkpoint.json"
    checkpoint_of(lived, kept)
    cut = tampered(lived, "DELETE FROM records WHERE seq > 3", "DELETE FROM checkpoints WHERE seq > 3")
    assert mcpguard("audit", "verify", cut).exit_code == 0, "nothing in the log itself shows it"
    told = mcpguard("audit", "verify", cut, "--checkpoint", kept)
    assert told.exit_code == 1
    assert "Integrity: FAILED" in told.stdout.splitlines()


def test_the_key_is_the_one_that_signs(lived: Path) -> None:
    told = mcpguard("audit", "key", "--data-dir", lived)
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout == keys.load(lived / "audit.key").public + "\n"
    assert said(lived / "mcpguard.db")[0]["key"] == told.stdout.strip()


# What cannot be read.


def missing(folder: Path) -> Path:
    return folder / "not there"


def a_folder(folder: Path) -> Path:
    return folder


def empty(folder: Path) -> Path:
    (folder / "empty").touch()
    return folder / "empty"


def text(folder: Path) -> Path:
    (folder / "text").write_text("This is no database. " * 1000)
    return folder / "text"


def somebody_elses_database(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "other.db")) as connection:
        connection.execute("CREATE TABLE records (a)")
    return folder / "other.db"


def cut_short(folder: Path) -> Path:
    data = (folder / "lived" / "mcpguard.db").read_bytes()
    (folder / "cut.db").write_bytes(data[: len(data) // 2])
    return folder / "cut.db"


def a_hostile_name(folder: Path) -> Path:
    return folder / "\x1b[2J\u202e"


@pytest.mark.parametrize("command", ["verify", "list --db", "tail --once --db", "show 1 --db", "checkpoint"])
@pytest.mark.parametrize("make", [missing, a_folder, empty, text, somebody_elses_database, cut_short, a_hostile_name])
@pytest.mark.usefixtures("lived")
def test_what_is_no_store_is_told_in_a_sentence(tmp_path: Path, command: str, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    sentence = refusal(mcpguard("audit", *command.split(), path))
    assert path.name in sentence or make is a_hostile_name
    assert sorted(tmp_path.rglob("*")) == before, "reading makes no file"


@pytest.mark.parametrize("command", ["verify", "list", "tail --once", "show 1", "checkpoint", "key"])
def test_a_data_directory_that_is_not_there_is_told_and_not_made(tmp_path: Path, command: str) -> None:
    nowhere = tmp_path / "nowhere"
    assert str(nowhere) in refusal(mcpguard("audit", *command.split(), "--data-dir", nowhere))
    assert not nowhere.exists()


@pytest.mark.parametrize("command", ["list", "tail --once", "show 1", "checkpoint"])
def test_an_empty_store_is_told_in_a_sentence(tmp_path: Path, command: str) -> None:
    mcpguard("db", "upgrade", "--data-dir", tmp_path / "data")
    assert "nothing has been recorded yet" in refusal(
        mcpguard("audit", *command.split(), "--data-dir", tmp_path / "data")
    )


@pytest.mark.parametrize("url", ["://", "nonsense://", "http://127.0.0.1:1/", "postgresql://u:hunter2@127.0.0.1:1/x"])
def test_a_url_that_leads_nowhere_is_told_in_a_sentence_without_its_password(url: str) -> None:
    assert "hunter2" not in refusal(mcpguard("audit", "verify", url))


def changed(**fields: Any) -> Callable[[dict[str, str]], bytes]:  # noqa: ANN401 - JSON
    return lambda kept: json.dumps(kept | fields).encode()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"",
        lambda _: b"garbage",
        lambda _: b"[]",
        lambda _: b"null",
        lambda _: b"{}",
        lambda _: b"[" * 60_000,
        lambda _: b"\xff\xfe",
        lambda _: b" " * 70_000,
        lambda kept: json.dumps(kept).encode()[:-20],
        lambda kept: json.dumps(kept).encode().replace(b'"content"', b'"signature"'),
        changed(content="!"),
        changed(content=7),
        changed(content=""),
        changed(content=base64.b64encode(b'{"chain": "\x1b[2J"}').decode()),
        changed(content=base64.b64encode(b"[]").decode()),
        changed(signature=None),
        changed(signature=""),
        changed(signature=base64.b64encode(bytes(64)).decode()),
    ],
)
def test_what_is_no_checkpoint_is_told_in_a_sentence(
    lived: Path, tmp_path: Path, spoil: Callable[[dict[str, str]], bytes]
) -> None:
    file = tmp_path / "checkpoint.json"
    file.write_bytes(spoil(checkpoint_of(lived, file)))
    sentence = refusal(mcpguard("audit", "verify", "--data-dir", lived, "--checkpoint", file))
    assert f"{file} is not a checkpoint: " in sentence


def test_a_checkpoint_that_cannot_be_read_is_told_in_a_sentence(lived: Path, tmp_path: Path) -> None:
    for file in (tmp_path / "not there", tmp_path):
        told = refusal(mcpguard("audit", "verify", "--data-dir", lived, "--checkpoint", file))
        assert f"{file} cannot be read: " in told


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_file_that_is_none_is_told_in_a_sentence(lived: Path, content: bytes) -> None:
    (lived / "audit.key").write_bytes(content)
    assert "audit.key" in refusal(mcpguard("audit", "key", "--data-dir", lived))
