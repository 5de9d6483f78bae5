"""`/audit/export`: a form, and a file that is recorded before its first byte."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mcpguard.domain.people import Role
from mcpguard.ledger.bundle.verify_bundle import verify
from mcpguard.ledger.export.formats import WORDS
from mcpguard.ledger.verify.report import KeySource, KeyTrust
from tests.web.rest import browser
from tests.world import World

pytestmark = pytest.mark.anyio
FORM = "/audit/export"
FILE = "/audit/export/file"


async def taken(guard: World, by: dict[str, str], **query: Any) -> httpx2.Response:  # noqa: ANN401 - of the client
    return await guard.network.get(FILE, params={"format": "jsonl", **query}, headers=by)


async def test_the_form_begins_with_the_filter_of_the_page(guard: World) -> None:
    by = await browser(guard, Role.AUDITOR)
    answer = await guard.network.get(FORM, params={"q": 'tool:"><b>'}, headers=by)
    assert answer.status_code == 200
    assert 'value="tool:&#34;&gt;&lt;b&gt;"' in answer.text
    for word in WORDS:
        assert f'<option value="{word}"' in answer.text
    assert guard.said()[-1]["kind"] != "exported", "looking at the form lets nothing out"


async def test_a_file_has_the_record_of_itself_and_the_name_of_who_took_it(guard: World) -> None:
    by = await browser(guard, Role.AUDITOR)
    await guard.call()
    answer = await taken(guard, by)
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith('attachment; filename="mcpguard-')
    assert answer.headers["content-disposition"].endswith('.jsonl"')
    assert answer.headers["cache-control"] == "no-store"
    assert [json.loads(line)["record"] for line in answer.content.splitlines()] == guard.said()
    last = guard.said()[-1]
    assert (last["kind"], last["via"], last["by"].endswith("(ada)")) == ("exported", "console", True)


async def test_what_was_chosen_is_what_comes(guard: World) -> None:
    by = await browser(guard)
    for _ in range(3):
        await guard.call()
    answer = await taken(guard, by, q="kind:closed", after="4", compressed="yes")
    lines = gzip.decompress(answer.content).splitlines()
    chosen = [record for record in guard.said() if record["kind"] == "closed" and record["seq"] > 4]
    assert [json.loads(line)["record"] for line in lines] == chosen
    assert (await taken(guard, by, format="csv")).content.startswith(b"seq,time")


async def test_a_bundle_is_signed_and_holds_together(guard: World, tmp_path: Path) -> None:
    by = await browser(guard)
    await guard.call()
    answer = await taken(guard, by, bundle="yes")
    assert answer.headers["content-type"] == "application/x-tar"
    file = tmp_path / "bundle.tar"
    file.write_bytes(answer.content)
    report = verify(file, (), KeyTrust(frozenset({guard.now.ledger.chain.public_key}), KeySource.GIVEN), lambda _: None)
    assert report.whole
    assert guard.said()[-1]["bundle"] is True


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"q": "sever:x"}, 400, "is not a key"),
        ({"format": "xml"}, 422, "Unknown format"),
        ({"after": "-1"}, 422, "is written in digits only"),
        ({"after": "9" * 400}, 422, "is written in digits only"),
        ({"q": "x" * 1001}, 400, "at most 1000 characters"),
    ],
)
async def test_what_cannot_be_let_out_is_told_on_the_form_and_leaves_no_record(
    guard: World, query: dict[str, str], status: int, said: str
) -> None:
    by = await browser(guard)
    before = len(guard.said())
    answer = await taken(guard, by, compressed="yes", **query)
    assert answer.status_code == status
    assert said in answer.text
    assert 'name="compressed" value="yes" checked' in answer.text
    assert "content-disposition" not in answer.headers
    assert len(guard.said()) == before


async def test_where_nothing_can_be_recorded_nothing_is_let_out(guard: World) -> None:
    by = await browser(guard)
    aside = guard.database.rename(guard.database.with_suffix(".aside"))
    answer = await taken(guard, by)
    assert answer.status_code == 503
    assert "the audit log cannot be written" in answer.text
    assert "content-disposition" not in answer.headers
    aside.rename(guard.database)
    await guard.recovered()
    assert "exported" not in [record["kind"] for record in guard.said()]


async def test_a_head_lets_nothing_out(guard: World) -> None:
    by = await browser(guard)
    before = len(guard.said())
    assert (await guard.network.head(FILE, params={"format": "jsonl"}, headers=by)).status_code == 405
    assert len(guard.said()) == before
