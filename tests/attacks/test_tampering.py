"""Somebody who can write the database changes the past. Both verifiers find it, and say what was done and where."""

import base64
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.checkpoints import Checkpoint, CheckpointCause, sign
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.verify.report import KeySource, KeyTrust, Tampering
from tests import second_verifier
from tests.ledger import sample
from tests.ledger.tampering import rechain, tampering
from tests.world import verified

Attack = Callable[[sqlite3.Connection], object]


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.make(tmp_path_factory.mktemp("ledger"))


@pytest.fixture
def ledger(untouched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(untouched, tmp_path / "copy.db"))


def last_checkpoint(database: Path) -> tuple[Checkpoint, bytes]:
    """The newest checkpoint, and the file in which somebody kept it elsewhere."""
    with tampering(database) as connection:
        content, signature = connection.execute(
            "SELECT content, signature FROM checkpoints ORDER BY seq DESC"
        ).fetchone()
    kept = {"content": base64.b64encode(content).decode(), "signature": base64.b64encode(signature).decode()}
    return Checkpoint.verify(content, signature), json.dumps(kept).encode()


def edit(seq: int, **changes: object) -> Attack:
    def attack(connection: sqlite3.Connection) -> None:
        (content,) = connection.execute("SELECT content FROM records WHERE seq = ?", (seq,)).fetchone()
        changed = orjson.dumps(orjson.loads(content) | changes, option=orjson.OPT_SORT_KEYS)
        connection.execute("UPDATE records SET content = ? WHERE seq = ?", (changed, seq))

    return attack


def run(*statements: str) -> Attack:
    def attack(connection: sqlite3.Connection) -> None:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0

    return attack


def swap(first: int, second: int) -> Attack:
    return run(
        f"UPDATE records SET seq = -1 WHERE seq = {first}",
        f"UPDATE records SET seq = {first} WHERE seq = {second}",
        f"UPDATE records SET seq = {second} WHERE seq = -1",
    )


def both(*attacks: Attack) -> Attack:
    def attack(connection: sqlite3.Connection) -> None:
        for one in attacks:
            one(connection)

    return attack


ATTACKS: dict[str, tuple[Attack, int, set[Tampering]]] = {
    "a record is edited": (edit(4, outcome="refused"), 4, {Tampering.EDITED}),
    "its column is edited too": (
        both(edit(4, outcome="refused"), run("UPDATE records SET outcome = 'refused' WHERE seq = 4")),
        4,
        {Tampering.EDITED},
    ),
    "a hash is edited": (run("UPDATE records SET hash = zeroblob(32) WHERE seq = 4"), 4, {Tampering.EDITED}),
    "only a column is edited": (
        run("UPDATE records SET server = 'other' WHERE seq = 3"),
        3,
        {Tampering.COLUMNS_EDITED},
    ),
    "a record is removed": (run("DELETE FROM records WHERE seq = 5"), 5, {Tampering.REMOVED}),
    "the first record is removed": (run("DELETE FROM records WHERE seq = 1"), 1, {Tampering.REMOVED}),
    "two records are swapped": (swap(4, 5), 4, {Tampering.REORDERED}),
    "a record is put in front": (
        run("INSERT INTO records SELECT chain, 0, hash, content, at, kind, NULL, caller, server, capability, name, "
            "effect, verdict, outcome, reason, \"by\", parent FROM records WHERE seq = 1"),
        0,
        {Tampering.ADDED},
    ),
    "the tail is cut": (
        both(run("DELETE FROM records WHERE seq > 9"), run("DELETE FROM bodies WHERE seq > 9")),
        10,
        {Tampering.TAIL_CUT},
    ),
    "everything is written anew": (both(edit(4, outcome="refused"), rechain), 4, {Tampering.COLUMNS_EDITED}),
    "everything is written anew, with care": (
        both(edit(4, outcome="refused"), run("UPDATE records SET outcome = 'refused' WHERE seq = 4"), rechain),
        5,
        {Tampering.REWRITTEN},
    ),
    "a body is edited": (run("UPDATE bodies SET content = x'00' WHERE seq = 3"), 3, {Tampering.BODY_EDITED}),
    "a salt gives a byte to its body": (
        run(
            "UPDATE bodies SET content = CAST(substr(salt, 16) || content AS BLOB), salt = substr(salt, 1, 15) "
            "WHERE seq = 3"
        ),
        3,
        {Tampering.BODY_EDITED},
    ),
    "a body is removed": (run("DELETE FROM bodies WHERE seq = 3"), 3, {Tampering.BODY_REMOVED}),
    "a body is emptied as if pruned": (
        run("UPDATE bodies SET content = NULL, salt = NULL WHERE seq = 3"),
        3,
        {Tampering.PRUNED_UNRECORDED},
    ),
    "a body is put beside a record that has none": (
        run("INSERT INTO bodies SELECT chain, 5, salt, content FROM bodies WHERE seq = 3"),
        5,
        {Tampering.BODY_ADDED},
    ),
    "a body is put behind the last record": (
        run("INSERT INTO bodies SELECT chain, 900, salt, content FROM bodies WHERE seq = 3"),
        900,
        {Tampering.BODY_ADDED},
    ),
    "what a body was before has another form": (
        both(edit(3, body_hmac="sha256:" + "a" * 64), rechain),
        3,
        {Tampering.INCONSISTENT},
    ),
    "what is not kept says so otherwise": (both(edit(6, body_digest="none"), rechain), 6, {Tampering.INCONSISTENT}),
    "what is kept was too large": (both(edit(3, body_too_large=True), rechain), 3, {Tampering.INCONSISTENT}),
    "what is no body was too large": (both(edit(2, body_too_large=True), rechain), 2, {Tampering.INCONSISTENT}),
    "a record is emptied as if pruned": (
        run("UPDATE records SET content = NULL, at = NULL, kind = NULL, entry = NULL, caller = NULL, server = NULL, "
            "capability = NULL, name = NULL, effect = NULL, verdict = NULL, reason = NULL WHERE seq = 5"),
        5,
        {Tampering.PRUNED_UNRECORDED},
    ),
    "a checkpoint is removed": (run("DELETE FROM checkpoints WHERE seq = 9"), 9, {Tampering.CHECKPOINT_REMOVED}),
    "a checkpoint is moved": (
        run("UPDATE checkpoints SET seq = 6 WHERE seq = 5"),
        5,
        {Tampering.CHECKPOINT_REMOVED, Tampering.CHECKPOINT_FORGED},
    ),
    "a checkpoint's signature is another's": (
        run("UPDATE checkpoints SET signature = (SELECT signature FROM checkpoints WHERE seq = 1) WHERE seq = 5"),
        5,
        {Tampering.CHECKPOINT_FORGED},
    ),
}  # fmt: skip


def test_an_untouched_ledger_is_whole(ledger: Path) -> None:
    anchor, kept = last_checkpoint(ledger)
    report = verified(ledger, anchor)
    assert report.whole
    assert report.chains[0].anchored_to == report.chains[0].last_seq
    assert second_verifier.verify(ledger, kept) == []


def test_a_pruned_ledger_is_whole_and_says_so(tmp_path: Path) -> None:
    ledger = sample.make(tmp_path, pruned=True)
    report = verified(ledger)
    assert report.whole, report.chains[0].problems
    assert report.chains[0].pruned == 2
    assert [notice for notice in report.chains[0].notices if "pruned" in notice]
    assert second_verifier.verify(ledger) == []


@pytest.mark.parametrize("name", ATTACKS)
def test_it_is_found_and_named(name: str, ledger: Path) -> None:
    attack, seq, kinds = ATTACKS[name]
    with tampering(ledger) as connection:
        attack(connection)
    first = verified(ledger).chains[0].first
    assert first is not None
    assert (first.seq, first.tampering in kinds) == (seq, True), first
    again = {finding.kind for finding in second_verifier.verify(ledger)}
    assert again
    assert {kind.value for kind in kinds} & again


def without_key(connection: sqlite3.Connection) -> None:
    """Let the table of records take anything as a number."""
    connection.execute("CREATE TABLE others AS SELECT * FROM records")
    connection.execute("DROP TABLE records")
    connection.execute("ALTER TABLE others RENAME TO records")


@pytest.mark.parametrize("column", ["seq", "hash", "content", "at", "kind"])
def test_a_cell_of_a_type_that_the_guard_never_writes_is_refused_by_name(column: str, ledger: Path) -> None:
    with tampering(ledger) as connection:
        wrong = "x'ff'" if column in {"kind", "at", "seq"} else "'text'"
        without_key(connection)
        connection.execute(f"UPDATE records SET {column} = {wrong} WHERE seq = 4")
    with pytest.raises(StoreUnavailable, match="of a type that mcpguard never writes"):
        verified(ledger)
    assert second_verifier.verify(ledger)


def test_text_that_is_no_text_is_a_finding(ledger: Path) -> None:
    with tampering(ledger) as connection:
        connection.execute("UPDATE records SET kind = CAST(x'ff' AS TEXT) WHERE seq = 4")
    first = verified(ledger).chains[0].first
    assert first is not None
    assert (first.seq, first.tampering) == (4, Tampering.COLUMNS_EDITED)


def test_an_owner_of_the_key_who_signs_it_all_anew_is_found_only_from_elsewhere(ledger: Path) -> None:
    anchor, kept = last_checkpoint(ledger)
    forger = SigningKey(Ed25519PrivateKey.generate())
    with tampering(ledger) as connection:
        edit(1, key=forger.public)(connection)
        edit(4, outcome="refused")(connection)
        connection.execute("UPDATE records SET outcome = 'refused' WHERE seq = 4")
        rechain(connection)
        for (content,) in connection.execute("SELECT content FROM checkpoints").fetchall():
            said = orjson.loads(content)
            (new,) = connection.execute("SELECT hash FROM records WHERE seq = ?", (said["seq"],)).fetchone()
            said = {key: said[key] for key in ("chain", "seq", "at", "why", "previous")}
            forged = Checkpoint(**said | {"why": CheckpointCause(said["why"])}, hash=new.hex(), key=forger.public)
            values = (forged.content(), sign(forged, forger), forged.seq)
            connection.execute("UPDATE checkpoints SET content = ?, signature = ? WHERE seq = ?", values)

    assert verified(ledger).whole  # nothing in the store is left to contradict the forger, and the answer says so
    assert second_verifier.verify(ledger) == []

    with_key = verified(ledger, trust=KeyTrust(frozenset({anchor.key}), KeySource.GIVEN)).chains[0].first
    assert with_key is not None
    assert with_key.tampering is Tampering.CHECKPOINT_FORGED
    assert second_verifier.verify(ledger, keys={anchor.key})

    kinds = {problem.tampering for problem in verified(ledger, anchor).chains[0].problems}
    assert Tampering.REWRITTEN in kinds
    assert {finding.kind for finding in second_verifier.verify(ledger, kept)} >= {"rewritten"}


def test_a_tail_cut_with_its_checkpoints_is_found_only_from_elsewhere(ledger: Path) -> None:
    anchor, kept = last_checkpoint(ledger)
    with tampering(ledger) as connection:
        for table in ("records", "bodies", "checkpoints"):
            connection.execute(f"DELETE FROM {table} WHERE seq > 5")
    assert verified(ledger).whole
    first = verified(ledger, anchor).chains[0].first
    assert first is not None
    assert (first.seq, first.tampering) == (6, Tampering.TAIL_CUT)
    assert {finding.kind for finding in second_verifier.verify(ledger, kept)} >= {"tail cut"}


def test_a_whole_chain_that_was_removed_is_found_from_elsewhere(ledger: Path) -> None:
    anchor, kept = last_checkpoint(ledger)
    with tampering(ledger) as connection:
        for table in ("records", "bodies", "checkpoints", "chains"):
            connection.execute(f"DELETE FROM {table}")
    assert verified(ledger, anchor).chains[0].first.tampering is Tampering.TAIL_CUT  # type: ignore[union-attr]
    assert {finding.kind for finding in second_verifier.verify(ledger, kept)} >= {"tail cut"}
