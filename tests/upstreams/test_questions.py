"""What a modern server asks is taken only whole, and only where the protocol lets it ask."""

import pytest

from mcpguard.domain.asks import Ask
from mcpguard.upstreams.protocol.questions import questions
from tests.simulators.words import Json

CALL = "tools/call"
ROOTS: Json = {"method": "roots/list", "params": {}}


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_questions_keep_the_names_that_the_server_gave_them(method: str) -> None:
    requests = {"a": ROOTS, "b": {"method": "elicitation/create", "params": {"message": "?", "odd": None}}}
    assert questions(method, {"inputRequests": requests, "requestState": "s"}) == {
        "a": Ask("roots/list", {}),
        "b": Ask("elicitation/create", {"message": "?", "odd": None}),
    }


def test_there_may_be_none_where_there_is_a_state() -> None:
    assert questions(CALL, {"requestState": "s"}) == {}
    assert questions(CALL, {"inputRequests": {}, "requestState": ""}) == {}


def test_roots_are_asked_for_without_parameters_too() -> None:
    assert questions(CALL, {"inputRequests": {"a": {"method": "roots/list"}}}) == {"a": Ask("roots/list", {})}


@pytest.mark.parametrize("method", ["tools/list", "completion/complete", "server/discover", "resources/list", ""])
def test_no_other_request_is_answered_with_questions(method: str) -> None:
    assert questions(method, {"inputRequests": {"a": ROOTS}}) is None


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"inputRequests": {}},
        {"inputRequests": None, "requestState": "s"},
        {"inputRequests": [ROOTS], "requestState": "s"},
        {"inputRequests": {"a": ROOTS}, "requestState": 5},
        {"inputRequests": {"a": ROOTS}, "requestState": None},
        {"inputRequests": {"a": ROOTS, "b": None}},
        {"inputRequests": {"a": ROOTS, "b": {"method": "ping"}}},
        {"inputRequests": {"a": ROOTS, "b": {"method": "tools/call", "params": {"name": "x"}}}},
        {"inputRequests": {"a": {"method": "roots/list", "params": None}}},
        {"inputRequests": {"a": {"method": "elicitation/create"}}},
        {"inputRequests": {"a": {"method": "sampling/createMessage", "params": []}}},
        {"inputRequests": {"a": {"method": 5, "params": {}}}},
    ],
)
def test_what_nobody_could_answer_is_no_question(wanted: Json) -> None:
    assert questions(CALL, wanted) is None
