"""What `server approve` is about to approve: as it is printed, and as it is sent.

What is sent as seen is exactly what was printed. If anything of it stands differently by then, the guard approves
nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import typer

from mcpguard.cli.choosing import Capability, chosen, default_effect, effects_given, key_of
from mcpguard.cli.showing import findings, short
from mcpguard.codec.keyed import written
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import Key
from mcpguard.text.visible import visible

HEAD: Final = ("capability", "what happens", "effect", "fingerprint", "findings")


@dataclass(frozen=True, slots=True)
class Plan:
    """An approval that was not sent yet. `only` None: everything that can be approved."""

    server: dict[str, Any]
    only: frozenset[Key] | None
    effects: dict[str, Effect]

    @property
    def approved(self) -> list[Capability]:
        return [each for each in self.server["capabilities"] if self._left(each) is None]

    def rows(self) -> Iterator[tuple[str, ...]]:
        for each in self.server["capabilities"]:
            left = self._left(each)
            effect = self._effect(each) if left is None else ""
            yield written(key_of(each)), left or "is approved", effect, short(each["fingerprint"]), findings(each)

    def body(self, why: str) -> dict[str, object]:
        capabilities = self.server["capabilities"]
        seen = {
            "launch": self.server["fingerprint"],
            "observed": self.server["observed"],
            "capabilities": {written(key_of(each)): each["fingerprint"] for each in capabilities if each["present"]},
        }
        only = {} if self.only is None else {"only": sorted(map(written, self.only))}
        return {"why": why, "seen": seen, "effects": self.effects, **only}

    def otherwise(self, approved: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
        """What was approved with another effect than was printed; nobody should have to look for that."""
        printed = {key_of(each): self._assigned(each)[0] for each in self.approved}
        for each in approved:
            key = key_of(each)
            expected = printed.get(key, "nothing")
            if expected not in (None, each["effect"]):
                yield written(key), expected, each["effect"]

    def _left(self, capability: Capability) -> str | None:
        """Why it is not approved. None if it is."""
        if capability["standing"] == "blocked":
            return "stays blocked"
        if not capability["present"]:
            return "is gone"
        if capability["fingerprint"] is None:
            return "cannot be read"
        if self.only is not None and key_of(capability) not in self.only:
            return "waits: not chosen"
        return None

    def _assigned(self, capability: Capability) -> tuple[Effect | None, bool]:
        """The effect, and whether it was given."""
        kind, name = key_of(capability)
        if kind is CapabilityKind.TOOL and name in self.effects:
            return self.effects[name], True
        return default_effect(capability), False

    def _effect(self, capability: Capability) -> str:
        effect, given = self._assigned(capability)
        if effect is None:
            return "as the guard finds"
        if capability["kind"] != CapabilityKind.TOOL:
            return effect
        said = f"{effect} ({'given' if given else 'careful default'})"
        before = capability["assigned"]
        return said if before in (None, effect) else f"{said}, was {before}"


def plan(server: dict[str, Any], only: list[str] | None, effects: Iterable[str]) -> Plan:
    """What these words mean for this server. Words that mean nothing are wrong use."""
    capabilities = server["capabilities"]
    keys, given = chosen(only, capabilities) if only else None, effects_given(effects, capabilities)
    for name in given:
        if keys is not None and (CapabilityKind.TOOL, name) not in keys:
            raise typer.BadParameter(f"{visible(name)} is not among what is approved", param_hint="--effect")
    return Plan(server, keys, given)
