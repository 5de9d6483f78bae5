"""Tags: short names for how a server, or a capability of one, stands at a moment.

A tag is another one as soon as there is anything else to decide about: another declaration, launch or standing, another
definition, another approval. How the connection to a server is does not count.
"""

import hashlib

from mcpguard.codec.messages import dumps
from mcpguard.domain.decisions import Key, Unknown
from mcpguard.domain.servers.pins import Pin
from mcpguard.guard.servers.registry import ServerState


def of_server(known: ServerState) -> str:
    """How the server stands, with all that it offers."""
    return _tag("server", *_own(known), [_pin(pin) for _, pin in sorted(known.pins.items())])


def of_capability(known: ServerState, key: Key) -> str:
    """How the capability stands, and its server. Raises Unknown."""
    pin = known.pins.get(key)
    if pin is None:
        raise Unknown(f"{known.name} has no {key[0]} {key[1]}; mcpguard tool list {known.name} shows what it has")
    return _tag("capability", *_own(known), _pin(pin))


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
