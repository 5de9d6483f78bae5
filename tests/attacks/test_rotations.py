"""Somebody who can write the database, and has one key or another, has it look as if keys had followed each other."""

import sqlite3
from pathlib import Path

import orjson
import pytest

from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.keys import SigningKey
from mcpguard.ledger.rotations import Rotation
from mcpguard.ledger.verify.explain import rests_on
from mcpguard.ledger.verify.report import KeySource, KeyTrust, Tampering
from tests.ledger.chained import (
    Chained,
    cut,
    forged,
    judged,
    last,
    new_key,
    newest,
    put,
    put_checkpoint,
    put_rotation,
)
from tests.ledger.tampering import rechain, tampering


class Log:
    """A log of eight records that was rotated once, by its fifth: its file, and both keys."""

    def __init__(self, folder: Path) -> None:
        chained = Chained(folder / "log.db")
        self.rotated = chained.lived()
        self.old, self.new = chained.keys
        self.file = chained.close()
        self.end = 8


@pytest.fixture
def log(tmp_path: Path) -> Log:
    made = Log(tmp_path)
    assert (made.rotated, newest(made.file).statement.seq) == (5, made.end)
    return made


def test_untouched_it_is_whole_by_either_key_by_both_and_by_none(log: Log) -> None:
    for given in ((), (log.old,), (log.new,), (log.old, log.new)):
        report, _ = judged(log.file, *given)
        assert (report.problems, report.signed_to, report.rotations) == ([], log.end, 1)
    assert judged(log.file, log.new)[0].signers == {log.new.public}
    assert judged(log.file, log.old)[0].signers == {log.old.public, log.new.public}


def test_with_neither_key_it_is_not(log: Log) -> None:
    assert forged(log.file, new_key()).signed_to == 0


# The old key is stolen after it went.


def test_a_retired_key_that_signs_later_is_found(log: Log) -> None:
    with tampering(log.file) as connection:
        put(connection, "disclosed", digest="forged")
        put_checkpoint(connection, log.old)
    for given in ((), (log.old,), (log.new,), (log.old, log.new)):
        assert forged(log.file, *given).signed_to == log.end


def test_a_retired_key_that_signs_instead_of_the_new_one_is_found(log: Log) -> None:
    with tampering(log.file) as connection:
        cut(connection, log.rotated)
        put(connection, "disclosed", digest="forged")
        put_checkpoint(connection, log.old)
    for given in ((), (log.old,), (log.new,)):
        assert forged(log.file, *given).signed_to <= log.rotated


@pytest.mark.parametrize("announced", [False, True])
def test_a_retired_key_that_retires_itself_again_is_found(log: Log, announced: bool) -> None:
    thief = new_key()
    with tampering(log.file) as connection:
        if announced:
            put(connection, "started", key=log.old.public)
        put_rotation(connection, log.old, thief)
        put_checkpoint(connection, thief)
    for given in ((), (log.old,), (log.new,), (log.old, log.new)):
        report = forged(log.file, *given)
        assert Tampering.KEY_FORGED in {problem.tampering for problem in report.problems}
        assert thief.public not in report.signers
    assert Tampering.KEY_FORGED in {problem.tampering for problem in forged(log.file, thief).problems}


@pytest.mark.parametrize("signs", [False, True])
def test_a_retired_key_that_comes_back_is_found(log: Log, signs: bool) -> None:
    with tampering(log.file) as connection:
        put_rotation(connection, log.new, log.old)
        if signs:
            put(connection, "disclosed", digest="more")
            put_checkpoint(connection, log.old)
    for given in ((), (log.old,), (log.new,)):
        report = forged(log.file, *given)
        assert (report.problems[0].seq, report.problems[0].tampering) == (log.end + 1, Tampering.KEY_FORGED)
        assert report.signed_to == log.end


def test_a_key_that_comes_twice_is_found(log: Log) -> None:
    thief = new_key()
    with tampering(log.file) as connection:
        put(connection, "started", key=thief.public)
        seq = put_rotation(connection, thief, log.new)
    for given in ((), (log.old,), (log.new,), (thief, log.new)):
        report = forged(log.file, *given)
        assert [(each.seq, each.tampering) for each in report.problems] == [(seq, Tampering.KEY_FORGED)]


def test_the_log_of_who_stole_the_old_key_and_cut_off_its_end_rests_on_the_old_key_only(log: Log) -> None:
    """That is why a verifier is given the newest key: it does not believe the old one without the record."""
    with tampering(log.file) as connection:
        cut(connection, log.rotated - 1)
        put(connection, "disclosed", digest="forged")
        put_checkpoint(connection, log.old)
    assert judged(log.file, log.old)[0].signers == {log.old.public}
    assert forged(log.file, log.new).signed_to == 0


def test_and_an_anchor_from_after_the_rotation_shows_it(log: Log) -> None:
    anchor = newest(log.file)
    with tampering(log.file) as connection:
        cut(connection, log.rotated - 1)
        put(connection, "disclosed", digest="forged")
        put_checkpoint(connection, log.old)
    report, found = judged(log.file, log.old, anchors=(anchor,))
    assert Tampering.TAIL_CUT in {problem.tampering for problem in report.problems}
    assert "tail cut" in found


# The new key is stolen: what came before it stays as it was.


def test_the_new_key_cannot_rewrite_what_came_before_it(log: Log) -> None:
    with tampering(log.file) as connection:
        connection.execute("UPDATE records SET content = replace(content, '\"1\"', '\"9\"') WHERE seq = 3")
        connection.execute("UPDATE records SET content = CAST(content AS BLOB)")
        rechain(connection)
        connection.execute("DELETE FROM checkpoints")
        put_checkpoint(connection, log.new)
    report = forged(log.file, log.old)
    assert (report.problems[0].seq, report.problems[0].tampering) == (log.rotated, Tampering.KEY_FORGED)
    assert report.signed_to == 0, "and nothing is said to rest on it"


def test_the_new_key_cannot_sign_before_it_came(log: Log) -> None:
    with tampering(log.file) as connection:
        cut(connection, log.rotated - 1)
        connection.execute("DELETE FROM checkpoints WHERE seq >= ?", (log.rotated - 1,))
        put_checkpoint(connection, log.new)
        put_rotation(connection, log.old, log.new)
    for given in ((), (log.old,), (log.new,)):
        assert log.new.public not in forged(log.file, *given).signers


# Without any of our keys.


def test_a_proof_from_another_chain_is_worth_nothing(log: Log, tmp_path: Path) -> None:
    other = Chained(tmp_path / "other.db")
    other.keys[0] = log.new
    other.chain.sign_with(log.new)
    other.start()
    thief = new_key()
    other.transact(other.append(8), other.rotation(thief))
    file = other.close()
    with tampering(file) as connection:
        (content,) = connection.execute("SELECT content FROM records WHERE kind = 'rotated'").fetchone()
    said = Rotation.verify(content)
    assert said.key == thief.public
    with tampering(log.file) as connection:
        fields = {"after": said.after, "previous": said.previous, "key": said.key}
        there = orjson.loads(content)
        put(connection, "rotated", **fields, at=there["at"], proof=there["proof"], accepted=there["accepted"])
        put(connection, "disclosed", digest="forged")
        put_checkpoint(connection, thief)
    for given in ((), (log.old,), (log.new,)):
        assert forged(log.file, *given).signed_to == log.end


def test_our_own_record_a_second_time_is_worth_nothing(log: Log) -> None:
    with tampering(log.file) as connection:
        (content,) = connection.execute("SELECT content FROM records WHERE kind = 'rotated'").fetchone()
        said = orjson.loads(content)
        for name in ("v", "chain", "seq", "kind"):
            del said[name]
        put(connection, "rotated", **said)
    for given in ((), (log.old,), (log.new,)):
        report = forged(log.file, *given)
        assert [problem.seq for problem in report.problems] == [log.end + 1]


@pytest.mark.parametrize("what", ["proof", "accepted", "after", "at", "previous", "key"])
def test_whatever_of_the_record_is_another_it_is_found(log: Log, what: str) -> None:
    thief = new_key()
    other = {
        "proof": Rotation("c", 1, 1, "", log.old.public, log.new.public).fields(log.old, log.new)["proof"],
        "accepted": Rotation("c", 1, 1, "", log.old.public, log.new.public).fields(log.old, log.new)["accepted"],
        "after": "00" * 32,
        "at": 8,
        "previous": thief.public,
        "key": thief.public,
    }
    for given in ((), (log.old,), (log.new,)):
        copy = log.file.with_name("copy.db")
        copy.write_bytes(log.file.read_bytes())
        with tampering(copy) as connection:
            put_rotation(connection, log.new, new_key(), **{what: other[what]})
        report = forged(copy, *given)
        assert report.problems[0].tampering is Tampering.KEY_FORGED


@pytest.mark.parametrize("given", ["none", "old", "new"])
def test_a_rotation_between_keys_that_nobody_knows_is_found(log: Log, given: str) -> None:
    with tampering(log.file) as connection:
        put_rotation(connection, new_key(), new_key())
    keys = {"none": (), "old": (log.old,), "new": (log.new,)}[given]
    report = forged(log.file, *keys)
    assert [problem.tampering for problem in report.problems] == [Tampering.KEY_FORGED]


def rewritten(log: Log, thief: SigningKey, *, accepted: bool) -> None:
    """Everything is cut off and written anew before the given key ever signed, and a key of the thief's looks like the
    one that was before it. `accepted`: whether the given key has signed that, which the thief cannot have it do."""
    with tampering(log.file) as connection:
        cut(connection, 1)
        connection.execute("DELETE FROM checkpoints")
        content = "replace(CAST(content AS TEXT), ?, ?)"
        connection.execute(
            f"UPDATE records SET content = CAST({content} AS BLOB)",
            (log.old.public, thief.public),
        )
        rechain(connection)
        put(connection, "disclosed", digest="forged")
        put_checkpoint(connection, thief)
        accepts = {} if accepted else {"accepted": _by(connection, thief, log.new.public)}
        put_rotation(connection, thief, log.new if accepted else _Public(log.new.public), **accepts)
        put_checkpoint(connection, thief, CheckpointCause.ROTATION)


class _Public(SigningKey):
    """A key of which somebody knows the public half only, and signs with another."""

    def __init__(self, public: str) -> None:
        other = new_key()
        super().__init__(other._private)
        self.public = public


def _by(connection: sqlite3.Connection, thief: SigningKey, key: str) -> str:
    chain, seq, before = last(connection)
    fields = Rotation(chain, seq + 1, 7, before.hex(), thief.public, key).fields(thief, thief)
    return str(fields["accepted"])


def test_a_log_written_anew_whose_key_leads_into_the_given_one_is_found(log: Log) -> None:
    rewritten(log, new_key(), accepted=False)
    report = forged(log.file, log.new)
    assert (report.signed_to, report.earlier_to, report.signers) == (0, 0, set())


def test_even_if_the_given_key_had_signed_that_it_follows_nothing_would_rest_on_it(log: Log) -> None:
    rewritten(log, new_key(), accepted=True)
    report, _ = judged(log.file, log.new)
    assert (report.signed_to, report.anchored_to, report.signers) == (0, 0, set())
    said = " ".join(rests_on(report, KeyTrust(frozenset({log.new.public}), KeySource.GIVEN)))
    assert ": signed by" not in said
    assert "They prove nothing" in said
    assert f"Records 1 to {report.last_seq}: hash-chained only; truncation of the tail" in said


def test_a_tail_cut_right_after_the_rotation_rests_on_the_old_key_alone(log: Log) -> None:
    with tampering(log.file) as connection:
        cut(connection, log.rotated)
    assert judged(log.file, log.old)[0].signed_to == log.rotated
    report, _ = judged(log.file, log.new)
    assert (report.signed_to, report.earlier_to) == (0, log.rotated)


def test_a_tail_cut_right_before_it_leaves_nothing_that_the_new_key_vouches_for(log: Log) -> None:
    with tampering(log.file) as connection:
        cut(connection, log.rotated - 1)
    assert judged(log.file, log.old)[0].signed_to == log.rotated - 1
    assert forged(log.file, log.new).signed_to == 0


def test_a_removed_checkpoint_of_the_rotation_is_found(log: Log) -> None:
    with tampering(log.file) as connection:
        connection.execute("DELETE FROM checkpoints WHERE seq = ?", (log.rotated,))
    for given in ((), (log.old,), (log.new,)):
        report, found = judged(log.file, *given)
        assert Tampering.CHECKPOINT_REMOVED in {problem.tampering for problem in report.problems}
        assert "checkpoint removed" in found


def test_a_record_that_hides_what_it_is_from_searches_is_found(log: Log) -> None:
    with tampering(log.file) as connection:
        connection.execute("UPDATE records SET kind = 'disclosed' WHERE kind = 'rotated'")
    for given in ((), (log.old,), (log.new,)):
        report, _ = judged(log.file, *given)
        assert (log.rotated, Tampering.COLUMNS_EDITED) in {(each.seq, each.tampering) for each in report.problems}


def test_the_key_of_an_anchor_is_believed_and_counts_only_where_no_key_was_given(log: Log) -> None:
    thief = new_key()
    with tampering(log.file) as connection:
        put(connection, "disclosed", digest="forged")
        forgery = put_checkpoint(connection, thief)
    report, _ = judged(log.file, log.new, anchors=(forgery,))
    assert (report.signed_to, report.signers) == (log.end, {log.new.public})
