"""Encodes facts as records, with secrets masked in free text.

docs/ledger-format.md is the specification for other verifiers.

Rules kept here:
1. A record is a flat object; a field without a value is left out. `v`, `chain`, `seq`, `at` and `kind` are always
   present.
2. Every hash and signature covers a tag followed by bytes, so that bytes of one kind cannot pass for another (domain
   separation).
"""

import hashlib
from collections.abc import Mapping
from typing import Any, assert_never

import orjson

from mcpguard.codec.canonical import Scalar, canonical_json
from mcpguard.domain.calls.bodies import Body, DigestedBody, KeptBody
from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Verdict
from mcpguard.domain.reasons import Reason
from mcpguard.domain.screening import ScreeningResult
from mcpguard.policy.secrets.detection import may_hold
from mcpguard.policy.secrets.masking import mask_secrets

VERSION = 1
RECORD_TAG = b"mcpguard/record/1\0"
BODY_TAG = b"mcpguard/body/1\0"
CHECKPOINT_TAG = b"mcpguard/checkpoint/1\0"
KEY_TAG = b"mcpguard/key/1\0"
GENESIS = bytes(32)
SALT_BYTES = 16

Fields = Mapping[str, Scalar]
FREE_TEXTS = ("caller_label", "client", "intent_reason", "name", "operation", "selection", "trace", "why", "words")
"""The fields with free text of people, agents and servers, in which secrets are masked."""


def recordable(fields: Fields) -> Fields:
    """The fields as they are recorded, secrets masked. Raises Unrecordable for what no record can hold."""
    words = {name: said for name in FREE_TEXTS if isinstance(said := fields.get(name), str)}
    # Free text may hold secrets that agents pasted; the log must not become a place to find them. Searched as masking
    # writes it, without the names, which are of no secret. Nearly always there is nothing in it.
    text = '="' + '"\n="'.join(words.values()) + '"'
    if may_hold(text.encode(errors="replace")):
        fields = {**fields, **mask_secrets(words, maybe=True).value}
    # Here it fails one call; on the writer's thread it would fail all that share its transaction.
    canonical_json(fields)
    return fields


def link(previous: bytes, content: bytes) -> bytes:
    """The hash of a record that follows the one whose hash is `previous`."""
    # The previous hash has a fixed length, so no content can shift into it.
    return hashlib.sha256(RECORD_TAG + previous + content).digest()


def body_digest(salt: bytes, content: bytes) -> str:
    # The salt keeps a short body from being guessed from its digest once the body is pruned.
    return "sha256:" + hashlib.sha256(BODY_TAG + salt + content).hexdigest()


def parse_content(content: bytes | None) -> Mapping[str, Any]:
    """The fields of a record's content; empty if it is not a JSON object. Its hash is not checked."""
    try:
        # Not the strict parser: verifying must say something about whatever is stored.
        said = orjson.loads(content or b"")
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def opening_fields(opening: Opening) -> dict[str, Scalar]:
    """The fields of an opening, without its arguments."""
    return without_empty(
        entry=opening.entry,
        caller=opening.caller.id,
        caller_label=opening.caller.label,
        client=opening.client,
        address=opening.peer.address,
        certificate=opening.peer.certificate,
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
        allowance=opening.allowance,
        secrets=" ".join(opening.secrets),
        by=opening.by,
        parent=opening.parent,
        verdict=opening.verdict.word,
        reason=None if opening.verdict.reason is None else opening.verdict.reason.value,
    )


def released_fields(entry: str, verdict: Verdict, call: Fields) -> dict[str, Scalar]:
    """The fields of the record that ends a hold."""
    reason = None if verdict.reason is None else verdict.reason.value
    return {**call, **without_empty(entry=entry, verdict=verdict.word, reason=reason)}


CALL_FIELDS = ("caller", "caller_label", "server", "capability", "name", "effect")
"""The fields of its opening that every later record of a call repeats, so that each can be found and read alone."""


def call_fields(opened: Fields) -> dict[str, Scalar]:
    """The fields that the later records of a call repeat from its opening."""
    return {name: opened[name] for name in CALL_FIELDS if name in opened}


def closing_fields(
    entry: str, outcome: Outcome, took_us: int | None, call: Fields, *, late: bool = False
) -> dict[str, Scalar]:
    """The fields of a closing, without its reply. `call`: the fields that it repeats from the opening."""
    fields = {**call, "entry": entry, "outcome": outcome.kind.value, "executed": outcome.executed.value}
    if outcome.reason is not None:
        fields["reason"] = outcome.reason.value
    if took_us is not None:
        fields["took_us"] = took_us
    if late:
        fields["late"] = True
    if outcome.screened is not None:
        fields |= _screened(outcome.screened)
    return fields


def crashed_run_fields(ran: Mapping[str, Any]) -> dict[str, Scalar]:
    """The fields of the end of a run that the guard did not live to record. `ran`: what was recorded when it began."""
    who = {name: ran[name] for name in ("entry", "caller", "caller_label") if name in ran}
    return {**who, "outcome": OutcomeKind.UNKNOWN.value, "reason": Reason.GUARD_CRASHED.value, "late": True}


def _screened(screened: ScreeningResult) -> dict[str, Scalar]:
    found, masked = " ".join(screened.found), screened.masked or None
    return without_empty(screened=screened.mode.value, found=found, masked=masked)


def body_fields(body: Body, salt: bytes) -> dict[str, Scalar]:
    """The fields with which a record describes its body."""
    match body:
        case KeptBody(masked, keyed):
            fields: dict[str, Scalar] = {"body_size": len(masked), "body_digest": body_digest(salt, masked)}
            return fields | without_empty(body_kept=True, body_hmac=keyed)
        case DigestedBody(size, digest, too_large):
            fields = {"body_size": size, "body_digest": digest, "body_kept": False}
            return fields | {"body_too_large": True} if too_large else fields
        case _:
            assert_never(body)


def without_empty(**fields: Scalar) -> dict[str, Scalar]:
    """Return the fields of a record that say something."""
    return {key: value for key, value in fields.items() if value is not None and value != ""}
