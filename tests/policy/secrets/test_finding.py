"""Secrets are found wherever they are in arguments, and nothing of them is told."""

import base64
import json
import random
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.policy.secrets.finding import MOST_TOLD, NOTHING, secrets
from mcpguard.policy.secrets.layers import MOST_LAYERS, MOST_TIMES, layers
from mcpguard.policy.secrets.masking import masked
from mcpguard.policy.secrets.rules import entropy, rules
from mcpguard.text.linear import compiled

DICE = random.Random(4711)  # noqa: S311 - made-up secrets
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
PEM = "-----{} RSA PRIVATE KEY-----"


def some(count: int, of: str = LETTERS) -> str:
    return "".join(DICE.choice(of) for _ in range(count))


def _twice(secret: str) -> str:
    return base64.b64encode(base64.b64encode(f"it is {secret} !".encode())).decode()


TOKEN = "ghp_" + some(36)
SURE = {
    "github-pat": TOKEN,
    "github-fine-grained-pat": "github_pat_" + some(82),
    "aws-access-token": "AKIA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "aws-secret-access-key": "aws_secret_access_key = " + some(40, LETTERS + "/+"),
    "anthropic-api-key": "sk-ant-api03-" + some(93) + "AA",
    "openai-api-key": "sk-proj-" + some(74) + "T3BlbkFJ" + some(74),
    "gitlab-pat": "glpat-" + some(20),
    "slack-bot-token": "xoxb-" + some(12, "0123456789") + "-" + some(12, "0123456789") + some(24),
    "stripe-access-token": "sk_live_" + some(24),
    "npm-access-token": "npm_" + some(36).lower(),
    "private-key": f"{PEM.format('BEGIN')}\n{some(300)}\n{PEM.format('END')}",
}
WAYS: dict[str, Callable[[str], Any]] = {
    "alone": lambda secret: {"token": secret},
    "in a sentence": lambda secret: {"text": f"use {secret}, please."},
    "in a list": lambda secret: {"a": [{"b": ["x", secret]}]},
    "as a name": lambda secret: {secret: True},
    "in a URL": lambda secret: {"url": f"https://example.org/?t={secret}&x=1"},
    "in JSON in JSON": lambda secret: {"body": json.dumps({"x": f"line\n{secret}"})},
    "in base64": lambda secret: {"data": base64.b64encode(f"it is {secret} !".encode()).decode()},
    "in base64 for URLs": lambda secret: {
        "data": base64.urlsafe_b64encode(f"?>{secret}".encode()).decode().rstrip("=")
    },
    "in base64 in base64": lambda secret: {"data": _twice(secret)},
    "percent-encoded": lambda secret: {"data": "".join(f"%{ord(char):02x}" for char in secret)},
    "in base64 in base64, with escapes beside it, in JSON in JSON": lambda secret: {
        "data": json.dumps({"x": '%41 "\n' * 20 + _twice(secret)})
    },
    "base64, percent-encoded": lambda secret: {
        "data": quote(base64.b64encode(f"{secret} ".encode() * 2).decode(), safe="")
    },
}
HARMLESS = [
    {},
    {"path": "/home/me/notes.txt", "limit": 10},
    {"query": "how do I rotate the secret api key, the token and the password?"},
    {"sha": "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {"digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"id": "018f3c5e-7b1a-7c3d-9e2f-0123456789ab"},
    {"key": "AKIAIOSFODNN7EXAMPLE"},
    {"token": "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"text": "Keys begin with sk-ant-api03- or ghp_, and -----BEGIN starts a PEM."},
    {"image": base64.b64encode(random.Random(1).randbytes(30_000)).decode()},  # noqa: S311 - any bytes
    {"cursor": "eyJhbGciOiJIUzI1NiJ9" + "x" * 40},
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", SURE)
def test_a_secret_is_found_however_it_is_wrapped(rule: str, way: str) -> None:
    found = secrets(WAYS[way](SURE[rule]))
    assert rule in found.sure
    assert SURE[rule] not in str(found)


@pytest.mark.parametrize("arguments", HARMLESS, ids=lambda value: str(value)[:30])
def test_what_is_harmless_is_let_go(arguments: dict[str, object]) -> None:
    assert secrets(arguments).sure == ()


@pytest.mark.parametrize("value", [{TOKEN: {}}, {TOKEN: {"a": "x"}}, {TOKEN: []}, {TOKEN: None}, [[{TOKEN: {"a": 1}}]]])
def test_a_name_is_read_whatever_stands_behind_it(value: object) -> None:
    assert secrets(value).sure == ("github-pat",)
    assert TOKEN not in str(masked(value).value)


def test_what_may_be_wrong_does_not_refuse() -> None:
    token = "eyJ" + some(30) + ".eyJ" + some(40) + "." + some(43)
    assert secrets({"cursor": token}).sure == ()
    assert "jwt" in secrets({"cursor": token}).maybe


def test_of_very_many_only_some_are_told() -> None:
    every = [rule.pattern for rule in rules() if re.fullmatch(r"[a-z_]+-?\[a-fA-F0-9\]\{\d+\}", rule.pattern)]
    found = secrets({"all": [*SURE.values(), *every]})
    assert len(SURE) >= MOST_TOLD
    assert len(found.sure) == MOST_TOLD


def test_every_rule_is_usable_and_says_which_words_it_needs() -> None:
    assert len(rules()) > 200
    assert sum(rule.sure for rule in rules()) > 90
    assert len({rule.id for rule in rules()}) == len(rules())
    for rule in rules():
        assert compiled(rule.pattern).search(b"nothing of that kind") is None
        assert rule.words, rule.id
        assert all(word and word == word.lower() for word in rule.words)
        assert rule.group is None or rule.group > 0


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=40)
    | st.binary(max_size=60).map(lambda it: base64.b64encode(it).decode()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_layers_are_bounded_and_end(value: object) -> None:
    sizes = [len(layer.text) for layer in layers(value)]
    assert max(sizes) <= MOST_TIMES * sizes[0]
    assert len(sizes) <= MOST_LAYERS + 1


@given(VALUES, st.sampled_from(["github-pat", "aws-access-token", "anthropic-api-key"]))
def test_a_secret_beside_anything_is_found(value: object, rule: str) -> None:
    assert rule in secrets({"other": value, "here": [SURE[rule]]}).sure


@given(st.lists(st.integers() | st.none() | st.booleans()))
def test_what_has_no_text_has_no_secret(value: list[object]) -> None:
    assert secrets({"numbers": value}) is NOTHING


def test_entropy_is_that_of_the_characters() -> None:
    assert entropy(b"") == entropy(b"aaaa") == 0
    assert entropy(b"abcd") == 2
