"""What a model of English sentences is given of a query in another language."""

import pytest

from mcpguard.catalog.search.english_query import in_english


@pytest.mark.parametrize(
    ("query", "english"),
    [
        ("Zeig die Protokolle", "show logs"),
        ("Wechselkurs abrufen", "exchange rate retrieve"),
        ("Merge le pull request dans GitHub", "merge pull request git hub github"),
        ("\u8bfb\u53d6\u6587\u4ef6", "read document"),
        ("\u8bfb\u53d6 README \u6587\u4ef6", "read document readme"),
    ],
)
def test_foreign_words_are_replaced_by_their_most_usual_meaning(query: str, english: str) -> None:
    assert in_english(query) == english


@pytest.mark.parametrize("query", ["List open issues of a repository", "direcotry tre", "", "  ", "zzqx", "the pain"])
def test_an_english_query_stays_as_it_is(query: str) -> None:
    assert in_english(query) == query


def test_a_query_without_end_is_read_in_part() -> None:
    assert len(in_english("datei und " * 100_000)) < 2_000
    assert len(in_english("\u6587\u4ef6" * 100_000)) < 20_000
