"""What is kept of a call: masked, bounded, and known by the digest of what it was."""

import hmac

import pytest

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.bodies import DigestedBody, KeptBody
from mcpguard.guard.calls.kept_bodies import LARGE, KeptBodies
from mcpguard.ledger.digests import Digests
from mcpguard.policy.secrets.masking import spellings
from mcpguard.settings.model import Audit
from tests.policy.secrets.made_up import TOKEN

pytestmark = pytest.mark.anyio
KEY = bytes(32)
GIVEN = "given in confidence"


def bodies(**settings: object) -> KeptBodies:
    known = spellings([GIVEN])
    return KeptBodies(Digests(KEY), Audit.model_validate(settings), lambda server: known if server == "web" else ())


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


async def test_of_what_is_too_large_or_not_wanted_only_the_digest_is_kept() -> None:
    value = {"q": "x" * 2000}
    size = len(dumps(value))
    assert await bodies(body_bytes=1024).make_body("web", value) == DigestedBody(size, digest(value), too_large=True)
    assert await bodies(bodies="digest").make_body("web", value) == DigestedBody(size, digest(value))
    assert isinstance(await bodies(body_bytes=size).make_body("web", value), KeptBody)
