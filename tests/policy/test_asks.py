"""Nothing is asked of a client that was not permitted, or that the client cannot be asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.asks import KINDS, Ask, AskKind
from mcpguard.domain.reasons import Reason
from mcpguard.policy.asks import askable_kinds, client_capabilities, objection, without_other_context

EVERYTHING = frozenset(AskKind)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
WORDS = st.sampled_from(["form", "url", "tools", "context", "listChanged", "mode", "toolChoice", "includeContext"])
PARAMS = st.dictionaries(WORDS | st.text(max_size=5), JSON | WORDS, max_size=5)
CAPABILITIES = st.dictionaries(
    st.sampled_from([*AskKind, "experimental"]) | st.text(max_size=5), JSON | st.dictionaries(WORDS, JSON), max_size=5
)
ASKS = st.builds(Ask, st.sampled_from(sorted(KINDS)), PARAMS)
PERMITTED = st.frozensets(st.sampled_from(AskKind))


@given(ASKS, PERMITTED, CAPABILITIES)
def test_what_may_be_asked_was_permitted_and_can_be_asked(
    ask: Ask, permitted: frozenset[AskKind], capabilities: dict[str, Any]
) -> None:
    match objection(ask, permitted, capabilities):
        case None:
            assert ask.kind in permitted
            assert isinstance(capabilities[ask.kind], dict)
            assert ask.kind in askable_kinds(capabilities)
        case Reason.UPSTREAM_REQUEST_DENIED:
            assert ask.kind not in permitted
        case reason:
            assert reason is Reason.CLIENT_UNABLE
            assert ask.kind in permitted


@given(CAPABILITIES, PERMITTED)
def test_a_server_is_told_only_of_what_it_may_ask_for_and_the_client_can_do(
    capabilities: dict[str, Any], permitted: frozenset[AskKind]
) -> None:
    told = client_capabilities(capabilities, permitted)
    assert told.keys() == {kind.value for kind in permitted & askable_kinds(capabilities)}
    for kind, ways in told.items():
        assert ways.keys() <= capabilities[kind].keys() & {"form", "url", "tools"}
        assert all(said == {} for said in ways.values()), "nothing else of the client's goes along"


@given(ASKS)
def test_no_server_asks_for_what_others_told_the_client(ask: Ask) -> None:
    passed = without_other_context(ask)
    assert passed.method == ask.method
    assert passed.params == {key: value for key, value in ask.params.items() if key != "includeContext"}


FORM: dict[str, Any] = {"mode": "form"}
URL: dict[str, Any] = {"mode": "url"}
NO_MODE: dict[str, Any] = {}
ODD: dict[str, Any] = {"mode": ["form"]}


@pytest.mark.parametrize(
    ("can", "possible"),
    [
        ({}, [FORM, NO_MODE]),
        ({"form": {}}, [FORM, NO_MODE]),
        ({"url": {}}, [URL]),
        ({"form": {}, "url": {}}, [FORM, URL, NO_MODE]),
        ({"form": None, "odd": {}}, [FORM, NO_MODE]),
    ],
)
def test_a_person_is_asked_in_a_way_that_the_client_knows(can: dict[str, Any], possible: list[object]) -> None:
    every = [Ask("elicitation/create", params) for params in (FORM, URL, NO_MODE, ODD)]
    assert [ask.params for ask in every if objection(ask, EVERYTHING, {"elicitation": can}) is None] == possible


@pytest.mark.parametrize("params", [{"tools": []}, {"toolChoice": {}}, {"tools": None}])
def test_a_model_gets_tools_only_where_the_client_can_give_it_some(params: dict[str, Any]) -> None:
    ask = Ask("sampling/createMessage", params)
    assert objection(ask, EVERYTHING, {"sampling": {}}) is Reason.CLIENT_UNABLE
    assert objection(ask, EVERYTHING, {"sampling": {"tools": {}}}) is None
