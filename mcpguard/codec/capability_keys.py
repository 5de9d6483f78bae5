"""Reads and writes the text form of a capability of one server: `kind:name`.

The kind ends at the first colon; everything after it is the name, which may contain further colons, as URIs do.
"""

from typing import Final

from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.errors import InvalidName

_KINDS: Final = frozenset(kind.value for kind in CapabilityKind)


def parse_key(text: str) -> CapabilityKey:
    """Return the kind and the name. Raises InvalidName."""
    kind, colon, name = text.partition(":")
    if not colon or not name or kind not in _KINDS:
        raise InvalidName(f"write a capability as kind:name; kinds are {', '.join(CapabilityKind)}")
    return CapabilityKind(kind), name


def write_key(key: CapabilityKey) -> str:
    """Return the key as `parse_key` reads it."""
    kind, name = key
    return f"{kind.value}:{name}"
