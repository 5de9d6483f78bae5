"""Markdown of the documentation as markup of a page.

Rules kept here:
1. Markup that stands in a document is shown as text; of what is made from it, nothing has a style or a script.
2. A link to another document leads to its page; one to a file that is not served becomes its words.
3. Anchors are those that the site of the documentation has too (Python-Markdown's); besides, a row of a table that
   begins with a code has that code as its anchor, so that a page can lead to a rule, a reason or a setting.
4. Pictures are left out, and headings over nothing but pictures: they show the console, in which the reader is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from unicodedata import normalize

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Addresses = Callable[[str], str | None]
"""The address of the page of a document, by the name of its file; None if it has none."""
HEADING: Final = 3
"""The tokens of a heading."""
_COMMENT: Final = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
_LINK: Final = re.compile(r"(?P<file>[\w.-]+)\.md(?P<anchor>#.*)?")
_ABROAD: Final = re.compile(r"https?://|#")
_CODE: Final = re.compile(r"[\w-]+[.:][\w.:*-]+")
"""A rule, a reason or a setting; no word without a dot or a colon, as ids in the frame of a page are."""
_NUMBERED: Final = re.compile(r"(.+)_(\d+)")


@dataclass(frozen=True, slots=True)
class DocumentHeading:
    """A heading of a document, and where it is."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class DocumentMarkup:
    """A document as markup, without its title. `leads_to`: the addresses of other documents in it, in their order."""

    headings: tuple[DocumentHeading, ...]
    body: Markup
    anchors: frozenset[str]
    leads_to: tuple[str, ...]


def headings_of(text: str) -> tuple[DocumentHeading, ...]:
    """Return the headings of a document, its title first, at a fraction of the cost of its markup."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - as below

    only, tokens = MarkdownIt("zero").enable(["heading", "fence"]), list["Token"]()
    only.block.parse(_COMMENT.sub("", text), only, {}, tokens)
    return tuple(_headings(_parser(), tokens, set()))


def document_markup(text: str, addresses: Addresses) -> DocumentMarkup:
    """Return a document as markup."""
    parser = _parser()
    tokens = [*_shown(parser.parse(_COMMENT.sub("", text)))]
    anchors = set[str]()
    headings = tuple(_headings(parser, tokens, anchors))
    _mark_cells(tokens)
    _mark_rows(tokens, anchors)
    leads_to = tuple(_lead_links(tokens, addresses))
    body = Markup(parser.renderer.render(tokens[HEADING:], parser.options, {}))  # noqa: S704 - made of what is escaped
    return DocumentMarkup(headings, body, frozenset(anchors), leads_to)


def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - few guards are ever asked for help

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _scrolling_open)
    parser.add_render_rule("table_close", _scrolling_close)
    parser.add_render_rule("fence", _fence)
    return parser


def _scrolling_open(*_: object) -> str:
    return '<div class="scrolls" tabindex="0"><table>\n'


def _scrolling_close(*_: object) -> str:
    return "</table></div>\n"


def _fence(_: object, tokens: Sequence["Token"], at: int, *__: object) -> str:
    return f'<pre class="scrolls" tabindex="0"><code>{Markup.escape(tokens[at].content)}</code></pre>\n'


def _shown(tokens: Sequence["Token"]) -> Iterator["Token"]:
    """Yield what is left without paragraphs that are only pictures, and then without headings over nothing."""
    pictures = {at for at, token in enumerate(tokens) if token.children and _are_pictures(token.children)}
    left = [token for at, token in enumerate(tokens) if not {at - 1, at, at + 1} & pictures]
    at = 0
    while at < len(left):
        if _is_over_nothing(left, at):
            at += HEADING
        else:
            yield left[at]
            at += 1


def _are_pictures(tokens: Sequence["Token"]) -> bool:
    return all(each.type in ("image", "softbreak") for each in tokens)


def _is_over_nothing(tokens: Sequence["Token"], at: int) -> bool:
    """Tell whether a heading begins here, and after it another one of its level, or a higher one, or nothing."""
    if tokens[at].type != "heading_open" or not at:
        return False
    (after,) = tokens[at + HEADING : at + HEADING + 1] or (None,)
    return after is None or (after.type == "heading_open" and after.tag <= tokens[at].tag)


def _headings(parser: "MarkdownIt", tokens: Sequence["Token"], anchors: set[str]) -> Iterator[DocumentHeading]:
    """Yield the headings, each with an anchor that it then has too."""
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        children = inline.children or parser.parseInline(inline.content)[0].children or []
        text = "".join(each.content for each in children if each.type in ("text", "code_inline"))
        anchor = _anchor(text, anchors)
        anchors.add(anchor)
        opening.attrSet("id", anchor)
        yield DocumentHeading(int(opening.tag[1]), text, anchor)


def _anchor(text: str, taken: set[str]) -> str:
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode()
    anchor = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
    while anchor in taken or not anchor:
        numbered = _NUMBERED.fullmatch(anchor)
        anchor = f"{numbered[1]}_{int(numbered[2]) + 1}" if numbered else f"{anchor}_1"
    return anchor


def _mark_cells(tokens: Sequence["Token"]) -> None:
    """Give what is aligned a class in place of a style; a header without a word is none."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type in ("th_open", "td_open") and opening.attrs.pop("style", "") == "text-align:right":
            opening.attrSet("class", "r")
        if opening.type == "th_open" and not inline.content:
            opening.tag = closing.tag = "td"


def _mark_rows(tokens: Sequence["Token"], anchors: set[str]) -> None:
    for row, cell, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if row.type == "tr_open" and cell.type == "td_open" and inline.children and len(inline.children) == 1:
            code = inline.children[0]
            if code.type == "code_inline" and _CODE.fullmatch(code.content) and code.content not in anchors:
                anchors.add(code.content)
                row.attrSet("id", code.content)


def _lead_links(tokens: Sequence["Token"], addresses: Addresses) -> Iterator[str]:
    """Lead links to pages, and yield those to other documents."""
    opening: Token | None = None
    for each in (child for token in tokens for child in token.children or ()):
        if each.type == "link_open":
            opening, target = each, str(each.attrs["href"])
            found = _LINK.fullmatch(target)
            address = addresses(found["file"]) if found else None
            if found and address is not None:
                each.attrs = {"href": address + (found["anchor"] or "")}
                yield address
            elif target.startswith("http"):
                each.attrs = {"href": target, "rel": "noreferrer"}
            elif not _ABROAD.match(target):
                each.tag, each.attrs = "span", {"title": target.replace("../", "")}
        elif each.type == "link_close" and opening:
            each.tag = opening.tag
