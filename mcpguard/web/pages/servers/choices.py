"""What was on the page of a server, and what was chosen of it, as a form carries both.

Rules kept here:
1. A name may be anything, so it never names a field: capabilities are numbered, and the list says which is which.
2. What a form claims was seen is not trusted: it is compared with the present state.
3. Whatever was chosen is chosen again on the page that comes back, by kind and name, as far as it still exists.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.decisions import SERVER_ITSELF, CapabilityKey, ConfirmedFindings, ReviewedVersions
from mcpguard.domain.errors import GuardError
from mcpguard.domain.findings import Severity
from mcpguard.domain.json import Json
from mcpguard.domain.servers.launches import Profile
from mcpguard.policy.effects import careful_effect as most_careful
from mcpguard.web.forms import Misshapen, SentForm

MOST_ROWS: Final = 1000
_CLEAN: Final = (Severity.INFO, Severity.LOW)


@dataclass(frozen=True, slots=True)
class ChosenCapabilities:
    """What was seen, which capabilities were chosen, and with which effects."""

    seen: ReviewedVersions
    keys: frozenset[CapabilityKey]
    effects: Mapping[CapabilityKey, Effect]


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """A capability on the page. `number` is that of its checkbox; None where it cannot be chosen."""

    said: Json
    key: CapabilityKey
    number: int | None
    chosen: bool
    effect: str


def write_seen(seen: ReviewedVersions) -> str:
    """Write what is on a page, to be sent back with the decision."""
    listed = [[kind.value, name, print_ and print_.text] for (kind, name), print_ in sorted(seen.capabilities.items())]
    observed = seen.observed and seen.observed.text
    return json.dumps({"launch": seen.launch.text, "observed": observed, "capabilities": listed})


def read_choice(given: SentForm) -> ChosenCapabilities | None:
    """Read what a form says; None where no page of ours could have sent it."""
    try:
        match json.loads(given.one("looked")):
            case {"launch": str(launch), "observed": observed, "capabilities": [*listed]}:
                keys = [(CapabilityKind(kind), str(name)) for kind, name, _ in listed]
                prints = {key: _print(each[2]) for key, each in zip(keys, listed, strict=True)}
            case _:
                return None
        seen = ReviewedVersions(Fingerprint(launch), _print(observed), prints)
        picked = frozenset(keys[_place(text, keys)] for text in given.every("choose"))
        words = given.beginning("effect:").items()
        return ChosenCapabilities(seen, picked, {keys[_place(place, keys)]: Effect(word) for place, word in words})
    except (GuardError, ValueError, TypeError, RecursionError):
        return None


def effects(typed: ChosenCapabilities) -> dict[str, Effect]:
    """Return the effects of the chosen tools."""
    return {
        name: effect
        for (kind, name), effect in typed.effects.items()
        if kind is CapabilityKind.TOOL and (kind, name) in typed.keys
    }


def written_out(read: ConfirmedFindings) -> str:
    """Write which findings have to be read, as the form sends it back once they are confirmed."""
    return json.dumps([[*(key or (SERVER_ITSELF, "")), sorted(rules)] for key, rules in read.items()])


def read_of(given: SentForm) -> ConfirmedFindings:
    """Return which findings a form confirms as read. Raises Misshapen."""
    try:
        every = json.loads(given.one("read") or "[]")
        return {
            None if kind == SERVER_ITSELF else (CapabilityKind(kind), str(name)): frozenset(map(str, rules))
            for kind, name, rules in every
        }
    except (ValueError, TypeError, RecursionError):
        raise Misshapen(400, "the form is incomplete; reload the page and try again") from None


def confinement_of(given: SentForm) -> tuple[Profile | None, tuple[str, ...] | None]:
    """Return the sandbox that a form chooses for the server; None where it chooses none. Raises Misshapen."""
    if not given.one("sandbox"):
        return None, None
    try:
        profile = Profile(given.one("sandbox"))
    except ValueError:
        raise Misshapen(400, "unknown sandbox; reload the page and try again") from None
    return profile, tuple(line.strip() for line in given.one("mounts").splitlines() if line.strip())


def rows(
    capabilities: Sequence[Json], seen: ReviewedVersions, typed: ChosenCapabilities | None, *, clean: bool = False
) -> list[ChoiceRow]:
    """Return what is listed now, with what is chosen of it. `clean` also chooses everything without findings above low.
    Nothing else is chosen beforehand but what is approved already.
    """
    numbers = {key: number for number, key in enumerate(sorted(seen.capabilities))}
    return [
        _row(each, key, numbers[key], typed, clean=clean)
        for each in capabilities
        if each["present"] and (key := (CapabilityKind(each["kind"]), each["name"])) in numbers
    ][:MOST_ROWS]


def _row(each: Json, key: CapabilityKey, number: int, typed: ChosenCapabilities | None, *, clean: bool) -> ChoiceRow:
    can = each["fingerprint"] is not None and each["standing"] != "blocked"
    picked = key in typed.keys if typed is not None else each["callable"]
    picked = picked or (clean and all(found["severity"] in _CLEAN and not found["hard"] for found in each["findings"]))
    effect = each["assigned"] or careful_effect(each)
    if typed is not None and key in typed.effects:
        effect = typed.effects[key].value
    return ChoiceRow(each, key, number if can else None, can and picked, effect)


def careful_effect(each: Json) -> str:
    """Return the effect that a tool gets unless a reviewer chooses another."""
    declared, suggested = each["declared"], each["suggested"]
    if suggested is None:
        return Effect.READ.value
    return most_careful(Effect(declared) if declared else None, Effect(suggested)).value


def _place(text: str, keys: Sequence[CapabilityKey]) -> int:
    """Return the place of a capability. Raises ValueError if it is none of them."""
    place = int(text) if text.isdecimal() and text.isascii() and len(text) < 8 else -1
    if not 0 <= place < len(keys):
        raise ValueError("no such place")
    return place


def _print(text: Any) -> Fingerprint | None:  # noqa: ANN401 - JSON of a form
    """Return a fingerprint. Raises InvalidName and TypeError."""
    return None if text is None else Fingerprint(text)
