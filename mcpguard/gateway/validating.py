"""Whether a request has the form of its method in the client's revision, and nothing beside. No value is repeated."""

from collections.abc import Mapping
from typing import Any

from mcp_types.methods import validate_client_request
from pydantic import ValidationError

from mcpguard.codec import envelope
from mcpguard.codec.members import TASK, unknown
from mcpguard.gateway.wire import INVALID_PARAMS, METHOD_NOT_FOUND, Rejected
from mcpguard.text.visible import visible

MOST_ERRORS = 100
Params = Mapping[str, Any]


def validate(method: str, version: str, params: Params) -> None:
    if method == "shutdown" and version in envelope.HANDSHAKE:
        return  # no method of any revision, but older clients say it
    wrong = ""
    try:
        validate_client_request(method, version, params)
    except KeyError:
        raise unknown_method() from None
    except ValidationError as error:
        wrong = f"the parameters are not those of {method}: {_where(error)}"
    if (name := unknown(method, version, params)) is not None:
        wrong = _beside(method, name)
    if wrong:
        raise invalid(wrong)


def _beside(method: str, name: str) -> str:
    if name == TASK:
        return "task: calls as tasks are not carried; call without it"
    return f"{method} has no parameter {visible(name[:200])} in this revision of the protocol"


def _where(error: ValidationError) -> str:
    """What is wrong first; where there is very much wrong, looking for it would take long."""
    if error.error_count() > MOST_ERRORS:
        return "most of them"
    parts = (str(part) for part in error.errors(include_input=False)[0]["loc"] if part != "params")
    return visible(".".join(parts)[:200])


def unknown_method() -> Rejected:
    return Rejected(METHOD_NOT_FOUND, "there is no such method in this revision of the protocol", "method")


def invalid(sentence: str) -> Rejected:
    return Rejected(INVALID_PARAMS, sentence, "parameters")
