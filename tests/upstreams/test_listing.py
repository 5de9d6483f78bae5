"""Everything that a server offers is asked for, and taken whole or not at all."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mcpguard.domain.servers.launches import Era
from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.protocol.listing import LONGEST_CURSOR, ListingBounds, ListingRefused, list_everything
from mcpguard.upstreams.protocol.negotiation import Greeting
from tests.simulators.hostile import cursor_loop, on
from tests.simulators.script import Script
from tests.simulators.words import METHOD_NOT_FOUND, Json
from tests.tiers import examples
from tests.upstreams.flock import flock

pytestmark = pytest.mark.anyio
EVERYTHING: Json = {"tools": {}, "resources": {}, "prompts": {}}
LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


class Lists:
    """Answers with pages, one after the other, and remembers what it was asked for."""

    def __init__(self, **pages: Any) -> None:  # noqa: ANN401 - lists of results, or of what is raised
        self.pages = {method: list(pages.get(key, [{key: []}])) for method, key in LISTS.items()}
        self.asked: list[tuple[str, str | None]] = []

    async def ask(self, method: str, params: Json) -> Json:
        self.asked.append((method, params.get("cursor")))
        page = self.pages[method].pop(0)
        if isinstance(page, Exception):
            raise page
        found: Json = page
        return found


def greeting(capabilities: Json | None = None) -> Greeting:
    return Greeting(Era.LEGACY, "2025-11-25", EVERYTHING if capabilities is None else capabilities, {"name": "s"}, "do")


async def test_all_lists_are_read_to_their_ends_and_kept_in_order() -> None:
    pages = [{"tools": [{"name": f"t{number}"}], "nextCursor": f"c{number}"} for number in range(3)]
    lists = Lists(tools=[*pages, {"tools": [{"name": "last", "x": [None]}]}], prompts=[{"prompts": [{"name": "p"}]}])
    found = await list_everything(lists.ask, greeting(), ListingBounds())
    assert found.tools == ({"name": "t0"}, {"name": "t1"}, {"name": "t2"}, {"name": "last", "x": [None]})
    assert found.prompts == ({"name": "p"},)
    assert (found.capabilities, found.server, found.instructions) == (EVERYTHING, {"name": "s"}, "do")
    assert lists.asked[:4] == [("tools/list", cursor) for cursor in (None, "c0", "c1", "c2")]


@pytest.mark.parametrize(
    ("capabilities", "asked"),
    [
        ({}, []),
        ({"tools": None}, ["tools/list"]),
        ({"resources": {}}, ["resources/list", "resources/templates/list"]),
        ({"prompts": {}, "logging": {}, "completions": {}}, ["prompts/list"]),
    ],
)
async def test_it_is_asked_only_for_what_it_says_it_has(capabilities: Json, asked: list[str]) -> None:
    lists = Lists()
    await list_everything(lists.ask, greeting(capabilities), ListingBounds())
    assert [method for method, _ in lists.asked] == asked


@pytest.mark.parametrize("key", LISTS.values())
async def test_one_that_does_not_know_the_list_has_nothing_of_the_kind(key: str) -> None:
    unknown = ServerError({"code": METHOD_NOT_FOUND, "message": "Method not found"})
    found = await list_everything(Lists(**{key: [unknown]}).ask, greeting(), ListingBounds())
    assert (found.tools, found.resources, found.templates, found.prompts) == ((), (), (), ())


async def test_but_one_that_forgets_it_in_the_middle_is_not_believed() -> None:
    unknown = ServerError({"code": METHOD_NOT_FOUND, "message": "Method not found"})
    with pytest.raises(ServerError):
        await list_everything(
            Lists(tools=[{"tools": [{"name": "a"}], "nextCursor": "x"}, unknown]).ask, greeting(), ListingBounds()
        )


@pytest.mark.parametrize("key", LISTS.values())
@pytest.mark.parametrize("broken", [ServerError({"code": -32000, "message": "no"}), {}, {"nextCursor": "x"}])
async def test_where_one_list_cannot_be_read_there_is_no_listing(key: str, broken: Any) -> None:  # noqa: ANN401
    with pytest.raises((ServerError, ListingRefused)):
        await list_everything(Lists(**{key: [broken]}).ask, greeting(), ListingBounds())


@pytest.mark.parametrize("entries", [None, {}, "tools", 7, [None], [{"name": "a"}, "b"], [[]], [{"name": "a"}, 7]])
async def test_a_list_of_anything_but_objects_is_none(entries: Any) -> None:  # noqa: ANN401 - JSON
    with pytest.raises(ListingRefused, match="did not return a list of tools"):
        await list_everything(Lists(tools=[{"tools": entries}]).ask, greeting(), ListingBounds())


@pytest.mark.parametrize(
    ("cursor", "asked"),
    [("a", 2), ("", 2), (7, 1), ({}, 1), (["a"], 1), (False, 1), ("x" * LONGEST_CURSOR, 2), ("xx" * LONGEST_CURSOR, 1)],
    ids=lambda value: repr(value)[:10],
)
async def test_a_list_that_leads_to_where_it_was_or_nowhere_is_refused(cursor: Any, asked: int) -> None:  # noqa: ANN401
    pages = [{"tools": [], "nextCursor": cursor} for _ in range(3)]
    lists = Lists(tools=pages)
    with pytest.raises(ListingRefused, match="invalid or repeated cursor"):
        await list_everything(lists.ask, greeting(), ListingBounds())
    assert len(lists.asked) == asked


async def test_a_list_of_more_pages_or_entries_or_bytes_than_are_taken_is_refused_whole() -> None:
    endless = [{"tools": [], "nextCursor": str(number)} for number in range(10)]
    with pytest.raises(ListingRefused, match="does not end within 3 pages"):
        await list_everything(Lists(tools=endless).ask, greeting(), ListingBounds(pages=3))
    with pytest.raises(ListingRefused, match="more than 3 entries"):
        await list_everything(Lists(tools=[{"tools": [{}] * 4}]).ask, greeting(), ListingBounds(entries=3))
    many = [{"tools": [{"name": "x" * 40}], "nextCursor": str(number)} for number in range(10)]
    with pytest.raises(ListingRefused, match="larger than 100 bytes"):
        await list_everything(Lists(tools=many).ask, greeting(), ListingBounds(bytes=100))


async def test_bytes_are_counted_over_all_lists() -> None:
    """Each of them could be as large as all of them may be."""
    entry = {"name": "x" * 40}
    lists = Lists(**{key: [{key: [entry]}] for key in LISTS.values()})
    with pytest.raises(ListingRefused, match="larger than 200 bytes"):
        await list_everything(lists.ask, greeting(), ListingBounds(bytes=200))


async def test_as_much_as_is_taken_is_taken() -> None:
    pages = [{"tools": [{}], "nextCursor": str(number)} for number in range(2)]
    found = await list_everything(Lists(tools=[*pages, {"tools": [{}]}]).ask, greeting(), ListingBounds(3, 3))
    assert len(found.tools) == 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@hypothesis_settings(max_examples=examples(200), deadline=None)
@given(
    pages=st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "tools": st.lists(st.dictionaries(st.sampled_from(["name", "x"]), JSON, max_size=2), max_size=4) | JSON,
                "nextCursor": st.sampled_from(["a", "b", "c"]) | JSON,
            },
        ),
        min_size=6,
        max_size=6,
    )
)
async def test_whatever_it_says_the_listing_is_what_it_said_or_nothing(pages: list[Json]) -> None:
    lists = Lists(tools=pages)
    before = [*pages]
    try:
        found = await list_everything(lists.ask, greeting({"tools": {}}), ListingBounds(5, 10))
    except ListingRefused:
        return
    asked = before[: len(lists.asked)]
    assert list(found.tools) == [entry for page in asked for entry in page["tools"]]
    assert [page.get("nextCursor") for page in asked[:-1]] == [cursor for _, cursor in lists.asked[1:]]
    assert asked[-1].get("nextCursor") is None
    assert len(found.tools) <= 10


@pytest.mark.parametrize("same", [False, True])
async def test_a_server_that_goes_on_for_ever_is_not_connected_to(same: bool) -> None:
    script = Script()
    script.hooks.append(on("tools/list", cursor_loop(script, same=same)))
    async with flock({"a": script}, list_pages=20) as kept:
        condition = await kept.stands("error", "a")
        assert ("invalid or repeated cursor" if same else "within 20 pages") in condition.error
        assert kept.listings("a") == []
        assert len(script.called("tools/list")) == (2 if same else 20)
        assert script.called("tools/call") == []
