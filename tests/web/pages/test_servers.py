"""`/servers` and `/servers/add`: all servers, several at once, and bringing one."""

import pytest

from mcpguard.domain.people import Role
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.guard.review.admission import DeclarationSource
from mcpguard.web.pages.servers import declaration_form, servers_page
from tests import people
from tests.web.pages.filling import Page, reviewer
from tests.web.reviewing import POISONED, WHY, add, approved, decisions, inspected, show, unchanged
from tests.world import World

pytestmark = pytest.mark.anyio
BULK = "several"


def listed(page: Page) -> list[str]:
    return [value.partition(":")[0] for value in page.offers(BULK, "choose")]


async def bring(guard: World, *names: str) -> None:
    for name in names:
        config = {"command": "/bin/true", "args": [name]}
        await guard.now.guard.admission.add(name, config, DeclarationSource(Origin.CLI, people.BY.by))


async def test_an_empty_list_says_how_a_server_comes(guard: World) -> None:
    page = await (await reviewer(guard)).open("/servers")
    assert "No servers yet." in page.text
    for way in ("Add server", "mcpguard server add NAME -- COMMAND", "mcpServers"):
        assert way in page.text


async def test_the_list_says_where_each_stands_and_what_was_found(guard: World) -> None:
    await approved(guard)
    await inspected(guard, "weather", **POISONED)
    page = await (await reviewer(guard)).open("/servers")
    assert listed(page) == ["weather", "notes"], "what is risky comes first"
    assert [each for each in ("2 servers.", "Approved", "Quarantined", "critical", "0 of 11") if each in page.text] == [
        "2 servers.",
        "Approved",
        "Quarantined",
        "critical",
        "0 of 11",
    ]
    assert 'href="/servers/weather"' in page.answer.text


async def test_a_count_is_the_same_wherever_it_is_shown(guard: World) -> None:
    await approved(guard)
    await bring(guard, "unseen")
    by = await reviewer(guard)

    async def counted() -> tuple[int, int]:
        server = await show(guard)
        count = f"{server['approved_now']} of {server['present']}"
        assert count in (await by.open("/servers", q="notes")).text
        assert server["present"] == sum(each["present"] for each in server["capabilities"])
        return server["approved_now"], server["present"]

    before = await counted()
    assert before[0] == before[1] > 0
    assert f"with {before[0]} of {before[1]} capabilities" in (await by.open("/servers/notes")).text
    await guard.now.guard.decisions.disable("notes", people.BY)
    assert await counted() == before, "what was approved stays approved where the server is switched off"
    assert "not inspected" in (await by.open("/servers", q="unseen")).text
    assert (await show(guard, "unseen"))["inspected"] is False


async def test_filters_stand_in_the_url(guard: World) -> None:
    await approved(guard)
    await bring(guard, "one", "two")
    await guard.now.guard.decisions.block("two", people.BY)
    await guard.now.guard.decisions.disable("one", people.BY)
    by = await reviewer(guard)
    for query, names in (
        ({"q": "O"}, ["one", "two", "notes"]),
        ({"q": "not"}, ["notes"]),
        ({"standing": "blocked"}, ["two"]),
        ({"standing": "disabled"}, ["one"]),
        ({"standing": "quarantined"}, ["one"]),
        ({"waiting": "1"}, ["one"]),
        ({"unwell": "1"}, []),
        ({"standing": "nonsense"}, ["one", "two", "notes"]),
        ({"start": "99999999999"}, ["one", "two", "notes"]),
    ):
        page = await by.open("/servers", **query)
        assert (page.status, listed(page)) == (200, names), query
    assert "No results." in (await by.open("/servers", q="nothing")).text


async def test_the_list_is_sorted_by_its_headings_and_the_unknown_is_never_harmless(guard: World) -> None:
    await approved(guard)
    await inspected(guard, "weather", **POISONED)
    await bring(guard, "unseen")
    by = await reviewer(guard)
    for sort, names in (
        ("", ["weather", "unseen", "notes"]),
        ("-risk", ["weather", "unseen", "notes"]),
        ("risk", ["notes", "unseen", "weather"]),
        ("name", ["notes", "unseen", "weather"]),
        ("-name", ["weather", "unseen", "notes"]),
        ("status", ["unseen", "weather", "notes"]),
        ("nonsense", ["weather", "unseen", "notes"]),
    ):
        assert listed(await by.open("/servers", sort=sort)) == names, sort
    page = await by.open("/servers", q="e", sort="-name")
    assert 'aria-sort="descending"' in page.answer.text
    assert "/servers?q=e&amp;sort=name" in page.answer.text, "the same heading turns it round, and the filter stays"


async def test_calls_are_told_only_to_those_who_may_see_them(guard: World) -> None:
    await approved(guard)
    approver, viewer = await reviewer(guard), await reviewer(guard, Role.VIEWER, "vera")
    assert "Calls 24 h" in (await approver.open("/servers")).text
    assert "Calls 24 h" not in (await viewer.open("/servers")).text


async def test_a_thousand_servers_come_in_parts(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers_page, "PAGE", 2)
    await bring(guard, "a", "b", "c", "d", "e")
    by = await reviewer(guard)
    found = [listed(await by.open("/servers", start=start)) for start in ("0", "2", "4", "6")]
    assert found == [["a", "b"], ["c", "d"], ["e"], ["a", "b"]]
    assert 'href="/servers?start=2"' in (await by.open("/servers")).answer.text


@pytest.mark.parametrize(
    ("answer", "stands"), [("quarantine", ("quarantined", True)), ("disable", ("approved", False))]
)
async def test_several_are_stopped_at_once_and_each_has_its_record(
    guard: World, answer: str, stands: tuple[str, bool]
) -> None:
    await approved(guard)
    await approved(guard, "more")
    await bring(guard, "left")
    by = await reviewer(guard)
    page = await by.open("/servers")
    chosen = [each for each in page.offers(BULK, "choose") if not each.startswith("left:")]
    page = await by.send(page, BULK, decision=answer, why=WHY, choose=chosen)
    assert "2 of 2 servers" in page.text
    for name in ("notes", "more"):
        now = await show(guard, name)
        assert (now["standing"], now["enabled"]) == stands
    found = [(each["server"], each["answer"], each["why"]) for each in decisions(guard)][-2:]
    assert sorted(found) == [("more", answer, WHY), ("notes", answer, WHY)]
    assert (await show(guard, "left"))["enabled"]


async def test_what_changed_or_may_not_be_is_told_and_the_others_are_done(guard: World) -> None:
    await approved(guard)
    await approved(guard, "more")
    await bring(guard, "blocked", "new")
    by = await reviewer(guard)
    await guard.now.guard.decisions.block("blocked", people.BY)
    page = await by.open("/servers")
    every = page.offers(BULK, "choose")
    await guard.now.guard.decisions.disable("more", people.BY)
    page = await by.send(page, BULK, decision="quarantine", why=WHY, choose=every)
    text = " ".join(page.text.split())
    assert "1 of 4 servers quarantined." in text
    assert "more: changed while you were reading" in text
    assert "blocked: only approved servers can be quarantined here" in text
    assert (await show(guard, "blocked"))["standing"] == "blocked", "nothing is unblocked on the way"
    assert (await show(guard, "more"))["standing"] == "approved"
    assert (await show(guard))["standing"] == "quarantined"


async def test_several_are_never_approved_and_not_without_a_choice_and_a_reason(guard: World) -> None:
    server = await inspected(guard)
    by = await reviewer(guard)
    page = await by.open("/servers")
    chosen = page.offers(BULK, "choose")
    for sent, status in (
        ({"decision": "approve", "why": WHY, "choose": chosen}, 400),
        ({"decision": "enable", "why": WHY, "choose": chosen}, 400),
        ({"decision": "disable", "why": WHY, "choose": []}, 422),
        ({"decision": "disable", "why": " ", "choose": chosen}, 422),
        ({"decision": "disable", "why": WHY, "choose": ["notes"]}, 428),
    ):
        told = await by.send(page, BULK, **sent)  # type: ignore[arg-type]
        assert told.status == status, sent
    await unchanged(guard, server, 0)


async def test_whoever_may_not_decide_has_nothing_to_choose(guard: World) -> None:
    server = await inspected(guard)
    by = await reviewer(guard, Role.AUDITOR)
    page = await by.open("/servers")
    assert BULK not in page.forms or not listed(page)
    assert (await by.open("/servers/add")).status == 403
    tag = guard.now.guard.queries.tag("notes")
    assert (await by.post("/servers", decision="disable", why=WHY, choose=f"notes:{tag}")).status == 403
    assert (await by.post("/servers/add", name="x", command="/bin/true")).status == 403
    await unchanged(guard, server, 0)
    assert guard.now.guard.servers.find("x") is None


# Adding.

FORM = "/servers/add"


async def test_a_command_is_added_to_quarantine_as_it_was_typed(guard: World) -> None:
    by = await reviewer(guard)
    page = await by.send(
        await by.open(FORM),
        FORM,
        name="Files",
        command="npx",
        arguments="-y\r\na package@1.2.3\r\n--flag=a b\r\n",
        environment="TOKEN=${env:TOKEN}\r\n\r\nMODE=a=b ",
    )
    assert "Added files. It is in quarantine and was not started." in page.text
    launch = (await show(guard, "files"))["launch"]
    assert (launch["command"], launch["arguments"]) == ("npx", ["-y", "a package@1.2.3", "--flag=a b"])
    assert [(each["name"], each["value"]) for each in launch["environment"]] == [
        ("MODE", None),
        ("TOKEN", "${env:TOKEN}"),
    ]
    (record,) = (record for record in guard.said() if record["kind"] == "admitted")
    assert (record["change"], record["after"], record["via"]) == ("added", "quarantined", "console")
    assert record["by"].endswith("(ada)")


async def test_an_address_is_added_with_its_headers(guard: World) -> None:
    by = await reviewer(guard)
    await by.send(
        await by.open(FORM),
        FORM,
        name="far",
        url="https://mcp.example/mcp",
        headers="Authorization: Bearer ${env:TOKEN}\nX-A=b:c",
    )
    launch = (await show(guard, "far"))["launch"]
    assert launch["url"] == "https://mcp.example/mcp"
    assert [each["name"] for each in launch["headers"]] == ["Authorization", "X-A"]
    known = guard.now.guard.servers.find("far")
    assert known is not None
    assert dict(known.declared.launch.headers) == {"Authorization": "Bearer ${env:TOKEN}", "X-A": "b:c"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"name": "x"}, declaration_form.EITHER),
        ({"name": "x", "command": "a", "url": "https://x.example/"}, declaration_form.EITHER),
        ({"name": "x", "command": "a", "environment": "A=1\nsecret-without-a-name"}, "line 2 is not a variable"),
        (
            {"name": "x", "command": "a", "environment": "A=1\nA=2"},
            "line 2 repeats a variable of an earlier line",
        ),
        ({"name": "x", "url": "https://x.example/", "headers": "=x"}, "line 1 is not a header"),
        ({"name": "x", "command": "a", "environment": "A=${nothing"}, "A"),
        ({"name": "", "command": "a"}, "name"),
        ({"name": "x", "command": "a", "sandbox": "everything"}, "sandbox"),
    ],
)
async def test_what_declares_no_server_is_told_at_the_form_and_nothing_typed_is_lost(
    guard: World, sent: dict[str, str], problem: str
) -> None:
    by = await reviewer(guard)
    told = await by.send(await by.open(FORM), FORM, **sent)
    assert told.status == 422
    assert problem in told.text
    for name, value in sent.items():
        if name != "sandbox":
            assert told.holds(FORM, name) == [value]
    assert "secret-without" not in told.text.replace(sent.get("environment", "-"), "")
    assert guard.now.guard.servers.every() == ()
    assert "admitted" not in {record["kind"] for record in guard.said()}


async def test_a_name_that_is_taken_is_told(guard: World) -> None:
    server = await add(guard)
    by = await reviewer(guard)
    told = await by.send(await by.open(FORM), FORM, name="notes", command="/bin/true")
    assert (told.status, "A server named notes exists already" in told.text) == (409, True)
    await unchanged(guard, server, 0)
