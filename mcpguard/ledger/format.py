"""How facts are written as records. docs/ledger-format.md says the same for people who write a verifier.

Rules kept here:
1. A record is a flat object; a field without a value is left out. `v`, `chain`, `seq`, `at`, `kind` are always there.
2. Every hash and signature is over a tag and bytes, so that bytes of one kind can never pass for another.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, assert_never

import orjson

from mcpguard.codec.canonical import Scalar
from mcpguard.domain.calls.bodies import Body, DigestedBody, KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Allow, Deny, Hold, Verdict
from mcpguard.domain.screening import Screened

VERSION = 1
RECORD_TAG = b"mcpguard/record/1\0"
BODY_TAG = b"mcpguard/body/1\0"
CHECKPOINT_TAG = b"mcpguard/checkpoint/1\0"
KEY_TAG = b"mcpguard/key/1\0"
GENESIS = bytes(32)
SALT_BYTES = 16

Fields = Mapping[str, Scalar]


def link(previous: bytes, content: bytes) -> bytes:
    """The hash of a record that follows the one whose hash is `previous`."""
    return hashlib.sha256(RECORD_TAG + previous + content).digest()


def body_digest(salt: bytes, content: bytes) -> str:
    return "sha256:" + hashlib.sha256(BODY_TAG + salt + content).hexdigest()


def parsed(content: bytes | None) -> Mapping[str, Any]:
    """What a content says; nothing, where it is not the content of a record. Its hash is another question."""
    try:
        said = orjson.loads(content or b"")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def opening_fields(opening: Opening) -> dict[str, Scalar]:
    """An opening without its arguments."""
    return _given(
        entry=opening.entry,
        caller=opening.caller.id,
        caller_label=opening.caller.label,
        client=opening.client,
        face=opening.face.value,
        method=opening.method,
        server=opening.capability.server,
        capability=opening.capability.kind.value,
        name=opening.capability.name,
        fingerprint=None if opening.fingerprint is None else opening.fingerprint.text,
        effect=None if opening.effect is None else opening.effect.value,
        operation=opening.intent.operation.value,
        declared=opening.intent.declared,
        sensitivity=opening.intent.sensitivity.value,
        intent_reason=opening.intent.reason,
        rules=" ".join(opening.rules),
        settings=opening.settings,
        trace=opening.trace,
        continues=opening.continues,
        ticket=opening.ticket,
        secrets=" ".join(opening.secrets),
        by=opening.by,
        **verdict_fields(opening.verdict),
    )


def verdict_fields(verdict: Verdict) -> dict[str, Scalar]:
    match verdict:
        case Allow():
            return {"verdict": "allow"}
        case Hold(reason):
            return {"verdict": "hold", "reason": reason.value}
        case Deny(reason):
            return {"verdict": "deny", "reason": reason.value}
        case _:
            assert_never(verdict)


ABOUT = ("caller", "caller_label", "server", "capability", "name", "effect")
"""What the later records of a call repeat from its opening, so that each is found, and can be read, by itself."""


def about(opened: Fields) -> dict[str, Scalar]:
    """What the other records of a call say of it, by what its opening says."""
    return {name: opened[name] for name in ABOUT if name in opened}


def closing_fields(
    entry: str, outcome: Outcome, took_us: int | None, call: Fields, *, late: bool = False
) -> dict[str, Scalar]:
    """A closing without its reply. `call`: what it repeats of the opening."""
    return dict(call) | _given(
        entry=entry,
        outcome=outcome.kind.value,
        executed=outcome.executed.value,
        reason=None if outcome.reason is None else outcome.reason.value,
        took_us=took_us,
        late=late or None,
        **_screened(outcome.screened),
    )


def _screened(screened: Screened | None) -> dict[str, Scalar]:
    if screened is None:
        return {}
    return {"screened": screened.mode.value, "found": " ".join(screened.found), "masked": screened.masked or None}


def body_fields(body: Body | None, salt: bytes) -> dict[str, Scalar]:
    """What a record says about the body that belongs to it."""
    match body:
        case None:
            return {}
        case KeptBody(masked, keyed):
            digest = body_digest(salt, masked)
            return _given(body_size=len(masked), body_digest=digest, body_kept=True, body_hmac=keyed)
        case DigestedBody(size, digest, too_large):
            large = too_large or None
            return _given(body_size=size, body_digest=digest, body_kept=False, body_too_large=large)
        case _:
            assert_never(body)


def _given(**fields: Scalar) -> dict[str, Scalar]:
    return {key: value for key, value in fields.items() if value is not None and value != ""}
