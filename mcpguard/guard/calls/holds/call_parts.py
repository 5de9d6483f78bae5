"""What a call sends, in a form that can be compared with another call's: without what differs for each attempt, and as
keyed digests, so that whoever reads the database cannot test guesses.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from mcpguard.codec import envelope
from mcpguard.codec.messages import dumps
from mcpguard.codec.traces import parent
from mcpguard.domain.calls.allowances import FREE_TEXT, CallParts
from mcpguard.domain.capabilities import Fingerprint
from mcpguard.guard.calls.kept_bodies import Digests
from mcpguard.policy.arguments.argument_checks import CALL
from mcpguard.policy.secrets.masking import mask_secrets

if TYPE_CHECKING:
    from mcpguard.guard.calls.request import CallSubject

MOST_ARGUMENTS: Final = 40
"""With more arguments, nobody would look at each of them."""


@dataclass(frozen=True, slots=True)
class TellableParts:
    """The parts of a call with arguments that have names. `free_texts`: those that are probably free text."""

    same: CallParts
    free_texts: tuple[str, ...]


def call_parts(digests: Digests, subject: "CallSubject", by: Fingerprint | None) -> TellableParts | None:
    """Return the parts of a tool's call under the definition with this fingerprint. None where it has no arguments that
    a reviewer could choose from by name."""
    given = subject.given
    if given is None or given.method != CALL:
        return None
    sent = without_trace(given.params)
    arguments = {} if (named := sent.get("arguments")) is None else named
    if not isinstance(arguments, dict) or len(arguments) > MOST_ARGUMENTS:
        return None
    # Names are kept as they are: one that looks like a secret must not be.
    if mask_secrets([*arguments], maybe=True).count:
        return None
    of = subject.capability
    what = [subject.caller.id, of.server, of.kind.value, of.name, by.text if by else ""]

    def digest(name: str | None, value: object) -> str:
        return digests.keyed_digest(dumps([*what, name]) + b"\0" + sorted_json({"": value}))

    rest = {name: value for name, value in sent.items() if name != "arguments"}
    same = CallParts({name: digest(name, value) for name, value in arguments.items()}, digest(None, rest))
    long = (name for name, value in arguments.items() if isinstance(value, str) and len(value) >= FREE_TEXT)
    return TellableParts(same, tuple(long))


def without_trace(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters without a trace id, which is another one for each attempt.

    Only in the version whose form is known: a later one may end with any text.
    """
    said = envelope.meta(params)
    trace = said.get("traceparent")
    if not isinstance(trace, str) or not trace.startswith("00-") or parent(trace) is None:
        return params
    kept = {key: value for key, value in said.items() if key != "traceparent"}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return rest | {"_meta": kept} if kept else rest


def sorted_json(params: Mapping[str, Any]) -> bytes:
    """Return the parameters as JSON with sorted keys: agents may write the same arguments in another order."""
    try:
        return orjson.dumps(params, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # integers beyond 64 bits, which JSON has and orjson has not
        return json.dumps(params, sort_keys=True).encode()
