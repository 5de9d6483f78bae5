"""What is kept of a call: masked, bounded, and known by the digest of what it was."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.codec.messages import dumps
from mcpguard.domain.callers import Caller, Scope
from mcpguard.domain.calls.bodies import DigestedBody, KeptBody
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import ALLOW
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.guard.calls.kept_bodies import LARGE, Digests, KeptBodies
from mcpguard.policy.secrets.masking import mask_secrets, spellings
from mcpguard.settings.model import Audit
from tests.policy.secrets.made_up import TOKEN

pytestmark = pytest.mark.anyio
KEY = bytes(32)
GIVEN = "given in confidence"


def bodies(**settings: object) -> KeptBodies:
    known = spellings([GIVEN])
    return KeptBodies(Digests(KEY), Audit.model_validate(settings), {"web": known})


def digest(value: object) -> str:
    return f"hmac-sha256:{hmac.digest(KEY, dumps(value), 'sha256').hex()}"


@pytest.mark.parametrize("padding", ["", "x " * LARGE], ids=["small", "large"])
async def test_it_is_kept_masked_with_the_digest_of_what_it_was(padding: str) -> None:
    value = {"q": [f"{TOKEN} is {GIVEN}"], "more": padding}
    kept = await bodies().make_body("web", value)
    assert kept == KeptBody(dumps({"q": ["(hidden: github-pat) is (hidden)"], "more": padding}), digest(value))
    other = await bodies().make_body("other", value)
    assert other == KeptBody(dumps({"q": [f"(hidden: github-pat) is {GIVEN}"], "more": padding}), digest(value))


async def test_what_has_no_secret_is_kept_as_it_was_sent() -> None:
    value, written = {"b": 1, "a": "é"}, b'{ "b":1,"a":"\xc3\xa9" }'
    kept = await bodies().make_body("web", value, written)
    assert isinstance(kept, KeptBody)
    assert kept.masked == written


PLACES = st.sampled_from(["", "plain", "with\nlines", TOKEN, f"it is {GIVEN}.", "password = hunter2hunter2"])
TEXTS = st.lists(PLACES, min_size=4, max_size=4)


@given(TEXTS)
async def test_what_is_kept_of_a_call_is_what_the_whole_search_leaves(texts: list[str]) -> None:
    """The quick search of the bytes decides what is masked, and changes nothing about that."""
    known, kept = spellings([GIVEN]), bodies()
    value = {"a": texts[0], "b": texts[1:]}
    body = await kept.make_body("web", value)
    assert isinstance(body, KeptBody)
    assert body.masked == dumps(mask_secrets(value, known, maybe=True).value)
    assert not body.clear or body.masked == dumps(value)
    name, reason, client, trace = texts
    opening = Opening(
        "entry",
        Caller("a", "a", Scope()),
        Capability("web", CapabilityKind.TOOL, name),
        Intent(Effect.READ, declared=True, reason=reason),
        Face.DIRECT,
        ALLOW,
        client=client,
        trace=trace,
    )
    left = kept.mask_texts(opening)
    assert [left.capability.name, left.intent.reason, left.client, left.trace] == mask_secrets(
        texts, known, maybe=True
    ).value


async def test_of_what_is_too_large_or_not_wanted_only_the_digest_is_kept() -> None:
    value = {"q": "x" * 2000}
    size = len(dumps(value))
    assert await bodies(body_bytes=1024).make_body("web", value) == DigestedBody(size, digest(value), too_large=True)
    assert await bodies(bodies="digest").make_body("web", value) == DigestedBody(size, digest(value))
    assert isinstance(await bodies(body_bytes=size).make_body("web", value), KeptBody)
