"""`/find`: what has some letters in its name, as far as the reader may see it."""

import pytest

from mcpguard.domain.people import Role
from tests.web.pages.filling import Page, Reviewer, reviewer
from tests.web.reviewing import approved
from tests.world import World

pytestmark = pytest.mark.anyio


async def found(by: Reviewer, wanted: str) -> Page:
    page = await by.open("/find", q=wanted)
    assert page.status == 200
    return page


async def test_pages_servers_tools_and_agents_are_found_by_a_part_of_their_names(guard: World) -> None:
    await approved(guard)
    await guard.operator.post("/api/v1/callers", json={"name": "desk-agent", "why": "it calls"})
    by = await reviewer(guard)
    for wanted, link in (
        ("POLI", 'href="/policy"'),
        ("not", 'href="/servers/notes"'),
        ("read_n", "/servers/notes/capability?kind=tool&amp;name=read_note"),
        ("desk-", 'href="/callers/'),
    ):
        assert link in (await found(by, wanted)).answer.text.partition('id="found"')[2], wanted


async def test_a_call_is_found_by_its_id(guard: World) -> None:
    opening = guard.opening()
    await guard.call(opening)
    by = await reviewer(guard)
    assert f'href="/calls/{opening.entry}"' in (await found(by, opening.entry)).answer.text
    unknown = opening.entry[:-1] + ("0" if opening.entry[-1] != "0" else "1")
    assert "Nothing has" in (await found(by, unknown)).text


async def test_a_viewer_finds_no_agents_calls_or_pages_of_auditors(guard: World) -> None:
    await approved(guard)
    await guard.operator.post("/api/v1/callers", json={"name": "desk-agent", "why": "it calls"})
    opening = guard.opening()
    await guard.call(opening)
    by = await reviewer(guard, Role.VIEWER)
    for wanted in ("desk-", "polic", opening.entry):
        assert "Nothing has" in (await found(by, wanted)).text, wanted
    assert 'href="/servers/notes"' in (await found(by, "notes")).answer.text


@pytest.mark.parametrize("wanted", ["<script>alert(1)</script>", "\u202eseton", "%", "x" * 5000])
async def test_what_is_typed_is_inert_and_bounded(guard: World, wanted: str) -> None:
    page = await found(await reviewer(guard), wanted)
    assert "<script>alert" not in page.answer.text
    assert len(page.answer.text) < 40_000


async def test_without_letters_nothing_is_looked_for(guard: World) -> None:
    page = await found(await reviewer(guard), " ")
    assert "<li" not in page.answer.text.partition('id="found"')[2].partition("</ul>")[0]
