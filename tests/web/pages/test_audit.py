"""`/audit`: exactly what fits, each call once, whatever is in it; what is no query is told at the field."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.calls import Intent
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.verdicts import Deny
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.filters import FilterKey
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.guard.audit import audit_log
from mcpguard.guard.audit.histogram import SECOND, Bar, Histogram
from mcpguard.ledger.entries import Entry
from mcpguard.web.pages.audit import audit
from mcpguard.web.pages.audit.drawing import HIGH, NEAR, WIDE, drawing
from mcpguard.web.pages.audit.log_queries import LogQuery
from tests.ledger.tampering import tampering
from tests.recording import record
from tests.web.pages.reading import text as plain
from tests.web.rest import browser
from tests.world import World

pytestmark = pytest.mark.anyio
HOSTILE = "<script>alert(1)</script>\u202egnp.exe\u200b"


async def seen(guard: World, by: dict[str, str], path: str = "/audit", **query: Any) -> httpx2.Response:  # noqa: ANN401
    return await guard.network.get(path, params=query, headers=by)


def rows(answer: httpx2.Response) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [int(seq) for seq in re.findall(r'data-seq="(\d+)"', answer.text)]


def standing(guard: World) -> list[int]:
    """The numbers of all records but those that follow the opening of their call, the newest first."""
    return [record["seq"] for record in reversed(guard.said()) if record["kind"] != "closed"]


def links(answer: httpx2.Response, said: str) -> list[str]:
    found = re.findall(rf'<a[^>]*href="([^"]+)"[^>]*>(?:<[^>]+>)*{said}<', answer.text)
    return [each.replace("&amp;", "&") for each in found]


async def test_the_newest_come_first_and_each_leads_to_its_record(guard: World) -> None:
    by = await browser(guard, Role.AUDITOR)
    await guard.call()
    answer = await seen(guard, by)
    opened, closed = guard.said()[-2:]
    assert rows(answer) == standing(guard)
    assert f'href="/calls/{opened["entry"]}">files:read_file<' in answer.text
    assert f'href="/audit/{closed["seq"]}"' not in answer.text
    assert 'href="/audit/1"' in answer.text
    assert "an agent" in answer.text


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
    assert found == standing(guard)
    (back,) = links(answer, "Newer")
    assert rows(await guard.network.get(back, headers=by)) == pages[-2]
    assert rows(await seen(guard, by, newer=len(guard.said()))) == []


async def test_only_what_fits_is_shown_and_its_number_is_counted(guard: World) -> None:
    by = await browser(guard)
    for _ in range(3):
        await guard.call()
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT)))
    fitting = [record["seq"] for record in guard.said() if record.get("verdict") == "deny"]
    answer = await seen(guard, by, q="verdict:deny server:files")
    assert rows(answer) == fitting
    assert "1 shown of 1 call or record" in answer.text
    assert 'value="verdict:deny server:files"' in answer.text
    assert "denied 1, below the line" in answer.text
    assert answer.text.count('<rect class="log-denied" x=') == 1


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ('server:""', "Server: needs a value of visible characters"),
        ("x" * 1001, "at most 1000 characters"),
        ("since:yesterday", "Write a time as"),
        ('since:"<script>alert(1)</script>"', "Write a time as"),
    ],
)
async def test_what_is_no_query_is_told_at_the_field_which_keeps_it_above_all_records(
    guard: World, q: str, said: str
) -> None:
    by = await browser(guard)
    await guard.call()
    before = len(guard.said())
    answer = await seen(guard, by, q=q)
    assert answer.status_code == 400
    assert said in answer.text.replace("&#39;", "'")
    assert "All records are shown." in answer.text
    assert 'aria-invalid="true"' in answer.text
    kept = q.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")
    assert f'value="{kept}"' in answer.text
    assert "<script>alert" not in answer.text
    assert [int(seq) for seq in re.findall(r'data-seq="(\d+)"', answer.text)] == standing(guard)
    assert 'data-tail="/audit/rows"' in answer.text, "and what follows them are all records too"
    assert len(guard.said()) == before


@pytest.mark.parametrize(
    ("q", "said"),
    [
        ("verdcit:deny", "verdcit: is not a key; did you mean verdict:?; searched as text."),
        ("server:", "server: has no value; searched as text."),
        ("x:<script>alert(1)</script>", "x: is not a key; searched as text."),
    ],
)
async def test_what_only_looks_like_a_term_is_searched_as_text_and_that_is_told(
    guard: World, q: str, said: str
) -> None:
    by = await browser(guard)
    await guard.call()
    answer = await seen(guard, by, q=q)
    assert rows(answer) == []
    assert said in plain(answer.text)
    assert "<script>alert" not in answer.text


async def test_words_are_searched_in_names_and_in_what_agents_say(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    await guard.call(replace(guard.opening(), intent=Intent(Effect.READ, declared=True, reason="Ticket OPS-2291")))
    opened = [record["seq"] for record in guard.said() if record["kind"] == "opened"]
    assert rows(await seen(guard, by, q="ops-2291")) == opened[1:]
    assert rows(await seen(guard, by, q='READ_FILE "to look"')) == opened[:1]
    answer = await seen(guard, by, q="ticket")
    assert "1 call<" in answer.text
    assert "allowed</span> <span>1<" in answer.text


async def test_what_was_not_searched_yet_is_said_and_searched_next(
    guard: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = await browser(guard)
    await guard.call(replace(guard.opening(), intent=Intent(Effect.READ, declared=True, reason="once")))
    for _ in range(5):
        await guard.call()
    monkeypatch.setattr("mcpguard.store.search.record_search.TEXT_WINDOW", 4)
    monkeypatch.setattr(audit_log, "GLANCE", 0)
    answer = await seen(guard, by, q="once")
    assert rows(answer) == []
    for _ in range(10):
        assert re.search(r"Reached record \d+; older records were not searched yet", answer.text)
        answer = await guard.network.get(links(answer, "Search older")[0], headers=by)
        if rows(answer):
            break
    assert rows(answer) == [next(record["seq"] for record in guard.said() if record["kind"] == "opened")]


async def test_a_row_tells_how_its_call_went(guard: World) -> None:
    by = await browser(guard)
    error = b'{"content":[{"type":"text","text":"HTTP 403:\\n <b>no</b>"}],"isError":true}'
    outcomes = {
        "Sent": Outcome.answer(),
        "Failed": Outcome(OutcomeKind.FAILED, Executed.YES, None, KeptBody(error)),
        "Unknown": Outcome.unknown(Reason.SERVER_LOST),
    }
    for outcome in outcomes.values():
        await guard.call(outcome=outcome)
    await guard.call(guard.opening(Deny(Reason.SCOPE_EFFECT)))
    answer = await seen(guard, by, q="kind:opened")
    told = [plain(row) for row in re.findall(r"<tr role=\"row\" data-row.*?</tr>", answer.text, re.DOTALL)]
    assert [row.split()[1] for row in told] == ["Denied", "Unknown", "Failed", "Sent"]
    assert "scope:effect" in told[0]
    assert "server:lost" in told[1]
    assert "HTTP 403: <b>no</b>" in told[2]
    assert "“to look”" in told[3]
    assert "read: files:read_file" in told[3]
    assert "<b>no" not in answer.text


async def test_an_open_call_is_open_until_it_ends_and_then_its_row_comes_again(guard: World) -> None:
    by = await browser(guard)
    opening, shown, tops = guard.opening(), list[str](), list[int]()

    async def work(entry: Entry) -> Outcome:
        entry.permit()
        shown.append((await seen(guard, by, q="kind:opened")).text)
        tops.append(len(guard.said()))
        return Outcome.answer()

    await record(guard.now.ledger, opening, work)
    assert ">Open</span>" in shown[0]
    answer = await seen(guard, by, "/audit/rows", newer=tops[0])
    new, went_on = answer.text.split("data-went-on")
    assert "data-seq" not in new
    assert f'data-entry="{opening.entry}"' in went_on
    assert ">Sent</span>" in went_on


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
    assert links(answer, "7 d") == ["/audit?q=server%3Afiles+-tool%3A%22a+b%22+since%3A7d"]
    assert links(answer, "All") == ["/audit?q=server%3Afiles+-tool%3A%22a+b%22"]
    assert "/audit?q=server%3Afiles+-tool%3A%22a+b%22+since%3A30d+outcome%3Aanswered" in links(answer, "sent 1")
    assert 'aria-current="true">1 h<' in (await seen(guard, by, q="since:1h")).text


async def test_a_facet_adds_its_term_and_the_same_again_removes_it(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    await guard.call(replace(guard.opening(), capability=Capability("mail", CapabilityKind.TOOL, "send it")))
    answer = await seen(guard, by, q="caller:caller-1")
    (added,) = links(answer, "mail")
    assert added == "/audit?q=caller%3Acaller-1+server%3Amail"
    assert links(answer, "mail:send it")[:1] == ["/audit?q=caller%3Acaller-1+tool%3A%22mail%3Asend+it%22"]
    answer = await guard.network.get(added, headers=by)
    assert len(rows(answer)) == 1
    assert links(answer, "mail") == ["/audit?q=caller%3Acaller-1"]
    assert 'aria-current="true"><svg' in answer.text
    nothing = await seen(guard, by, q="server:nowhere")
    assert links(nothing, "nowhere") == ["/audit"], "what fits nothing can be removed too"


async def test_a_bar_leads_to_its_span_and_zooming_out_widens_it(guard: World) -> None:
    by = await browser(guard)
    await guard.call()
    answer = await seen(guard, by, q="server:files since:1h")
    bars = re.findall(r'<a href="([^"]+)" tabindex="-1">', answer.text)
    table = re.findall(r'<th scope="row"><a href="([^"]+)">', answer.text)
    assert len(table) == 1
    assert table[0] in bars
    zoomed = await guard.network.get(table[0].replace("&amp;", "&"), headers=by)
    assert len(rows(zoomed)) == 1
    assert "server:files since:2026-" in zoomed.text
    (out,) = links(zoomed, "Zoom out")
    assert len(rows(await guard.network.get(out, headers=by))) == 1
    assert links(await seen(guard, by), "Zoom out") == []


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
    assert (await seen(guard, by, "/audit/rows", q="since:x")).status_code == 400


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
    monkeypatch.setattr(audit_log, "COUNTING", 0)
    answer = await seen(guard, by)
    newest = len(guard.said())
    assert f"Counted back to record {newest - 2}" in answer.text
    assert "Of the newest 3 records." in answer.text
    assert rows(answer) == standing(guard), "and all of them are shown"


@pytest.mark.parametrize(
    "at", ["9223372036854775807", "-9223372036854775808", "1e300", "'soon'", "x'ff'", "253402300799999999"]
)
async def test_a_time_that_somebody_put_into_the_store_breaks_no_page(guard: World, at: str) -> None:
    by = await browser(guard)
    await guard.call()
    newest = len(guard.said())
    with tampering(guard.database) as connection:
        connection.execute(f"UPDATE records SET at = {at}, verdict = x'ff' WHERE seq = {newest}")
    for path in ("/audit", "/audit?q=since:7d", "/audit?q=look", f"/audit/{newest}"):
        assert (await guard.network.get(path, headers=by)).status_code == 200
    assert rows(await seen(guard, by)) == standing(guard)


BARS = st.tuples(*[st.integers(0, 10**6)] * 5)
PARTS = ("sent", "failed", "held", "denied", "other")


@given(st.lists(BARS, min_size=1, max_size=62), st.booleans())
def test_a_drawing_stays_in_its_frame_and_places_say_what_bars_are(
    numbers: list[tuple[int, int, int, int, int]], whole: bool
) -> None:
    bars = tuple(Bar(place * SECOND, *number) for place, number in enumerate(numbers))
    if not any(map(any, numbers)):
        return
    drawn = drawing(Histogram(bars, SECOND, 1, whole), lambda since, until: f"{since}-{until}")
    assert [column.link for column in drawn.columns] == [f"{bar.at}-{bar.at + SECOND}" for bar in bars]
    for each in (rect for column in drawn.columns for rect in column.rects):
        assert each.x >= 0
        assert each.x + each.width <= WIDE + 0.1
        assert each.y >= 0
        assert each.y + each.height <= HIGH + 1.1
        below = each.kind == "denied"
        assert (each.y >= drawn.line - 0.2) if below else (each.y + each.height <= drawn.line + 1.2)
    assert drawn.numbers == {part: sum(each[n] for each in numbers) for n, part in enumerate(PARTS)}
    heights = sorted(label.y for label in drawn.labels)
    assert all(after - before >= NEAR - 1 for before, after in pairwise(heights))


TERMS = st.lists(st.sampled_from(("server:a", "-server:b", "since:1h", "word", 'tool:"a b"')), max_size=5)


@given(TERMS, st.sampled_from((FilterKey.SERVER, FilterKey.TOOL)), st.sampled_from(("a", "a b", "new")))
def test_a_term_that_is_added_and_removed_leaves_the_query_as_it_was(
    terms: list[str], key: FilterKey, value: str
) -> None:
    query = LogQuery.from_text(" ".join(terms))
    once = LogQuery.from_text(asked(query.toggle_link(key, value)))
    assert once.has(key, value) is not query.has(key, value)
    if not query.has(key, value):
        assert asked(once.toggle_link(key, value)) == " ".join(terms)


def asked(link: str) -> str:
    """The query in an address."""
    return parse_qs(urlsplit(link).query).get("q", [""])[0]
