"""Computes the fingerprints to which approvals are bound.

Rules kept here:
1. A fingerprint covers all of a definition or identity, with one exception: members of a definition's `_meta` that the
   operator named as volatile. Their names are part of the fingerprint.
2. The hashed text is one exact JSON list (`codec/exact.py`): the form, the kind, the members left out, the definition
   or identity. It reads back as the same list, so that no two of them share a hashed text, whatever their kind.
3. The form v1 never changes. Another form, or another field of an identity, is another version.
"""

import hmac
from hashlib import sha256
from typing import Any, Final

from mcpguard.codec.exact import exact_json
from mcpguard.domain.capabilities import CapabilityKind, Fingerprint
from mcpguard.domain.servers.identity import GivenVariable, LaunchIdentity, ObservedIdentity

KEY_BYTES: Final = 32
_VERSION: Final = "v1"
_FORM: Final = f"mcpguard fingerprint {_VERSION}"
_LITERAL: Final = b"mcpguard literal v1"
"""Not JSON, so that it never equals a body that the same key digests for the ledger."""


def definition_fingerprint(
    kind: CapabilityKind, definition: object, without: frozenset[str] = frozenset()
) -> Fingerprint:
    """Return the fingerprint of a raw definition, or of the text of instructions. Raises Unreadable.

    `without`: members of its `_meta` to leave out. The rest of `_meta` stays, and so does an empty one.
    """
    return _fingerprint(kind.value, sorted(without), _reduced(definition, without))


def launch_fingerprint(identity: LaunchIdentity) -> Fingerprint:
    """Return the fingerprint of how a server is launched or reached. Raises Unreadable."""
    form: dict[str, Any] = {
        "transport": identity.transport.value,
        "command": identity.command,
        "arguments": list(identity.arguments),
        "folder": identity.folder,
        "framing": identity.framing.value if identity.framing else None,
        "environment": [_given(each) for each in identity.environment],
        "url": identity.url,
        "headers": [_given(each) for each in identity.headers],
        "profile": identity.profile.value,
        "mounts": [[each.path, each.writable] for each in identity.mounts],
    }
    return _fingerprint("launch", [], form)


def observed_fingerprint(identity: ObservedIdentity) -> Fingerprint:
    """Return the fingerprint of what a server says of itself, and of its artifact. Raises Unreadable."""
    form = {
        "server": dict(identity.server),
        "capabilities": dict(identity.capabilities),
        "artifact": identity.artifact,
    }
    return _fingerprint("observed", [], form)


def literal_digest(key: bytes, place: str, name: str, index: int, text: str) -> str:
    """Return a keyed digest of a literal text, the `index`th part of the value of `name`. Raises Unreadable.

    Without the key it reveals nothing, not even that two names have the same value.
    """
    if len(key) < KEY_BYTES:
        raise ValueError(f"the key must have {KEY_BYTES} bytes")
    own = hmac.digest(key, _LITERAL, "sha256")
    return "hmac-sha256:" + hmac.digest(own, exact_json([place, name, index, text]), "sha256").hex()


def _fingerprint(kind: str, without: list[str], thing: object) -> Fingerprint:
    return Fingerprint(f"{_VERSION}:{sha256(exact_json([_FORM, kind, without, thing])).hexdigest()}")


def _reduced(definition: object, without: frozenset[str]) -> object:
    meta = definition.get("_meta") if isinstance(definition, dict) else None
    if not isinstance(definition, dict) or not isinstance(meta, dict):
        return definition
    return {**definition, "_meta": {key: value for key, value in meta.items() if key not in without}}


def _given(given: GivenVariable) -> list[object]:
    return [given.name, [[part.kind.value, part.text] for part in given.parts]]
