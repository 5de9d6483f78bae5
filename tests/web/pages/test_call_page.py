"""`/calls/{id}`: what happened to a call, step by step, what was sent and answered, and what proves it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.calls.bodies import DigestedBody, KeptBody
from mcpguard.domain.calls.outcomes import Executed, Outcome, OutcomeKind
from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.checkpoints import CheckpointCause
from mcpguard.ledger.entries import Entry, unconditionally
from mcpguard.web.pages.audit.call_arguments import LONGEST_VALUE, MOST_ARGUMENTS, argument_rows
from mcpguard.web.pages.audit.call_story import call_sentence, call_steps
from mcpguard.web.pages.audit.call_times import WIDE, time_parts
from mcpguard.web.pages.audit.log_rows import state
from mcpguard.web.pages.audit.reply_text import error_line, reply_text
from tests.recording import record
from tests.web.pages.reading import page
from tests.web.pages.reading import text as plain
from tests.web.rest import browser
from tests.world import World

pytestmark = pytest.mark.anyio
SECOND = 1_000_000
GRACE = "user:00000000-0000-7000-8000-000000000001 (grace)"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SAID = st.dictionaries(
    st.sampled_from(("at", "verdict", "outcome", "executed", "reason", "took_us", "client", "rules", "server", "by")),
    JSON | st.integers(0, 10**9),
)
KINDS = st.sampled_from(("opened", "released", "asked", "heard", "closed", "decided", "ran", "ended_run"))


@pytest.mark.parametrize("path", ["/calls/none", "/calls/" + "x" * 500])
async def test_a_call_that_is_not_there_is_said_to_be_not_there(guard: World, path: str) -> None:
    assert "No such call" in await page(guard, await browser(guard), path, 404)


async def test_all_of_a_call_stands_in_order_with_what_was_sent_and_answered(guard: World) -> None:
    by = await browser(guard)
    opening = guard.opening(arguments=KeptBody('{"text":"\u200b<b>","n":[1]}'.encode()))
    await guard.call(opening, Outcome.answer(DigestedBody(70_000, f"hmac-sha256:{'0' * 64}", too_large=True)))
    await guard.now.ledger.checkpoint(CheckpointCause.COUNT)
    text = await page(guard, by, f"/calls/{opening.entry}")
    shown = plain(text)
    mine = [record["seq"] for record in guard.said() if record.get("entry") == opening.entry]
    steps = text.split("call-steps")[1].split("</ol>\n</section>")[0]
    assert [int(seq) for seq in re.findall(r'href="/audit/(\d+)"', steps)] == mine
    titles = re.findall("<h3>(.*?)</h3>", steps)
    assert titles[:3] == ["Opened", "Allowed", "Sent to files"]
    assert titles[3].startswith("Answered, closed")
    assert "to look" in steps
    assert "Proof: 2 records" in shown
    assert shown.count("verified") == 2
    for name in ("text", "n"):
        assert f"<code>{name}</code>" in text
    assert "<code>[1]</code>" in text
    assert "<b>" not in text.split("call-arguments")[1].split("</section>")[0]
    assert "⟨U+200B⟩" in text
    assert "ZWSP" in text, "and as JSON, beside it"
    assert "Too large to keep" in shown


async def test_a_response_is_shown_as_its_text_and_what_was_found_in_it(guard: World) -> None:
    by = await browser(guard)
    reply = b'{"content":[{"type":"text","text":"HTTP 403:\\nno <i>more</i>"}],"isError":true}'
    await guard.call(guard.opening(), Outcome(OutcomeKind.FAILED, Executed.YES, None, KeptBody(reply)))
    text = await page(guard, by, f"/calls/{guard.said()[-1]['entry']}")
    assert "HTTP 403:\nno &lt;i&gt;more&lt;/i&gt;</div>" in text
    assert "Failed" in plain(text)
    assert "HTTP 403: no <i>more</i>." in plain(text), "in the sentence that tells it all"
    assert "No findings recorded." in plain(text)
    assert "&#34;isError&#34;: true" in text


async def test_a_denied_call_says_why_once_and_was_not_sent(guard: World) -> None:
    by = await browser(guard)
    await guard.call(replace(guard.opening(Deny(Reason.SCOPE_EFFECT)), rules=("scope.name", "scope.effect")))
    text = await page(guard, by, f"/calls/{guard.said()[-1]['entry']}")
    steps = plain(text.split("call-steps")[1].split("</ol>\n</section>")[0])
    assert steps.count(Reason.SCOPE_EFFECT.sentence) == 1
    assert "2 rules ran, the last one decided" in steps
    assert 'href="/policy#scope.effect"' in text
    assert "Sent to" not in steps
    assert "Not sent, closed" in steps


async def test_around_a_call_are_those_of_its_caller(guard: World) -> None:
    by = await browser(guard)
    openings = [guard.opening() for _ in range(11)]
    other = replace(guard.opening(), caller=replace(openings[0].caller, id="caller-2"))
    for opening in (*openings[:6], other, *openings[6:]):
        await guard.call(opening)
    text = await page(guard, by, f"/calls/{openings[5].entry}")
    near = text.split("call-near")[1].split("</ol>")[0]
    assert re.findall(r'href="/calls/([^"]+)"', near) == [each.entry for each in (*openings[1:5], *openings[6:10])]
    assert f'href="/calls/{openings[4].entry}" rel="prev"' in text
    assert f'href="/calls/{openings[6].entry}" rel="next"' in text
    alone = await page(guard, by, f"/calls/{other.entry}")
    assert "Nearby calls" not in alone


async def test_a_held_call_tells_who_allowed_it_and_how_long_it_waited(guard: World) -> None:
    by = await browser(guard)
    opening = guard.opening(Hold(Reason.HOLD_WAITING))
    opening = replace(opening, ticket=opening.entry)

    async def work(entry: Entry) -> Outcome:
        called = {"caller": opening.caller.id, "caller_label": opening.caller.label}
        decided = {"ticket": opening.entry, "answer": "allow", "by": GRACE, **called}
        await guard.clock.advance(25)
        await guard.now.ledger.note(RecordKind.DECIDED, decided | {"server": "files", "why": "Asked the <b>owner</b>"})
        await entry.release(Allow(), unconditionally)
        entry.permit()
        await guard.clock.advance(2)
        return Outcome.answer()

    await record(guard.now.ledger, opening, work)
    text = await page(guard, by, f"/calls/{opening.entry}")
    steps = plain(text.split("call-steps")[1].split("</ol>\n</section>")[0])
    order = ("Opened", "Held for", "Allowed by", "Asked the <b>owner</b>", "Allowed when evaluated again", "Answered")
    places = [steps.index(each) for each in order]
    assert places == sorted(places)
    assert "Held 25.0 s, allowed once by grace" in plain(text)
    assert "held 25.0 s" in text
    assert "server 2.0 s" in text
    assert "<b>owner" not in text


async def test_a_program_is_shown_with_the_calls_that_it_made(guard: World) -> None:
    by, run, ledger = await browser(guard), guard.opening().entry, guard.now.ledger
    await ledger.note(RecordKind.RAN, {"entry": run, "caller_label": "<i>agent</i>", "language": "python"})
    made = [replace(guard.opening(verdict), parent=run) for verdict in (Allow(), Deny(Reason.SCOPE_EFFECT))]
    for opening in made:
        await guard.call(opening)
    other = guard.opening()
    await guard.call(other)
    assert "Still running." in plain(await page(guard, by, f"/calls/{run}"))
    await ledger.note(RecordKind.ENDED_RUN, {"entry": run, "outcome": "answered", "calls": 2})
    text = await page(guard, by, f"/calls/{run}")
    shown = plain(text)
    assert "program (python)" in shown
    assert "Calls of this program" in shown
    assert "2 calls" in shown
    assert [found in text for found in (made[0].entry, made[1].entry, other.entry)] == [True, True, False]
    assert "scope:effect" in shown
    assert "<i>agent" not in text
    assert "Still running" not in shown
    assert f'href="/calls/{run}"' in await page(guard, by, f"/calls/{made[0].entry}"), "and back"
    assert "program (python)" in await page(guard, by, "/audit?q=kind:ran")


async def test_a_call_that_is_open_says_so(guard: World) -> None:
    by = await browser(guard)
    opening, shown = guard.opening(), list[str]()

    async def work(entry: Entry) -> Outcome:
        entry.permit()
        shown.append(plain(await page(guard, by, f"/calls/{opening.entry}")))
        return Outcome.answer()

    await record(guard.now.ledger, opening, work)
    assert "Still running." in shown[0]
    assert "Proof: 1 record" in shown[0]


@given(st.lists(st.tuples(KINDS, SAID), min_size=1, max_size=6))
def test_whatever_records_say_their_story_can_be_told(contents: list[tuple[str, dict[str, Any]]]) -> None:
    found = [
        {"seq": seq, "pruned": False, "content": said | {"kind": kind}} for seq, (kind, said) in enumerate(contents, 1)
    ]
    assert all(1 <= step.seq <= len(found) for step in call_steps(found, []))
    assert call_sentence(found, [], "", "").endswith(".")
    assert state(dict(contents)).word is not None
    parts = time_parts(found)
    assert all(0 <= part.x <= WIDE and 0 < part.width <= WIDE for part in parts)


def timed(**said: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"seq": seq, "content": {"kind": kind, **each}} for seq, (kind, each) in enumerate(said.items(), 1)]


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**9))
def test_the_parts_of_a_time_are_the_whole_of_it(before: int, held: int, sent: int) -> None:
    opened, took = 5 * SECOND, before + held + sent
    found = timed(
        opened={"at": opened, "verdict": "hold"},
        released={"at": opened + held},
        closed={"at": opened + held + sent, "took_us": took, "executed": "yes"},
    )
    lengths = {part.kind: part.width for part in time_parts(found)}
    assert lengths.keys() == {kind for kind, n in (("guard", before), ("held", held), ("server", sent)) if n}
    for kind, number in (("guard", before), ("held", held), ("server", sent)):
        assert number == 0 or abs(lengths[kind] - WIDE * number / took) <= 3.1


def test_where_the_clock_was_set_back_no_parts_are_shown() -> None:
    assert time_parts(timed(opened={"at": 9}, closed={"at": 8, "took_us": 1})) == []
    assert time_parts(timed(opened={"at": 9}, closed={"at": 10})) == []
    assert time_parts(timed(opened={"at": 9})) == []


def test_the_wait_for_the_client_is_not_the_servers() -> None:
    found = timed(
        opened={"at": 0},
        asked={"at": SECOND},
        heard={"at": 3 * SECOND},
        closed={"at": 4 * SECOND, "took_us": 4 * SECOND, "executed": "yes"},
    )
    assert [(part.kind, part.took) for part in time_parts(found)] == [("client", "2.0 s"), ("server", "2.0 s")]


@given(st.dictionaries(st.text(max_size=9), JSON, min_size=1, max_size=MOST_ARGUMENTS))
def test_a_table_of_arguments_says_all_of_them(given_: dict[str, Any]) -> None:
    written = json.dumps(given_, ensure_ascii=False, separators=(",", ":"))
    found = argument_rows(written)
    if given_.keys() <= {"name", "arguments"}:
        return
    assert {row.name: json.loads(row.value + row.more) for row in found} == given_ or not written.isprintable()
    assert argument_rows(f'{{"name":"x","arguments":{written}}}') == found


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"a":1.10}', '{"a":1,"a":2}', '{"a": 1}', "\ud800", '{"name":"x"}'])
def test_what_a_table_would_not_say_exactly_is_not_shown_as_one(text: str) -> None:
    assert argument_rows(text) == []


def test_a_table_has_an_end_and_so_has_a_value() -> None:
    assert argument_rows(json.dumps({str(n): n for n in range(MOST_ARGUMENTS + 1)}, separators=(",", ":"))) == []
    (row,) = argument_rows(json.dumps({"a": "x" * 1000}, separators=(",", ":")))
    assert (len(row.value), len(row.value + row.more), row.type) == (LONGEST_VALUE, 1002, "string")


@given(JSON)
def test_any_response_has_a_text_or_none(reply: object) -> None:
    for text in (json.dumps(reply), json.dumps({"content": reply}), json.dumps({"message": reply}), str(reply)):
        assert isinstance(reply_text(text), str)
        assert "\n" not in error_line(text)
