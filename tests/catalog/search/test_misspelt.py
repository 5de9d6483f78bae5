"""Words that no tool has may still be understood."""

import pytest

from mcpguard.catalog.search.search import View
from mcpguard.catalog.search.vocabulary import WordForms, distance
from tests.catalog.search.offers import index, keys, tool

MADE = index(
    {
        "code": [
            tool("create_repository", "Create a repository."),
            tool("delete_branch", "Deleting a branch cannot be undone."),
            tool("github_status", "Tell how GitHub is."),
        ],
        "db": [tool("list_databases", "List all databases.")],
    }
)


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("craete", "code:create_repository"),
        ("repositry", "code:create_repository"),
        ("repsoitory", "code:create_repository"),
        ("deletign", "code:delete_branch"),
        ("brnach", "code:delete_branch"),
        ("databse", "db:list_databases"),
        ("createrepository", "code:create_repository"),
        ("deletebranch", "code:delete_branch"),
        ("git hub", "code:github_status"),
        ("eraes", "code:delete_branch"),
    ],
)
def test_a_word_is_repaired(query: str, meant: str) -> None:
    assert keys(View(MADE, None), query)[0] == meant


@pytest.mark.parametrize("query", ["gti", "crt", "xyzzy", "qqqqqqqqqqqqqqqq"])
def test_what_is_near_to_nothing_stays_unknown(query: str) -> None:
    assert keys(View(MADE, None), query) == []


def test_nothing_is_repaired_to_what_may_not_be_seen() -> None:
    assert keys(View(MADE, lambda server, _: server == "db"), "repositry") == []
    assert keys(View(MADE, lambda _, name: name != "delete_branch"), "brnach") == []
    assert keys(View(MADE, lambda server, _: server == "db"), "createrepository") == []


@pytest.mark.parametrize(
    ("one", "other", "mistakes"),
    [("", "", 0), ("a", "", 1), ("abcd", "abdc", 1), ("abcd", "acd", 1), ("abcd", "axcy", 2), ("ca", "abc", 3)],
)
def test_mistakes_are_counted(one: str, other: str, mistakes: int) -> None:
    assert distance(one, other) == distance(other, one) == mistakes


def test_a_word_goes_with_the_last_server_that_has_it() -> None:
    vocabulary = WordForms()
    none: frozenset[str] = frozenset()
    vocabulary.change("a", none, frozenset({"folder", "file"}))
    vocabulary.change("b", none, frozenset({"folder"}))
    vocabulary.change("a", frozenset({"folder", "file"}), none)
    assert vocabulary.nearest_forms("foldr", lambda _: True) == [("folder", 1)]
    vocabulary.change("b", frozenset({"folder"}), none)
    assert vocabulary.nearest_forms("foldr", lambda _: True) == []
    assert vars(vocabulary) == vars(WordForms())
