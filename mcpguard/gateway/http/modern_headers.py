"""Checks what a self-contained request says of itself, in its body and again in its headers.

The codes and statuses are those of the MCP SDK, which is too slow to load for this (tests compare the two).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from mcpguard.codec import envelope
from mcpguard.codec.headers.header_values import NAMED_BY, decode_header
from mcpguard.codec.messages import INVALID_REQUEST, PARSE_ERROR
from mcpguard.gateway.http.plain import HEADER_MISMATCH, HttpRefusal
from mcpguard.gateway.wire import INVALID_PARAMS, METHOD_NOT_FOUND

MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022
STATUSES: Final[Mapping[int, int]] = MappingProxyType(
    {
        PARSE_ERROR: 400,
        INVALID_REQUEST: 400,
        INVALID_PARAMS: 400,
        HEADER_MISMATCH: 400,
        MISSING_CAPABILITY: 400,
        UNSUPPORTED_VERSION: 400,
        METHOD_NOT_FOUND: 404,
    }
)
"""The HTTP status for the code of an error."""
VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"
_ROUTING: Final = (VERSION, METHOD, NAME)
_NEEDED: Final = (envelope.PROTOCOL, envelope.CAPABILITIES)


def duplicated_header(twice: Iterable[str]) -> str | None:
    """Return the first of the headers that appear twice that decides where a request goes; None if none does."""
    return next((name for name in twice if name in _ROUTING), None)


def check_version(version: str) -> None:
    """Raise HttpRefusal unless the revision is one of the modern era."""
    if version not in envelope.MODERN:
        said = {"supported": [*envelope.MODERN], "requested": version}
        raise _refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", said)


def read_revision(method: str, params: Mapping[str, Any] | None, headers: Mapping[str, str]) -> str:
    """Return the revision that a request is of. Raises HttpRefusal for a body that says nothing, or other headers."""
    meta = params.get("_meta") if params else None
    if not isinstance(meta, dict):
        keys = " and ".join(map(repr, _NEEDED))
        raise _refusal(INVALID_PARAMS, f"params._meta has to be an object with {keys}")
    if envelope.PROTOCOL not in meta or envelope.CAPABILITIES not in meta:
        missing = [key for key in _NEEDED if key not in meta]
        raise _refusal(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = meta[envelope.PROTOCOL]
    # A client that contradicts itself is told so first, whatever revision it speaks.
    if not isinstance(version, str) or headers.get(VERSION) != version:
        raise _mismatch(VERSION, "protocol version in params._meta")
    if headers.get(METHOD) != method:
        raise _mismatch(METHOD, "method of the request")
    named_by = NAMED_BY.get(method)
    name = params.get(named_by) if params and named_by else None
    said = headers.get(NAME)
    # A value that is as it was written needs no decoding, unless its form stands for another one.
    if name is not None and (said is None or said != name or "=?" in said) and decode_header(said) != name:
        raise _mismatch(NAME, f"parameter {named_by!r} of the request")
    if version not in envelope.MODERN:
        check_version(version)
    return version


def _mismatch(header: str, what: str) -> HttpRefusal:
    return _refusal(HEADER_MISMATCH, f"the header {header} differs from the {what}")


def _refusal(code: int, sentence: str, data: Mapping[str, Any] | None = None) -> HttpRefusal:
    return HttpRefusal(STATUSES[code], code, sentence, "envelope", data=data)
