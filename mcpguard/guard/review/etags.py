"""Tags of servers and capabilities, for `ETag` and `If-Match`.

A tag changes with everything that a reviewer decides about: the declaration, launch, status, definitions and approvals.
The state of the connection to a server does not count.
"""

import hashlib

from mcpguard.codec.messages import dumps
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.registry import ServerState


def of_server(known: ServerState) -> str:
    """The tag of a server with all its capabilities."""
    return _tag("server", *_own(known), [_pin(pin) for _, pin in sorted(known.pins.items())])


def of_capability(known: ServerState, key: CapabilityKey) -> str:
    """The tag of one capability and of its server. Raises Unknown."""
    return _tag("capability", *_own(known), _pin(known.pin(key)))


def _own(known: ServerState) -> tuple[object, ...]:
    upstream, identity = known.upstream, known.upstream.identity
    launch = None if identity is None else identity.launch.text
    observed = None if identity is None or identity.observed is None else identity.observed.text
    return upstream.id, upstream.generation, upstream.revision, upstream.standing.value, known.enabled, launch, observed


def _pin(pin: Pin) -> list[object]:
    listed, approved = (each and each.text for each in (pin.listed, pin.approved))
    return [pin.kind.value, pin.name, pin.generation, pin.standing.value, pin.present, listed, approved]


def _tag(*of: object) -> str:
    return hashlib.sha256(dumps(list(of))).hexdigest()[:32]
