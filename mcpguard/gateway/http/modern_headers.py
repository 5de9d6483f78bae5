"""Checks what a self-contained request says of itself, in its body and again in its headers.

The codes and statuses are those of the MCP SDK, which is too slow to load for this (tests compare the two).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
_VERSION: Final = "mcp-protocol-version"
_METHOD: Final = "mcp-method"
_NAME: Final = "mcp-name"
_ROUTING: Final = (_VERSION, _METHOD, _NAME)


@dataclass(frozen=True, slots=True)
class ModernClient:
    """What a request says of its client: the revision that it speaks, and what it says that it is."""

    version: str
    info: Any


def duplicated_header(pairs: Sequence[tuple[str, str]]) -> str | None:
    """Return a header that decides where a request goes and appears more than once; None if there is none."""
    names = [name.lower() for name, _ in pairs]
    return next((name for at, name in enumerate(names) if name in _ROUTING and name in names[:at]), None)


def check_version(version: str) -> None:
    """Raise HttpRefusal unless the revision is one of the modern era."""
    if version not in envelope.MODERN:
        said = {"supported": [*envelope.MODERN], "requested": version}
        raise _refusal(UNSUPPORTED_VERSION, "Unsupported protocol version", said)


def read_client(method: str, params: Mapping[str, Any] | None, headers: Mapping[str, str]) -> ModernClient:
    """Return what a request says of its client. Raises HttpRefusal for a body that says nothing, or other headers."""
    meta = (params or {}).get("_meta")
    needed = (envelope.PROTOCOL, envelope.CAPABILITIES)
    if not isinstance(meta, dict):
        keys = " and ".join(map(repr, needed))
        raise _refusal(INVALID_PARAMS, f"params._meta has to be an object with {keys}")
    if missing := [key for key in needed if key not in meta]:
        raise _refusal(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}")
    version = meta[envelope.PROTOCOL]
    # A client that contradicts itself is told so first, whatever revision it speaks.
    if not isinstance(version, str) or headers.get(_VERSION) != version:
        raise _mismatch(_VERSION, "protocol version in params._meta")
    if headers.get(_METHOD) != method:
        raise _mismatch(_METHOD, "method of the request")
    named_by = NAMED_BY.get(method)
    name = (params or {}).get(named_by) if named_by else None
    if name is not None and decode_header(headers.get(_NAME)) != name:
        raise _mismatch(_NAME, f"parameter {named_by!r} of the request")
    check_version(version)
    return ModernClient(version, meta.get(envelope.CLIENT))


def _mismatch(header: str, what: str) -> HttpRefusal:
    return _refusal(HEADER_MISMATCH, f"the header {header} differs from the {what}")


def _refusal(code: int, sentence: str, data: Mapping[str, Any] | None = None) -> HttpRefusal:
    return HttpRefusal(STATUSES[code], code, sentence, "envelope", data=data)
