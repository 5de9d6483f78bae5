"""Secrets are found wherever they are in arguments, and nothing of them is told."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.policy.secrets.detection import MOST_TOLD, NOTHING, find_secrets
from mcpguard.policy.secrets.layers import MOST_LAYERS, MOST_TIMES, layers
from mcpguard.policy.secrets.masking import mask_secrets
from mcpguard.policy.secrets.rules import entropy, rules
from mcpguard.text.linear import compile_pattern
from tests.policy.secrets.made_up import HARMLESS, SURE, TOKEN, VALUES, WAYS, drawing

some = drawing(1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", SURE)
def test_a_secret_is_found_however_it_is_wrapped(rule: str, way: str) -> None:
    found = find_secrets(WAYS[way](SURE[rule]))
    assert rule in found.sure
    assert SURE[rule] not in str(found)


@pytest.mark.parametrize("arguments", HARMLESS, ids=lambda value: str(value)[:30])
def test_what_is_harmless_is_let_go(arguments: dict[str, object]) -> None:
    assert find_secrets(arguments).sure == ()


@pytest.mark.parametrize("value", [{TOKEN: {}}, {TOKEN: {"a": "x"}}, {TOKEN: []}, {TOKEN: None}, [[{TOKEN: {"a": 1}}]]])
def test_a_name_is_read_whatever_stands_behind_it(value: object) -> None:
    assert find_secrets(value).sure == ("github-pat",)
    assert TOKEN not in str(mask_secrets(value).value)


def test_what_may_be_wrong_does_not_refuse() -> None:
    token = "eyJ" + some(30) + ".eyJ" + some(40) + "." + some(43)
    assert find_secrets({"cursor": token}).sure == ()
    assert "jwt" in find_secrets({"cursor": token}).maybe


def test_of_very_many_only_some_are_told() -> None:
    every = [rule.pattern for rule in rules() if re.fullmatch(r"[a-z_]+-?\[a-fA-F0-9\]\{\d+\}", rule.pattern)]
    found = find_secrets({"all": [*SURE.values(), *every]})
    assert len(SURE) >= MOST_TOLD
    assert len(found.sure) == MOST_TOLD


def test_every_rule_is_usable_and_says_which_words_it_needs() -> None:
    assert len(rules()) > 200
    assert sum(rule.sure for rule in rules()) > 90
    assert len({rule.id for rule in rules()}) == len(rules())
    for rule in rules():
        assert compile_pattern(rule.pattern).search(b"nothing of that kind") is None
        assert rule.words, rule.id
        assert all(word and word == word.lower() for word in rule.words)
        assert rule.group is None or rule.group > 0


@given(VALUES)
def test_layers_are_bounded_and_end(value: object) -> None:
    sizes = [len(layer.text) for layer in layers(value)]
    assert max(sizes) <= MOST_TIMES * sizes[0]
    assert len(sizes) <= MOST_LAYERS + 1


@given(VALUES, st.sampled_from(["github-pat", "aws-access-token", "anthropic-api-key"]))
def test_a_secret_beside_anything_is_found(value: object, rule: str) -> None:
    assert rule in find_secrets({"other": value, "here": [SURE[rule]]}).sure


@given(st.lists(st.integers() | st.none() | st.booleans()))
def test_what_has_no_text_has_no_secret(value: list[object]) -> None:
    assert find_secrets({"numbers": value}) is NOTHING


def test_entropy_is_that_of_the_characters() -> None:
    assert entropy(b"") == entropy(b"aaaa") == 0
    assert entropy(b"abcd") == 2
