"""Finds the destinations outside that the arguments of a call name: hosts, e-mail addresses, telephone numbers.

Hosts that only this machine or a private network can have are not outside.
"""

import ipaddress
from collections.abc import Iterator
from typing import Final

from mcpguard.inspection.additions.destinations import Destination, find_destinations
from mcpguard.inspection.additions.new_destinations import shown_name

MOST_READ: Final = 200_000
"""Characters of the arguments that are searched."""
MOST_DESTINATIONS: Final = 20
_INSIDE: Final = ("localhost", "local", "internal", "lan", "home.arpa")
"""Top-level names that no public name server answers for."""


def outside_destinations(arguments: object) -> tuple[str, ...]:
    """Return the destinations in the arguments, in order, each once; letters that may deceive as code points."""
    found = dict.fromkeys(
        shown_name(each.name) for text in _texts(arguments) for each in find_destinations(text) if _is_outside(each)
    )
    return tuple(found)[:MOST_DESTINATIONS]


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value, member names too, until enough was read."""
    left, waiting = MOST_READ, [value]
    while waiting and left > 0:
        match waiting.pop():
            case str() as text:
                yield text[:left]
                left -= len(text)
            case list() as many:
                waiting += reversed(many)
            case dict() as members:
                waiting += reversed([each for member in members.items() for each in member])
            case _:
                pass


def _is_outside(destination: Destination) -> bool:
    host = destination.host.strip("[]")
    if not host:
        return True
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not any(host == each or host.endswith(f".{each}") for each in _INSIDE)
