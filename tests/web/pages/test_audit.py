"""`/audit`: exactly what fits, page by page, whatever is in it; what is no filter is told at the field."""

import re
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Capability, CapabilityKind
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit import audit_log
from mcpguard.guard.audit.histogram import SECOND, Bar, Histogram
from mcpguard.web.pages.audit import audit
from mcpguard.web.pages.audit.drawing import HIGH, WIDE, drawing
from tests.ledger.tampering import tampering
from tests.web.rest import browser
from tests.world import World

pytestmark = pytest.mark.anyio
HOSTILE = "<script>alert(1)</script>\u202egnp.exe\u200b"


async def seen(guard: World, by: dict[str, str], path: str = "/audit", **query: Any) -> httpx2.Response:  # noqa: ANN401
    return await guard.network.get(path, params=query, headers=by)


def rows(answer: httpx2.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [int(seq) for seq in re.findall(r'data-seq="(\d+)"', answer.text)]


def links(answer: httpx2.Response, said: str) -> list[str]:
    found = re.findall(rf'<a[^>]*href="([^"]+)"[^>]*>(?:<[^>]+>)*{said}<', answer.text)
    return [each.replace("&amp;", "&") for each in found]


async def test_the_newest_come_first_and_each_leads_to_its_record(guard: World) -> None:
    by = await browser(guard, Role.AUDITOR)
    await guard.call()
    answer = await seen(guard, by)
    newest = len(guard.said())
    assert rows(answer) == [*range(newest, 0, -1)]
    assert f'href="/audit/{newest}"' in answer.text
    assert "an agent" in answer.text
    assert "files:read_file" in answer.text


async def test_older_and_newer_pages_join_without_a_gap(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "PAGE", 5)
    by = await browser(guard)
    for _ in range(8):
        await guard.call()
    found, path = list[int](), "/audit"
    pages = []
    while path:
        answer = await guard.network.get(path, headers=by)
        pages.append(rows(answer))
        found += pages[-1]
        path = next(iter(links(answer, "Older")), "")
    assert found == [record["seq"] for record in reversed(guard.said())]
    (back,) = links(answer, "Newer")
    assert rows(await guard.network.get(back, headers=by)) == pages[-2]
    assert rows(await seen(guard, by, newer=len(found))) == []


async def test_only_what_fits_is_shown_and_its_number_is_counted(guard: World) -> None:
    by = await browser(guard)
    for _ in range(3):
        await guard.call()
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT)))
    fitting = [record["seq"] for record in guard.said() if record.get("verdict") == "deny"]
    answer = await seen(guard, by, q="verdict:deny server:files")
    assert rows(answer) == fitting
    assert "1 record matches" in answer.text
    assert 'value="verdict:deny server:files"' in answer.text
    assert "1 denied, below the line" in answer.text
    assert answer.text.count('<rect class="d"') == 1


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ("verdcit:deny", "Unknown key; did you mean verdict:? keys are"),
        ("server:", "key:value"),
        ("x" * 1001, "at most 1000 characters"),
        ('"><script>alert(1)</script>', "key:value"),
        ("since:yesterday", "Write a time as"),
    ],
)
async def test_what_is_no_filter_is_told_at_the_field_which_keeps_it(guard: World, q: str, said: str) -> None:
    by = await browser(guard)
    before = len(guard.said())
    answer = await seen(guard, by, q=q)
    assert answer.status_code == 400
    assert said in answer.text.replace("&#39;", "'")
    assert 'aria-invalid="true"' in answer.text
    kept = q.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")
    assert f'value="{kept}"' in answer.text
    assert "<script>alert" not in answer.text
    assert "data-seq" not in answer.text
    assert len(guard.said()) == before


async def test_where_nothing_fits_there_are_ways_that_widen(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    answer = await seen(guard, by, q="server:nowhere server:files -caller:x since:1h")
    assert rows(answer)
    answer = await seen(guard, by, q="server:nowhere caller:nobody since:1h")
    assert rows(answer) == []
    assert "No results." in answer.text
    assert links(answer, "Remove <code>server:") == ["/audit?q=caller%3Anobody+since%3A1h"]
    assert links(answer, "Search all records") == ["/audit?q=server%3Anowhere+caller%3Anobody"]


async def test_a_key_is_added_without_a_script_and_is_only_typed(guard: World) -> None:
    by = await browser(guard)
    answer = await seen(guard, by, q="verdict:allow", add="server")
    assert answer.status_code == 200
    assert 'value="verdict:allow server:"' in answer.text
    assert "autofocus" in answer.text
    assert 'value=""' in (await seen(guard, by, add='"><script>')).text


async def test_times_and_verdicts_are_exchanged_and_the_rest_of_the_filter_stays(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    answer = await seen(guard, by, q='server:files -tool:"a b" since:30d')
    assert links(answer, "7 days") == ["/audit?q=server%3Afiles+-tool%3A%22a+b%22+since%3A7d"]
    assert links(answer, "all") == ["/audit?q=server%3Afiles+-tool%3A%22a+b%22"]
    assert "/audit?q=server%3Afiles+-tool%3A%22a+b%22+since%3A30d+verdict%3Adeny" in answer.text.replace("&amp;", "&")
    assert 'aria-current="true">last hour' in (await seen(guard, by, q="since:1h")).text


async def test_rows_that_came_since_are_rows_of_the_same_page_and_nothing_else(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    top = len(guard.said())
    await guard.call()
    answer = await seen(guard, by, "/audit/rows", q="kind:closed", newer=top)
    assert rows(answer) == [top + 2]
    assert f'data-top="{top + 2}"' in answer.text
    assert "<html" not in answer.text
    assert rows(await seen(guard, by, "/audit/rows", newer=top + 2)) == []
    assert (await seen(guard, by, "/audit/rows", q="nothing")).status_code == 400


@pytest.mark.parametrize("number", ["-1", "x", "9" * 40, "\u0661", "1.5", "", "'"])
async def test_what_is_no_number_of_a_record_is_none(guard: World, number: str) -> None:
    by = await browser(guard)
    assert rows(await seen(guard, by, after=number)) == [*range(len(guard.said()), 0, -1)]
    assert rows(await seen(guard, by, newer=number)) == [*range(len(guard.said()), 0, -1)]


async def test_hostile_names_are_inert_and_whole(guard: World) -> None:
    by = await browser(guard)
    opening = replace(
        guard.opening(),
        capability=Capability("files", CapabilityKind.TOOL, HOSTILE),
        client=HOSTILE,
    )
    await guard.call(opening)
    for path in ("/audit", "/audit/rows", f"/audit/{len(guard.said())}", f"/calls/{opening.entry}"):
        answer = await seen(guard, by, path)
        assert answer.status_code == 200
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text, path
        for never in ("<script>alert", "\u202e", "\u200b"):
            assert never not in answer.text, path
        assert "⟨U+202E⟩gnp.exe⟨U+200B⟩" in answer.text, path


async def test_a_viewer_sees_none_of_it(guard: World) -> None:
    by = await browser(guard, Role.VIEWER)
    await guard.call()
    more = ("rows", "1", "verify", "export", "export/file")
    for path in ("/audit", "/calls/x", *(f"/audit/{each}" for each in more)):
        answer = await seen(guard, by, path)
        assert answer.status_code == 403, path
        assert "data-seq" not in answer.text
    assert (await guard.network.get("/audit")).headers["location"] == "/login?back=%2Faudit"


async def test_what_could_not_be_counted_in_time_is_said(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    by = await browser(guard)
    for _ in range(4):
        await guard.call()
    monkeypatch.setattr("mcpguard.store.search.record_counts.FIRST_WINDOW", 3)
    monkeypatch.setattr(audit_log, "GLANCE", 0)
    answer = await seen(guard, by)
    newest = len(guard.said())
    assert f"Counted back to record {newest - 2}" in answer.text
    assert "more than 3 records match" in answer.text
    assert rows(answer) == [*range(newest, 0, -1)], "and all of them are shown"


@pytest.mark.parametrize(
    "at", ["9223372036854775807", "-9223372036854775808", "1e300", "'soon'", "x'ff'", "253402300799999999"]
)
async def test_a_time_that_somebody_put_into_the_store_breaks_no_page(guard: World, at: str) -> None:
    by = await browser(guard)
    await guard.call()
    newest = len(guard.said())
    with tampering(guard.database) as connection:
        connection.execute(f"UPDATE records SET at = {at}, verdict = x'ff' WHERE seq = {newest}")
    for path in ("/audit", "/audit?q=since:7d", f"/audit/{newest}"):
        assert (await guard.network.get(path, headers=by)).status_code == 200
    assert rows(await seen(guard, by)) == [*range(newest, 0, -1)]


BARS = st.tuples(*[st.integers(0, 10**6)] * 4)


@given(st.lists(BARS, min_size=1, max_size=62), st.booleans())
def test_a_drawing_stays_in_its_frame_and_places_say_what_bars_are(
    numbers: list[tuple[int, int, int, int]], whole: bool
) -> None:
    bars = tuple(Bar(place * SECOND, *number) for place, number in enumerate(numbers))
    drawn = drawing(Histogram(bars, SECOND, 1, whole)) if any(map(any, numbers)) else None
    if drawn is None:
        return
    for each in drawn.rects:
        assert each.x >= 0
        assert each.x + each.width <= WIDE + 0.1
        assert each.y >= 0
        assert each.y + each.height <= HIGH + 1.1
        assert (each.y >= drawn.line - 0.2) if each.kind == "d" else (each.y + each.height <= drawn.line + 1.2)
    assert (drawn.allowed, drawn.held, drawn.refused) == tuple(sum(each[n] for each in numbers) for n in range(3))
