"""`/audit/{seq}`: every field, what lies beside, and what proves it, checked."""

import base64
import json
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.web.pages.audit import record_rows
from mcpguard.web.pages.audit.record_rows import MOST_OF_A_BODY, body, fields, hashed_text, row
from tests.ledger.tampering import tampering
from tests.web.pages.reading import page
from tests.web.pages.reading import text as plain
from tests.web.rest import browser
from tests.world import World

pytestmark = pytest.mark.anyio
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ("kind", "at", "verdict", "outcome", "reason", "effect", "server", "name", "entry", "body_size", "took_us", "by")
) | st.sampled_from(
    ("answer", "before", "after", "count", "names", "first", "what", "body_too_large", "change", "keys")
)


async def test_a_record_says_everything_and_what_it_rests_on(guard: World) -> None:
    by = await browser(guard)
    opening = guard.opening(Deny(Reason.SCOPE_EFFECT), arguments=KeptBody(b'{"path":"/etc","n":[1,2]}'))
    await guard.call(opening)
    await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
    seq = next(record["seq"] for record in guard.said() if record.get("entry") == opening.entry)
    text = await page(guard, by, f"/audit/{seq}")
    shown, record = plain(text), guard.said()[seq - 1]
    whole = (await guard.network.get(f"/api/v1/records/{seq}", headers=by)).json()
    for name, value in record.items():
        if isinstance(value, str):
            assert value in shown, name
    assert json.dumps(record, separators=(",", ":"), sort_keys=True) in shown
    assert Reason.SCOPE_EFFECT.sentence in shown
    assert whole["hash"] in shown
    assert whole["previous"] in shown
    assert whole["checkpoint"]["signature"] in shown
    assert guard.now.ledger.chain.public_key in shown
    assert "Hash verified." in shown
    assert "current signing key." in shown
    assert '"path": "/etc"' in shown
    assert f'href="/calls/{opening.entry}"' in text
    assert f'href="/audit/{seq - 1}" rel="prev"' in text
    assert f'href="/audit/{seq + 1}" rel="next"' in text


async def test_the_first_and_the_newest_record_have_one_neighbour(guard: World) -> None:
    by = await browser(guard)
    first = await page(guard, by, "/audit/1")
    assert 'rel="prev"' not in first
    assert "First record of the chain." in first
    await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
    newest = await page(guard, by, f"/audit/{len(guard.said())}")
    assert 'rel="next"' not in newest
    assert "this record and all before it" in newest


@pytest.mark.parametrize("path", ["/audit/0", "/audit/99", f"/audit/{10**30}"])
async def test_what_is_not_there_is_said_to_be_not_there(guard: World, path: str) -> None:
    text = await page(guard, await browser(guard), path, 404)
    assert "No such" in text


async def test_a_record_that_was_edited_is_told_as_that(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    seq = len(guard.said())
    with tampering(guard.database) as connection:
        edited = json.dumps(guard.said()[seq - 1] | {"outcome": "failed"}, separators=(",", ":"), sort_keys=True)
        connection.execute("UPDATE records SET content = ? WHERE seq = ?", (edited.encode(), seq))
    assert "Tampering detected: this record was changed." in await page(guard, by, f"/audit/{seq}")
    assert "Tampering detected: this record was changed." not in await page(guard, by, f"/audit/{seq - 1}")


async def test_a_checkpoint_that_nobody_signed_is_told_as_that(guard: World) -> None:
    by = await browser(guard)
    await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
    seq = len(guard.said())
    with tampering(guard.database) as connection:
        connection.execute("UPDATE checkpoints SET signature = ? WHERE seq = ?", (bytes(64), seq))
    assert "Signature invalid" in await page(guard, by, f"/audit/{seq}")


async def test_a_pruned_record_says_so_and_the_next_still_follows_it(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    seq = len(guard.said()) - 1
    with tampering(guard.database) as connection:
        prune(connection, seq)
    assert "Pruned: the content was removed" in await page(guard, by, f"/audit/{seq}")
    after = await page(guard, by, f"/audit/{seq + 1}")
    assert "Hash verified." in after
    assert ">pruned<" in await page(guard, by, "/audit")


def prune(connection: sqlite3.Connection, seq: int) -> None:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(records)")]
    gone = ", ".join(f'"{name}" = NULL' for name in columns if name not in ("chain", "seq", "hash"))
    connection.execute(f"UPDATE records SET {gone} WHERE seq = ?", (seq,))


def test_a_long_body_is_cut_and_says_how_much_is_missing() -> None:
    text = "x" * (MOST_OF_A_BODY + 7)
    cut = body({"content": {"kind": "opened"}, "body": {"pruned": False, "text": text, "base64": None}})
    assert cut is not None
    assert (len(cut.text), cut.left_out, cut.what) == (MOST_OF_A_BODY, 7, "Arguments")


@given(JSON, st.sampled_from(["", " "]))
def test_a_body_over_several_lines_says_the_same(value: object, blank: str) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":" + blank))
    cut = body({"content": {}, "body": {"pruned": False, "text": text, "base64": None}})
    assert cut is not None
    assert json.loads(cut.text) == value
    assert cut.text == text or not blank or json.dumps(value, ensure_ascii=False, separators=(",", ":")) == text


def test_a_number_that_some_readers_round_stays_as_it_is() -> None:
    for text in ('{"n":12345678901234567890123}', '{"n":1.10}', '{"a":1,"a":2}', '{"n": 1}'):
        cut = body({"content": {}, "body": {"pruned": False, "text": text, "base64": None}})
        assert cut is not None
        assert cut.text == text


@given(st.dictionaries(NAMES, JSON, max_size=12))
def test_whatever_a_record_says_it_can_be_shown(content: dict[str, Any]) -> None:
    record = {"seq": 1, "pruned": False, "content": content, "body": None, "previous": None, "hash": "0" * 64}
    shown = row(record)
    assert shown.at is None or 0 <= shown.at <= record_rows.LATEST
    assert {field.name for field in fields(record)} == content.keys()
    assert isinstance(hashed_text(record), str)
    body(record)


def test_a_body_that_is_no_text_is_shown_as_base64() -> None:
    coded = base64.b64encode(b"\xff\x00").decode()
    cut = body({"content": {"kind": "closed"}, "body": {"pruned": False, "text": None, "base64": coded}})
    assert cut is not None
    assert (cut.how, cut.text) == ("coded", coded)
    assert cut.what == "Response"
