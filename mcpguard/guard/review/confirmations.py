"""The findings that a reviewer must confirm before something becomes callable: the only place that decides it.

Rules kept here:
1. Nothing with grave findings becomes callable, or gets a less careful effect, before a reviewer has confirmed reading
   these findings, each by its rule. A finding that appeared meanwhile is not confirmed.
2. What was approved unchanged before stays callable. If it has unconfirmed grave findings (the approval is older than
   this rule, or the finding is newer), the inbox lists it until a reviewer confirms them.
3. Pages, the API and commands pass confirmations on. None of them decides whether they suffice.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from mcpguard.domain.capabilities import Effect
from mcpguard.domain.decisions import SERVER_ITSELF, CapabilityKey, ConfirmedFindings, Unread
from mcpguard.domain.findings import InspectionFindings, Severity
from mcpguard.domain.servers.pins import Pin
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.guard.servers.registry import ServerState

_CARE = tuple(Effect)


@dataclass(frozen=True, slots=True)
class FindingsToConfirm:
    """What an approval of a whole server would have to confirm. `rules`: of the grave findings in each part of it, None
    for its launch; `severities`: how many grave findings these parts have of each severity, the worst first."""

    rules: Mapping[CapabilityKey | None, frozenset[str]]
    severities: tuple[tuple[str, int], ...]


def findings_to_confirm(known: ServerState) -> FindingsToConfirm:
    """Everything grave in the server as it is now that nobody has confirmed reading yet."""
    rules = _rules_to_confirm(known)
    counts = Counter(each.severity for key in rules for each in _part(known, key).findings if each.grave)
    return FindingsToConfirm(rules, tuple((each.value, counts[each]) for each in reversed(Severity) if counts[each]))


def grave_rules(known: ServerState, key: CapabilityKey) -> frozenset[str]:
    """The rules of all grave findings in one capability, which an answer about it alone can confirm."""
    return known.findings_in(key).grave


def missing_confirmations(known: ServerState, pin: Pin, effect: Effect, read: ConfirmedFindings) -> frozenset[str]:
    """The rules that keep this capability from being approved with this effect, as `read` does not confirm them."""
    key = pin.kind, pin.name
    # Assigning a less careful effect lets more callers use it, so that counts as an approval of its own.
    widens = not pin.callable or pin.effect is None or _CARE.index(effect) < _CARE.index(pin.effect)
    return grave_rules(known, key) - read.get(key, frozenset()) if widens else frozenset()


def check_launch_confirmed(known: ServerState, read: ConfirmedFindings) -> None:
    """Raise Unread where a server that is not approved has grave findings in its launch that `read` leaves out."""
    left = known.launch_findings.grave - read.get(None, frozenset())
    if left and known.upstream.standing is not UpstreamStanding.APPROVED:
        raise Unread(f"{SERVER_ITSELF} {known.name}", left)


def confirmed_rules(rules: frozenset[str], read: frozenset[str] | None) -> frozenset[str]:
    """Which of the grave findings that are there somebody has confirmed reading."""
    return rules & (read or frozenset())


def confirmed_field(rules: frozenset[str], read: frozenset[str] | None) -> str:
    """The confirmed rules in the form in which they are recorded."""
    return " ".join(sorted(confirmed_rules(rules, read)))


def _rules_to_confirm(known: ServerState) -> Mapping[CapabilityKey | None, frozenset[str]]:
    rules = dict(known.unread_approvals())
    if known.launch_findings.grave and known.upstream.standing is not UpstreamStanding.APPROVED:
        rules[None] = known.launch_findings.grave
    for key, pin in known.pins.items():
        grave = grave_rules(known, key)
        if grave and pin.present and not pin.callable and not pin.is_blocked and pin.listed is not None:
            rules[key] = grave
    return rules


def _part(known: ServerState, key: CapabilityKey | None) -> InspectionFindings:
    return known.launch_findings if key is None else known.findings_in(key)
