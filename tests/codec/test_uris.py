"""What a server may read as absolute, as climbing or as another place is not covered by a prefix or a template."""

import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.uris import is_harmless
from mcpguard.domain.decisions import Undecidable
from mcpguard.gateway.faces.coverage import covers
from mcpguard.policy.prefixes import check_prefixes, is_under_prefix

DATA = ("file:///data",)
ODD_DOTS = [".", "\uff0e", "\u2024", "\ufe52", "\u3002", "\uff61"]  # wide, leader, small, ideographic, halfwidth
UNSEEN = ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u180e", "\ufe0f", "\u034f", "\u115f", "\U000e0041"]
SLASHES = ["\uff0f", "\u2215", "\u2044", "\u29f8", "\uff3c", "\ufe68", "\u2216", "\u29f5", "\u29f9", "\u00a5", "\u2100"]
OUTSIDE = [
    "/etc/passwd",
    "a//etc/passwd",
    "a///b",
    "./x",
    "a/./b",
    "a/.",
    "..%20/x",
    "%20../x",
    "..%C2%A0/x",
    "..;/x",
    "..;a=b/x",
    "~",
    "~root",
    "~root/.ssh/id_rsa",
    "a/~/b",
    "%7Eroot",
    "\uff5eroot",
    "\u00ad~root",
    "C:/Windows",
    "c:x",
    "C|/Windows",
    "a/C:/x",
    "%43%3A/x",
    "\uff23\uff1a/x",
    "C\u200b:/x",
    "..",
    "../etc",
    "%2e%2e/x",
    "%252e%252e/x",
    "%25252e/x",
    "%u002e%u002e/x",
    "\uff052e\uff052e/x",
    "%EF%BC%852e/x",
    "a%2fb",
    "a%5cb",
    "a\\b",
    "..\\x",
    "%c0%ae%c0%ae/x",
    "\u2025/x",
    "%E2%80%A5/x",
    "x?path=/etc/passwd",
    "x?path=~root",
    "x?path=../x",
    "x?path=$HOME/x",
    "$HOME/.ssh/id_rsa",
    "${HOME}/x",
    "%24HOME/x",
    "a/$XDG_CONFIG_HOME/x",
    "..\u1680/x",
    "x#/etc",
    "x;/etc",
    "http://other/x",
    "100%",
]
INSIDE = [
    "a",
    "a/b/c",
    "a.b",
    ".env",
    "a/.env",
    "a..b",
    "a/",
    "a~",
    "a%20b",
    "%C3%A9t%C3%A9",
    "你好,世界.txt",
    "routes/$slug.tsx",
    "cost%20$5",
    "a@b",
    "a?page=2",
    "a?b=",
]


@pytest.mark.parametrize("rest", OUTSIDE)
def test_what_may_be_read_as_another_place_lies_under_no_prefix_and_no_template(rest: str) -> None:
    assert not is_under_prefix(DATA, f"file:///data/{rest}")
    assert not covers("file:///data/{+path}", f"file:///data/{rest}")
    assert not covers("notes://{+path}", f"notes://{rest}")
    assert not covers("notes:{+path}", f"notes:{rest}")


@pytest.mark.parametrize("rest", INSIDE)
def test_what_can_be_read_in_one_way_is_covered(rest: str) -> None:
    assert is_under_prefix(DATA, f"file:///data/{rest}")
    if "?" not in rest:
        assert covers("notes://{+path}", f"notes://{rest}")


@pytest.mark.parametrize(
    ("template", "uri", "covered"),
    [
        ("docs://api{/version}", "docs://api/v1", True),
        ("docs://api{/version}", "docs://api//v1", False),
        ("docs://api{/part*}", "docs://api/a/b", True),
        ("docs://api{/part*}", "docs://api/a/../b", False),
        ("file://{+path}", "file:///data/x", True),
        ("file://{+path}", "file:////etc/x", False),
        ("file:///{+path}", "file:///data/x", True),
        ("file:///C:/{+path}", "file:///C:/data/x", True),
        ("file:///C:/{+path}", "file:///C:/D:/x", False),
        ("https://host/~ada/{name}", "https://host/~ada/x", True),
        ("https://host/~ada/{name}", "https://host/~ada/~root", False),
        ("x://{a}/{b}", "x://one/two", True),
        ("x://{a}/{b}", "x://one/~two", False),
        ("x://{a}:{b}", "x://one:two", True),
        ("x://{a}:{b}", "x://C:two", False),
        ("x://{a}.{+b}", "x://one./etc/passwd", False),
        ("x://{a}-{+b}", "x://one-~root", False),
        ("x://y{?path}", "x://y?path=z", True),
        ("x://y{?path}", "x://y?path=~root", False),
        ("x://y{?path}", "x://y?path=%7Eroot", False),
        ("x://{a}{b}", "x://..", False),
        ("https://api.example.org{+path}", "https://api.example.org/x@y", True),
        ("https://api.example.org{+path}", "https://api.example.org", True),
        ("https://api.example.org{+path}", "https://api.example.org@evil.example/x", False),
        ("https://api.example.org{+path}", "https://api.example.org%40evil.example/x", False),
        ("https://api.example.org{+path}", "https://api.example.org\uff20evil.example/x", False),
        ("https://api.example.org{+path}", "https://api.example.org.evil.example/x", False),
        ("https://api.example.org{+path}", "https://api.example.org:8443/x", False),
        ("https://api.example.org:{port}/x", "https://api.example.org:443/x", True),
        ("https://api.example.org:{port}/x", "https://api.example.org:443@evil.example/x", False),
        ("https://api.example.org{;a}/x", "https://api.example.org;a=@evil.example/x", False),
        ("https://{tenant}.example.org{+path}", "https://one.example.org/x", True),
        ("https://{tenant}.example.org{+path}", "https://one.example.org@evil.example/x", False),
        ("https://{tenant}.example.org{+path}", "https://one.example.org.evil.example/x", False),
        ("https://api.example.org{+path}", "https://api.example.org/~root", False),
        ("x://host{+path}", "x://host/etc/passwd", False),
        ("https://ada@example.org{/path*}", "https://ada@example.org/x", True),
        ("https://ada@example.org{/path*}", "https://ada@example.org@evil.example/x", False),
        ("note://user-{id}", "note://user-5", True),
        ("mail://{+box}", "mail://ada@example.org", True),
    ],
)
def test_a_value_in_a_template_is_no_place_of_its_own(template: str, uri: str, *, covered: bool) -> None:
    assert covers(template, uri) is covered


@pytest.mark.parametrize("prefix", ["file:///C:/data", "https://host/~ada", "notes:data"])
def test_what_a_person_wrote_into_a_prefix_they_meant(prefix: str) -> None:
    assert check_prefixes([prefix]) == (prefix,)
    assert is_under_prefix([prefix], f"{prefix}/x")
    assert not is_under_prefix([prefix], f"{prefix}/~x")
    assert not is_under_prefix([prefix], f"{prefix}/D:/x")
    assert not is_under_prefix([prefix], f"{prefix}//x")


@pytest.mark.parametrize(
    "prefix", ["file:///data//", "file:///data//x", "file:///./x", "file:///a/\uff0e\uff0e/b", "x:a%"]
)
def test_a_prefix_says_one_place(prefix: str) -> None:
    with pytest.raises(Undecidable):
        check_prefixes([prefix])
    assert not is_under_prefix([prefix], f"{prefix.removesuffix('/')}/x"), "also where it was approved before"


def _disguised(data: st.DataObject, text: str) -> str:
    """The same to a server that decodes, normalises, or drops what cannot be seen."""
    parts = []
    for each in text:
        shown = data.draw(st.sampled_from(ODD_DOTS)) if each == "." else each
        unseen = data.draw(st.sampled_from(["", "", *UNSEEN]))
        parts.append(data.draw(st.sampled_from([shown, quote(shown, safe="")])) + unseen)
    return "".join(parts)


@given(data=st.data(), before=st.sampled_from(["", "a/", "a/b/"]), after=st.sampled_from(["", "/x", "/etc/passwd"]))
def test_no_disguise_of_a_climb_is_covered(data: st.DataObject, before: str, after: str) -> None:
    rest = before + _disguised(data, data.draw(st.sampled_from([".", "..", "~", "~root", "C:"]))) + after
    assert not is_under_prefix(DATA, f"file:///data/{rest}")
    assert not covers("file:///data/{+path}", f"file:///data/{rest}")


@given(slash=st.sampled_from(SLASHES), encoded=st.booleans(), unseen=st.sampled_from(["", *UNSEEN]))
def test_no_other_slash_is_covered(slash: str, unseen: str, *, encoded: bool) -> None:
    said = quote(slash) if encoded else slash
    assert not is_harmless(f"file:///data/a{unseen}{said}b")


@given(name=st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12))
def test_what_is_covered_stays_where_it_is_however_it_is_read(name: str) -> None:
    uri = f"file:///data/{quote(name, safe='/~.:')}"
    read = "".join(each for each in unicodedata.normalize("NFKC", name) if unicodedata.category(each) != "Cf")
    parts = [each.strip() for each in read.replace("\\", "/").split("/")]
    if is_under_prefix(DATA, uri):
        assert all(parts[:-1]), "nothing is absolute, and no part of it empty"
        assert not any(each in (".", "..") for each in parts)
        assert not any(each.startswith("~") for each in parts)
        assert not any(each[1:2] == ":" and each[0].isalpha() for each in parts if each.isascii())
