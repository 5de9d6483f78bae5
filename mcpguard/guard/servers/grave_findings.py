"""What has to be read before something with grave findings can be called.

Rules kept here:
1. Nothing that has grave findings becomes callable, or callable as something less careful, before a person has said to
   have read these findings, each by its rule. Another finding that came meanwhile is unread.
2. What was approved before, as it is, stays callable. Where grave findings are in it that nobody confirmed reading
   (the approval is older than this rule, or the finding came later) the inbox names it until somebody has.
"""

from collections.abc import Mapping

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import ITSELF, Key, Read, Unread
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.servers.registry import ServerState

_CARE = tuple(Effect)


def unread_of(known: ServerState, pin: Pin, effect: Effect, read: Read) -> frozenset[str]:
    """The rules that keep this capability from being approved with this effect."""
    key = pin.kind, pin.name
    widens = not pin.callable or pin.effect is None or _CARE.index(effect) < _CARE.index(pin.effect)
    return known.inspected(key).grave - read.get(key, frozenset()) if widens else frozenset()


def check_itself(known: ServerState, read: Read) -> None:
    """Raises Unread where a server that is not approved has grave findings in its launch that nobody has read."""
    left = known.launched.grave - read.get(None, frozenset())
    if left and known.upstream.standing is not UpstreamStanding.APPROVED:
        raise Unread(f"{ITSELF} {known.name}", left)


def unread(known: ServerState) -> Mapping[Key | None, frozenset[str]]:
    """The grave findings in what is approved as it is, which nobody confirmed reading."""
    if known.upstream.standing is not UpstreamStanding.APPROVED:
        return {}
    found: dict[Key | None, frozenset[str]] = {None: known.launched.grave - known.upstream.findings_read}
    for key in known.found.of:
        pin = known.pins.get(key)
        if pin is not None and pin.callable:
            found[key] = known.inspected(key).grave - pin.findings_read
    return {key: rules for key, rules in found.items() if rules}


def to_read(known: ServerState) -> Mapping[Key | None, frozenset[str]]:
    """What an approval of the server as it stands would have to say: everything grave that nobody has read yet."""
    found = dict(unread(known))
    if known.launched.grave and known.upstream.standing is not UpstreamStanding.APPROVED:
        found[None] = known.launched.grave
    for key, pin in known.pins.items():
        rules = known.inspected(key).grave
        if rules and pin.present and not pin.callable and not pin.is_blocked and pin.listed is not None:
            found[key] = rules
    return found


def now_read(rules: frozenset[str], read: frozenset[str] | None) -> frozenset[str]:
    """Of the grave findings that are there, those that somebody says to have read."""
    return rules & (read or frozenset())


def said_read(rules: frozenset[str], read: frozenset[str] | None) -> str:
    """As it is recorded: the grave findings that were there and were said to be read."""
    return " ".join(sorted(now_read(rules, read)))
