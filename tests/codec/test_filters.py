"""The language of filters: what is written for one is read as the same one, and what is none says why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.filters import LONGEST, MOST_TERMS, misread, parse, parse_strictly, split_terms, write
from mcpguard.domain.filters import ALL_RECORDS, BadFilter, Filter, FilterKey, FilterTerm

NOW = 1_795_000_000_000_000
HOUR = 3_600_000_000

values = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="*?"), min_size=1, max_size=20).map(
    lambda text: text + " x"
) | st.text('abc:*"\\ -_.', min_size=1, max_size=12).filter(
    lambda text: text.isprintable() and text.strip() == text and text.count("*") < 5
)
terms = st.lists(
    st.tuples(st.sampled_from(FilterKey), st.booleans(), values), max_size=8, unique_by=lambda each: (each[0], each[1])
)
times = st.none() | st.integers(0, 4_000_000_000_000_000)


@given(terms, times, times)
def test_what_is_written_is_read_as_the_same(
    some: list[tuple[FilterKey, bool, str]], since: int | None, until: int | None
) -> None:
    wanted = Filter(tuple(FilterTerm(key, (value,), without) for key, without, value in some), since, until)
    assert parse(write(wanted), NOW) == wanted


@given(st.text(max_size=60))
def test_any_other_text_is_refused_or_has_a_meaning_that_stays(text: str) -> None:
    try:
        wanted = parse(text, NOW)
    except BadFilter:
        return
    assert parse(write(wanted), 0) == wanted


def test_terms_of_one_key_are_alternatives() -> None:
    wanted = parse("server:files verdict:deny  server:mail -reason:scope:* server:files", NOW)
    assert wanted.terms == (
        FilterTerm(FilterKey.SERVER, ("files", "mail")),
        FilterTerm(FilterKey.VERDICT, ("deny",)),
        FilterTerm(FilterKey.REASON, ("scope:*",), without=True),
    )
    assert parse("", NOW) == parse("  ", NOW) == ALL_RECORDS
    assert parse('name:"a \\"b\\" \\\\ c" call:1', NOW).terms == (
        FilterTerm(FilterKey.NAME, ('a "b" \\ c',)),
        FilterTerm(FilterKey.CALL, ("1",)),
    )
    assert parse("SERVER:Files", NOW).terms == (FilterTerm(FilterKey.SERVER, ("Files",)),)


def test_times_are_in_utc_or_how_long_ago() -> None:
    assert parse("since:2h", NOW).since == NOW - 2 * HOUR
    assert parse("until:7d", NOW).until == NOW - 7 * 24 * HOUR
    assert parse("since:1970-01-01T00:00:01", NOW).since == 1_000_000
    assert parse("since:1970-01-01T01:00:00.000001+01:00", NOW).since == 1
    assert parse("since:1970-01-02 until:1970-01-03Z"[:16], NOW).since == 24 * HOUR
    assert parse("since:99999999w", NOW).since == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('server:""', "server: needs a value"),
        ('server:"a\u202eb"', "server: needs a value"),
        ("server:a\0", "server: needs a value"),
        ('""', "text: needs a value"),
        ("name:*a*b*c*d*", "name: a value has at most 4 wildcards"),
        ("since:yesterday", "write a time as"),
        ("since:0h", "write a time as"),
        ("since:2026-13-01", "write a time as"),
        ("-since:2h", "since: can be given only once, and cannot be excluded"),
        ("since:2h since:3h", "since: can be given only once, and cannot be excluded"),
        ("call:a " * (MOST_TERMS + 1), f"a filter has at most {MOST_TERMS} terms"),
        ("call:" + "a" * LONGEST, f"a filter has at most {LONGEST} characters"),
    ],
)
def test_what_is_no_filter_says_what_would_be(text: str, said: str) -> None:
    with pytest.raises(BadFilter) as refused:
        parse(text, NOW)
    assert said in str(refused.value)


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=30))
def test_a_filter_put_together_from_its_terms_as_they_are_spelt_is_the_same(value: str) -> None:
    quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    text = f"server:files  -tool:{quoted} since:2h"
    try:
        wanted = parse(text, 10**15)
    except BadFilter:
        return
    terms = [*split_terms(text)]
    assert [(term.key, term.without) for term in terms] == [("server", False), ("tool", True), ("since", False)]
    assert parse(" ".join(term.written for term in terms), 10**15) == wanted
    assert parse(" ".join(term.written for term in terms if term.key != "tool"), 10**15).terms == wanted.terms[:1]


def test_what_has_no_key_is_text_and_all_of_it_must_match() -> None:
    wanted = parse('server:files invoice -"last year" "a:b" invoice text:late', NOW)
    assert wanted.terms == (
        FilterTerm(FilterKey.SERVER, ("files",)),
        FilterTerm(FilterKey.TEXT, ("invoice",)),
        FilterTerm(FilterKey.TEXT, ("last year",), without=True),
        FilterTerm(FilterKey.TEXT, ("a:b",)),
        FilterTerm(FilterKey.TEXT, ("late",)),
    )
    assert write(wanted) == 'server:files invoice -"last year" "a:b" late'
    assert misread('server:files invoice "a:b" text:late') == []


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        ("sever:a", "sever:a", "sever: is not a key; did you mean server:?"),
        ("-zzzzzz:a", "zzzzzz:a", "zzzzzz: is not a key"),
        ('zz:"a b"', "zz:a b", "zz: is not a key"),
        ("https://example.com", "https://example.com", "https: is not a key"),
        ("server:", "server:", "server: has no value"),
        ('server:"a', 'server:"a', "server: has no value"),
        ('server:"a"b', 'server:"a"b', "server: has no value"),
    ],
)
def test_what_only_looks_like_a_term_is_text_and_that_is_said(text: str, found: str, said: str) -> None:
    assert parse(text, NOW).terms == (FilterTerm(FilterKey.TEXT, (found,), without=text.startswith("-")),)
    assert misread(f"tool:x {text}") == [said]
    with pytest.raises(BadFilter) as refused:
        parse_strictly(text, NOW)
    assert str(refused.value).startswith(f"{said}; keys are server, tool,")
    assert parse_strictly(write(parse(text, NOW)), NOW) == parse(text, NOW), "in quotes it is meant so"


@given(st.text(max_size=60))
def test_no_character_of_a_filter_is_left_out(text: str) -> None:
    assert "".join("".join(term.written for term in split_terms(text)).split()) == "".join(text.split())
