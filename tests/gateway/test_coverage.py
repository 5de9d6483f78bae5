"""Which URIs a template covers: those it could have been expanded to by someone who means no harm, and no other."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.uri_template import UriTemplate

from mcpguard.catalog.shelf import Shelf, make_shelf
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.servers.listings import Listing
from mcpguard.gateway.faces import coverage
from mcpguard.gateway.faces.coverage import covering, covers

values = st.text(string.ascii_letters + string.digits + "-_ \u00fc\u4e16!'()", min_size=1, max_size=20)
TEMPLATES = [
    "note://{a}",
    "note://{a}/text",
    "file:///{+a}",
    "x://{a}.{b}",
    "x://{a}{?b,c}",
    "x://h{/a*}",
    "x://h{;a}",
    "x://h?b={b}{&c}",
    "x://h{#a}",
]


def templates(*names: str) -> Shelf:
    return make_shelf("web", Listing(templates=tuple({"uriTemplate": name} for name in names)), lambda *_: Effect.READ)


@given(template=st.sampled_from(TEMPLATES), a=values, b=values, c=values)
def test_what_it_is_expanded_to_is_covered(template: str, a: str, b: str, c: str) -> None:
    parsed = UriTemplate.parse(template)
    given_ = {"a": [a, b] if "*" in template else a, "b": b, "c": c}
    uri = parsed.expand({name: given_[name] for name in parsed.variable_names})
    assert covers(template, uri)


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("note://{a}/text", "note://../text"),
        ("note://{a}/text", "note://%2e%2e/text"),
        ("note://{a}/text", "note://.%2E/text"),
        ("note://{a}/text", "note://a%2fb/text"),
        ("note://{a}/text", "note://a%2Fb/text"),
        ("note://{a}/text", "note://a%5cb/text"),
        ("note://{a}/text", "note://a\\b/text"),
        ("note://{a}/text", "note://a%252fb/text"),
        ("note://{a}/text", "note://a%00/text"),
        ("note://{a}/text", "note://a%0ab/text"),
        ("note://{a}/text", "note://a\nb/text"),
        ("note://{a}/text", "note://a b/text"),
        ("note://{a}/text", "note://a%7f/text"),
        ("note://{a}/text", "note://a%c2%85/text"),
        ("note://{a}/text", "note://a%e2%80%a8/text"),
        ("note://{a}/text", "note://a%c0%af..%c0%af/text"),
        ("note://{a}/text", "note://a%ff/text"),
        ("note://{a}/text", "note://..;/text"),
        ("note://{a}/text", "note://a/b/text"),
        ("note://{a}/text", "note://a/text?x=1"),
        ("note://{a}/text", "note://a/text#x"),
        ("note://{a}/text", "Xnote://a/text"),
        ("note://{a}/text", "note://a/textX"),
        ("x://{a}.{b}", "x://.."),
        ("x://{a}.{b}", "x://../..x"),
        ("file:///{+a}", "file:///a/../../etc/passwd"),
        ("file:///{+a}", "file:///.."),
        ("file:///{+a}", "file:///a/%2e%2e/b"),
        ("file:///{+a}", "file:///a\\..\\b"),
        ("x://h{/a*}", "x://h/a/../b"),
        ("x://{a}{?b}", "x://a?b=../b"),
        ("x://{a}{?b}", "x://a?other=1"),
        ("x://{a}{?b}", "x://a?b=1&b=2"),
        ("x://{a}{?b}", "x://a?b=1#fragment"),
        ("x://{a}{?b}", "x://a?b=1&%62=2"),
        ("x://{a}{?b}", "x://a?"),
        ("x://{a}{?b}", "x://a?b=1&"),
        ("{a", "{a"),
        ("{+a}{+b}", "x://y"),
        ("note://{a}", "note://" + "a" * 8192),
    ],
)
def test_what_may_be_meant_otherwise_is_not_covered(template: str, uri: str) -> None:
    assert not covers(template, uri)
    assert covering(templates(template), uri) is None


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("note://{a}/text", "note://a..b/text"),
        ("note://{a}/text", "note://..a/text"),
        ("note://{a}/text", "note://.../text"),
        ("note://{a}/text", "note://a%20b/text"),
        ("note://{a}/text", "note://%c3%bc/text"),
        ("file:///{+a}", "file:///a/b.c/.d"),
        ("x://{a}{?b,c}", "x://a"),
        ("x://{a}{?b,c}", "x://a?c=1&b=2"),
        ("x://{a}{?b,c}", "x://a?c=1"),
    ],
)
def test_what_means_one_thing_is_covered(template: str, uri: str) -> None:
    assert covers(template, uri)
    covered = covering(templates("other://{x}", template), uri)
    assert covered is not None
    assert covered.name == template


def test_a_resource_that_is_listed_needs_no_template() -> None:
    offered = make_shelf("web", Listing(resources=({"uri": "file:///a/../b c"},)), lambda *_: Effect.READ)
    covered = covering(offered, "file:///a/../b c")
    assert covered is not None
    assert covered.kind == "resource"
    assert covering(offered, "file:///b") is None


def test_looking_ends_however_many_templates_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them takes as long as a template can take, and none covers the URI. The work is counted, not timed."""
    slow = ["x://" + "-".join(f"{{a{at}_{each}}}" for at in range(100)) for each in range(1000)]
    uri = "x://" + "a" * 7500 + "-" * 98
    steps = 0
    ours = coverage._TEMPLATES.UriTemplate
    match = ours.match

    def counted(self: UriTemplate, uri: str, *, max_uri_length: int) -> object:
        nonlocal steps
        steps += len(uri) * len(self.variables)
        return match(self, uri, max_uri_length=max_uri_length)

    monkeypatch.setattr(ours, "match", counted)
    assert covering(templates(*slow), uri) is None
    assert 0 < steps <= coverage.MOST_STEPS
    assert covering(templates(*(f"y://{{a}}/{each}" for each in range(5000)), "x://{a}"), "x://b") is not None
