"""Secrets that were made up, ways in which they come wrapped, and what is none."""

import base64
import json
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
PEM = "-----{} RSA PRIVATE KEY-----"


def drawing(seed: int) -> Callable[..., str]:
    """What draws so many letters of some, which no secret is; the same ones in every run, whoever else draws."""
    dice = random.Random(seed)  # noqa: S311 - made-up secrets

    def some(count: int, of: str = LETTERS) -> str:
        return "".join(dice.choice(of) for _ in range(count))

    return some


def _twice(secret: str) -> str:
    return base64.b64encode(base64.b64encode(f"it is {secret} !".encode())).decode()


some = drawing(4711)
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
HARMLESS: list[dict[str, Any]] = [
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
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=40)
    | st.binary(max_size=60).map(lambda it: base64.b64encode(it).decode()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
