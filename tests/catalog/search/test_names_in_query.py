"""A name that a sentence says comes first, and only where nobody could have meant anything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.catalog.search.names_in_query import MOST_NAMES, is_name_of, names_in
from mcpguard.catalog.search.search import View
from tests.catalog.search.offers import answers, index, keys, tool
from tests.tiers import examples

OFFERED = {
    "code": [
        tool("create_issue", "File a new ticket."),
        tool("listIssues", "List tickets."),
        tool("get-open-issues", "Open tickets."),
        tool("issues.close", "Close a ticket."),
        tool("search", "Search tickets."),
    ],
    "other": [
        tool("issue_report", "Create an issue, create issues, list issues, get issues: use the tool for this."),
        tool("real-time", "Anything in real time."),
        tool("GitHub", "Anything."),
    ],
}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("use the create_issue tool to report this", "code:create_issue"),
        ("then call `create_issue` for every row", "code:create_issue"),
        ("report the problem with code:create_issue, please", "code:create_issue"),
        ("report the problem with code__create_issue.", "code:create_issue"),
        ("what does listIssues say about the report?", "code:listIssues"),
        ("what does get-open-issues say about the report?", "code:get-open-issues"),
        ("finish it with the issues.close tool", "code:issues.close"),
        ("report it with the `search` tool", "code:search"),
    ],
)
def test_a_name_in_a_sentence_comes_first(query: str, first: str) -> None:
    found = answers(View(index(OFFERED), None), query)
    assert found[0][0] == first
    assert [key for key, _, exact in found if exact] == [first]


@pytest.mark.parametrize(
    "query",
    [
        "create an issue in real-time on GitHub",
        "search the issues that create_issues made",
        "CREATE_ISSUE or Listissues",
        "my_create_issue and create_issue_now",
    ],
)
def test_a_word_that_people_write_or_another_spelling_is_no_name(query: str) -> None:
    assert not [key for key, _, exact in answers(View(index(OFFERED), None), query) if exact]


def test_several_names_come_in_the_order_in_which_they_are_said() -> None:
    query = "first listIssues, then create_issue, then code:get-open-issues"
    found = keys(View(index(OFFERED), None), query, 3)
    assert found == ["code:listIssues", "code:create_issue", "code:get-open-issues"]


def test_a_hidden_tool_is_no_answer_to_its_name() -> None:
    view = View(index(OFFERED), lambda server, _: server != "code")
    assert not [key for key, _, exact in answers(view, "use the create_issue tool") if exact]


@given(st.text(max_size=400))
@settings(max_examples=examples(300), deadline=None)
def test_few_names_are_looked_up_whatever_is_asked(query: str) -> None:
    found = list(names_in(query * 3))
    assert len(found) <= MOST_NAMES
    assert all(name in query * 3 for name in found)


def test_where_the_name_of_the_server_ends_matters() -> None:
    assert is_name_of("github:create_issue", "github", "create_issue")
    assert is_name_of("github__create_issue", "github", "create_issue")
    assert not is_name_of("githubcreate_issue", "git", "create_issue")
    assert not is_name_of("github:create_issue", "githubcreate", "issue")
