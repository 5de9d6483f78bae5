"""Compares values of settings that carry trust.

Rules kept here:
1. Each comparison returns a value that allows only what both values allow. It is never looser than either.
2. A value is looser than the confirmed one if it differs from the result of that comparison. An unreadable value allows
   nothing.
"""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from mcpguard.codec.demands import ANY, demand
from mcpguard.codec.globs import covers
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.json import SettingValue
from mcpguard.settings.fields import TrustMark

_Network = IPv4Network | IPv6Network


def strictest_first(*ranks: str) -> TrustMark:
    """Return the mark of a setting that is one of these words, the strictest first."""

    def stricter(confirmed: SettingValue, now: SettingValue) -> SettingValue:
        return ranks[
            min(ranks.index(each) if isinstance(each, str) and each in ranks else 0 for each in (confirmed, now))
        ]

    return TrustMark(stricter)


def lower_is_stricter(least: int) -> TrustMark:
    """Return the mark of a number of which a lower value is stricter; `least` is its minimum."""

    def less(confirmed: SettingValue, now: SettingValue) -> SettingValue:
        numbers = [each for each in (confirmed, now) if isinstance(each, int) and not isinstance(each, bool)]
        return max(min(numbers), least) if len(numbers) == 2 else least

    return TrustMark(less)


def looser_than(trust: TrustMark, confirmed: SettingValue, now: SettingValue) -> bool:
    """Tell whether the value is looser than the confirmed one."""
    return _plain(trust.agreed(confirmed, now)) != _plain(now)


def _longer(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    """Return the greater number; None, which is no limit, is greater than any."""
    numbers = [each for each in (confirmed, now) if isinstance(each, int) and not isinstance(each, bool) and each > 0]
    return max(numbers) if len(numbers) == 2 else None


def _common(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    known = _listed(confirmed)
    return [each for each in _listed(now) if each in known]


def _either(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    """Return all phrases of both. An unreadable phrase counts as one about all calls."""
    known = confirmed if isinstance(confirmed, list) else [""]
    return list(dict.fromkeys((*_listed(now), *(each if _is_phrase(each) else ANY for each in known))))


def _is_phrase(text: str) -> bool:
    try:
        return bool(demand(text).text)
    except InvalidName:
        return False


def _same(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    return now if now == confirmed else None


def _both(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    return confirmed is True and now is True


def _narrower(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    """Return, of every two patterns of which one covers the other, the narrower one."""
    known = _listed(confirmed)
    return list(dict.fromkeys(part for each in _listed(now) for part in _covered(each, known)))


def _covered(pattern: str, known: Iterable[str]) -> Iterator[str]:
    for other in known:
        if covers(other, pattern):
            yield pattern
        elif covers(pattern, other):
            yield other


def _overlap(confirmed: SettingValue, now: SettingValue) -> SettingValue:
    """Return the networks that are part of both."""
    known = [*_networks(_listed(confirmed))]
    return list(dict.fromkeys(str(part) for each in _networks(_listed(now)) for part in _parts(each, known)))


def _parts(network: _Network, known: Iterable[_Network]) -> Iterator[_Network]:
    for other in known:
        if _within(network, other):
            yield network
        elif _within(other, network):
            yield other


def _within(inner: _Network, outer: _Network) -> bool:
    if isinstance(inner, IPv4Network):
        return isinstance(outer, IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and inner.subnet_of(outer)


def _networks(texts: Iterable[str]) -> Iterator[_Network]:
    for text in texts:
        try:
            yield ip_network(text)
        except ValueError:
            continue


def _listed(value: SettingValue) -> list[str]:
    return value if isinstance(value, list) else []


def _plain(value: SettingValue) -> object:
    return frozenset(value) if isinstance(value, list) else value


Each: Final = TrustMark(_common)
"""The mark of a list of which every entry loosens protection."""
Off: Final = TrustMark(_both)
"""The mark of a switch that loosens protection when it is on."""
Destination: Final = TrustMark(_same)
"""The mark of a destination to which data is sent, None if it is not."""
Patterns: Final = TrustMark(_narrower)
"""The mark of a list of patterns that widen a scope."""
Demands: Final = TrustMark(_either)
"""The mark of a list of which every entry tightens protection."""
Networks: Final = TrustMark(_overlap)
"""The mark of a list of networks that may be contacted."""
AtLeast: Final = TrustMark(_longer)
"""The mark of a retention limit, None for none: a lower one removes more."""
