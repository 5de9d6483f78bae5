"""Whatever is appended, signed, rotated, undone or doubted, in whichever order: the log is whole for whoever has any of
its keys, and rests on what that key and its successors signed; what is spoilt then is found by both verifiers."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.ledger.checkpoints import CheckpointCause
from tests.ledger.chained import Chained, judged, new_key, put, put_checkpoint
from tests.ledger.tampering import tampering
from tests.tiers import examples

STEPS = st.lists(
    st.sampled_from(
        ["append", "sign", "rotate", "rotate and go on", "rotate, failing", "rotate, in doubt", "append, failing"]
    ),
    min_size=1,
    max_size=12,
)


def carried_out(chained: Chained, step: str) -> None:
    append, sign = chained.append(2), chained.signing()
    following = new_key()
    rotation = chained.rotation(following)
    match step:
        case "append":
            chained.transact(append)
        case "append, failing":
            chained.transact(append, sign, fails=True)
        case "sign":
            chained.transact(sign)
        case "rotate, failing":
            chained.transact(append, rotation, append, fails=True)
        case "rotate, in doubt":
            chained.doubted(append, rotation)
            chained.transact(append)  # what is stored next finds out
            chained.keys.append(following)
        case "rotate and go on":
            chained.transact(append, rotation, append, sign)
            chained.keys.append(following)
        case _:
            chained.transact(rotation)
            chained.keys.append(following)
    assert chained.chain.public_key == chained.keys[-1].public


def lived(folder: Path, steps: list[str]) -> tuple[Path, Chained, dict[str, int]]:
    """The file, and for each key the last record that it signed."""
    chained = Chained(folder / "log.db", every=5)
    chained.start()
    for step in steps:
        carried_out(chained, step)
    file = chained.close()
    query = "SELECT json_extract(CAST(content AS TEXT), '$.key'), max(seq) FROM checkpoints GROUP BY 1"
    with tampering(file) as connection:
        signed = dict(connection.execute(query).fetchall())
    return file, chained, signed


@settings(max_examples=examples(40))
@given(steps=STEPS)
def test_it_is_whole_by_any_of_its_keys_and_rests_on_what_that_and_its_successors_signed(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, chained, signed = lived(Path(folder), steps)
        assert judged(file)[0].problems == []
        for place, key in enumerate(chained.keys):
            report, _ = judged(file, key)
            assert report.problems == []
            counting = [each.public for each in chained.keys[place:]]
            assert report.signed_to == max((signed.get(each, 0) for each in counting), default=0)
            assert report.signers <= {*counting}


@settings(max_examples=examples(40))
@given(steps=STEPS, data=st.data())
def test_a_key_that_went_is_worth_nothing_afterwards(steps: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, chained, _ = lived(Path(folder), ["rotate", *steps])
        stolen = data.draw(st.sampled_from(chained.keys[:-1]))
        with tampering(file) as connection:
            put(connection, "disclosed", digest="forged")
            put_checkpoint(connection, stolen, data.draw(st.sampled_from([*CheckpointCause])))
        for given_key in ((), *((key,) for key in chained.keys)):
            assert not judged(file, *given_key)[0].whole


@settings(max_examples=examples(60))
@given(steps=STEPS, data=st.data())
def test_both_verifiers_find_whatever_is_spoilt(steps: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, chained, _ = lived(Path(folder), ["append", "rotate", *steps])
        copy = Path(shutil.copy(file, Path(folder) / "copy.db"))
        with tampering(copy) as connection:
            numbers = [seq for (seq,) in connection.execute("SELECT seq FROM records WHERE kind = 'rotated'")]
            seq = data.draw(st.sampled_from(numbers))
            (content,) = connection.execute("SELECT content FROM records WHERE seq = ?", (seq,)).fetchone()
            at = data.draw(st.integers(0, len(content) - 1))
            spoilt = bytearray(content)
            spoilt[at] ^= 1 << data.draw(st.integers(0, 7))
            connection.execute("UPDATE records SET content = ? WHERE seq = ?", (bytes(spoilt), seq))
        for given_key in ((), *((key,) for key in chained.keys)):
            assert not judged(copy, *given_key)[0].whole
