"""The documentation in the guard: every document, every link in it, and the way to it from every page."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mcpguard import assets
from mcpguard.domain.people import Role
from mcpguard.domain.reasons import Reason
from mcpguard.inspection.rules.rule_table import RULES
from mcpguard.web.pages.base.help_targets import TARGETS, help_address
from mcpguard.web.pages.help.document_markup import document_markup, headings_of
from mcpguard.web.pages.help.help_documents import HELP, INDEX, HelpDocuments
from tests.documents import DOCS
from tests.web.pages.filling import reviewer
from tests.web.reviewing import approved
from tests.world import World

pytestmark = pytest.mark.anyio
NAMES = sorted(path.stem for path in DOCS.glob("*.md"))
TEMPLATES = assets.webui() / "templates"


class Anchors(HTMLParser):
    """The ids of a page, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []


def documents() -> HelpDocuments:
    return HelpDocuments(assets.documents())


def leads_somewhere(every: HelpDocuments, address: str) -> bool:
    path, _, anchor = address.partition("#")
    document = every.document(path.removeprefix(HELP).lstrip("/") or INDEX)
    return document is not None and (not anchor or anchor in document.anchors)


def extended(template: Path) -> str:
    found = re.search(r'{% extends "([^"]+)" %}', template.read_text())
    return found[1] if found else ""


def pages_with_a_rail() -> set[str]:
    """The templates of pages with a rail, which no other template extends."""
    parents = {path.name: extended(path) for path in TEMPLATES.glob("*.html")}

    def has_rail(name: str) -> bool:
        return name == "desk.html" or (name in parents and has_rail(parents[name]))

    return {name for name in parents if has_rail(name)} - {*parents.values(), "desk.html"}


def test_every_page_has_a_document_that_is_there_with_its_anchor() -> None:
    assert {*TARGETS} == pages_with_a_rail()
    every = documents()
    for template in TARGETS:
        assert leads_somewhere(every, help_address(template)), template


def test_the_first_document_leads_to_every_other() -> None:
    every = documents()
    assert every.names == {*NAMES}
    first = every.document(INDEX)
    assert first is not None
    assert {*first.leads_to} == {f"{HELP}/{name}" for name in NAMES if name != INDEX}


def test_every_rule_and_every_reason_has_its_place() -> None:
    every = documents()
    for document, codes in (("findings", RULES), ("reasons", [each.value for each in Reason])):
        found = every.document(document)
        assert found is not None
        assert found.anchors.issuperset(codes)


@pytest.mark.parametrize("name", NAMES)
async def test_a_document_is_whole_and_every_link_in_it_leads_somewhere(name: str, guard: World) -> None:
    by = await reviewer(guard, Role.VIEWER)
    page = await by.open(f"{HELP}/{name}" if name != INDEX else HELP)
    assert page.status == 200
    found, every = Anchors(page.answer.text), documents()
    assert len(found.ids) == len({*found.ids}), "no anchor is there twice"
    within = [link for link in found.links if link.startswith((HELP, "#"))]
    for link in within:
        if link.startswith("#"):
            assert link[1:] in found.ids, link
        else:
            assert leads_somewhere(every, link), link
    body = page.answer.text.partition('<div class="doc">')[2]
    assert not re.search("<img|<!--|&lt;!--|<script|style=", body)
    assert page.answer.text.count("<h1>") == 1
    for link in set(found.links) - set(within):
        assert link.startswith(("/", "https://", "http://")), link


@pytest.mark.parametrize("name", NAMES)
def test_headings_alone_are_those_of_the_whole_document(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text()
    named = {(heading.text, heading.anchor) for heading in document_markup(text, lambda _: None).headings}
    alone = headings_of(text)
    assert (alone[0].level, sum(each.level == 1 for each in alone)) == (1, 1)
    assert named <= {(heading.text, heading.anchor) for heading in alone}
    assert len(named) >= len(alone) - 1, "but for one over nothing but pictures"


@pytest.mark.parametrize("name", ["nowhere", "..%2FREADME", "index.md", "decisions", "%00", "x" * 3000])
async def test_what_is_no_document_is_not_there(name: str, guard: World) -> None:
    by = await reviewer(guard, Role.VIEWER)
    page = await by.open(f"{HELP}/{name}")
    assert page.status == 404
    assert "Not found" in page.text


async def test_nobody_reads_it_without_signing_in(guard: World) -> None:
    answer = await guard.network.get(f"{HELP}/reviewing")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?back=%2Fhelp%2Freviewing")


async def test_the_help_of_a_page_is_that_of_what_is_done_there(guard: World) -> None:
    await approved(guard)
    by = await reviewer(guard)
    for path, target in (
        ("/", "reviewing"),
        ("/held", "console#a-held-call"),
        ("/servers/notes", "reviewing#a-new-server"),
        ("/audit", "audit"),
        ("/findings", "findings"),
        ("/policy", "reviewing#scopes"),
    ):
        assert f'<a href="{HELP}/{target}">Help</a>' in (await by.open(path)).answer.text, path
    assert f'<a href="{HELP}">Help</a>' in (await by.open(f"{HELP}/audit")).answer.text


async def test_documents_and_their_parts_are_found_by_their_headings(guard: World) -> None:
    by = await reviewer(guard, Role.VIEWER)
    found = (await by.open("/find", q="HELD CALL")).answer.text.partition('id="found"')[2]
    assert f'href="{HELP}/console#a-held-call"' in found
    for wanted in ("how responses", "screening"):
        assert f'href="{HELP}/screening"' in (await by.open("/find", q=wanted)).answer.text, wanted


def test_what_markdown_becomes() -> None:
    text = """# Title

<!-- made -->

<script>alert(1)</script> [here](other.md#part), [a test](../tests/x.py), [why](decisions/0001-a.md), [out](https://a.example/)

## Pictures

![One](one.png)

![Two](two.png)

## Same

## Same & more

| code | number |
|---|---:|
| `scope:effect` | 1 |
| `scope:effect` | 2 |
"""
    made = document_markup(text, {"other": "/help/other"}.get)
    assert [(each.text, each.anchor) for each in made.headings] == [("Title", "title"), ("Same & more", "same-more")]
    assert made.leads_to == ("/help/other",)
    assert made.anchors == {"title", "same-more", "scope:effect"}
    assert "&lt;script&gt;alert(1)&lt;/script&gt; " in made.body
    assert '<a href="/help/other#part">here</a>' in made.body
    assert '<span title="tests/x.py">a test</span>, <span title="decisions/0001-a.md">why</span>' in made.body
    assert '<a href="https://a.example/" rel="noreferrer">out</a>' in made.body
    assert made.body.count('id="scope:effect"') == 1
    assert '<td class="r">1</td>' in made.body
    assert not re.search("made|png|style", made.body)
