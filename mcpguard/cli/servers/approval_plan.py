"""What `server approve` is about to approve: as it is printed, and as it is sent.

What is sent as seen is exactly what was printed. If anything of it stands differently by then, the guard approves
nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import typer

from mcpguard.cli.servers.choices import Capability, chosen, default_effect, effects_given, key_of
from mcpguard.cli.servers.server_tables import TASKS, findings, grave_rules, short
from mcpguard.cli.shared.options import Confining
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import ITSELF, Key
from mcpguard.text.visible import visible

_ALL: Final = "all"
HEAD: Final = ("capability", "what happens", "effect", "fingerprint", "findings")


@dataclass(frozen=True, slots=True)
class ApprovalPlan:
    """An approval that was not sent yet. `only` None: everything that can be approved."""

    server: dict[str, Any]
    only: frozenset[Key] | None
    effects: dict[str, Effect]
    left_out: frozenset[Key] = frozenset()

    @property
    def approved(self) -> list[Capability]:
        return [each for each in self.server["capabilities"] if self._left(each) is None]

    def rows(self) -> Iterator[tuple[str, ...]]:
        for each in self.server["capabilities"]:
            left = self._left(each)
            effect = self._effect(each) if left is None else ""
            approved = "is approved" + (TASKS if each["needs_tasks"] else "")
            yield write_key(key_of(each)), left or approved, effect, short(each["fingerprint"]), findings(each)

    def body(self, why: str) -> dict[str, object]:
        capabilities = self.server["capabilities"]
        seen = {
            "launch": self.server["fingerprint"],
            "observed": self.server["observed"],
            "capabilities": {write_key(key_of(each)): each["fingerprint"] for each in capabilities if each["present"]},
        }
        only = {} if self.only is None else {"only": sorted(map(write_key, self.only))}
        left = {"left_out": sorted(map(write_key, self.left_out))} if self.left_out else {}
        return {"why": why, "seen": seen, "effects": self.effects, **only, **left}

    def otherwise(self, approved: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
        """What was approved with another effect than was printed; nobody should have to look for that."""
        printed = {key_of(each): self._assigned(each)[0] for each in self.approved}
        for each in approved:
            key = key_of(each)
            expected = printed.get(key, "nothing")
            if expected not in (None, each["effect"]):
                yield write_key(key), expected, each["effect"]

    def _left(self, capability: Capability) -> str | None:
        """Why it is not approved. None if it is."""
        if capability["standing"] == "blocked":
            return "stays blocked"
        if not capability["present"]:
            return "is gone"
        if capability["fingerprint"] is None:
            return "cannot be read"
        if key_of(capability) in self.left_out:
            return "is left out"
        if self.only is not None and key_of(capability) not in self.only:
            return "stays as it is"
        return None

    def _assigned(self, capability: Capability) -> tuple[Effect | None, bool]:
        """The effect, and whether it was given."""
        kind, name = key_of(capability)
        if kind is CapabilityKind.TOOL and name in self.effects:
            return self.effects[name], True
        if capability["standing"] == "approved" and capability["assigned"]:
            return Effect(capability["assigned"]), False
        return default_effect(capability), False

    def _effect(self, capability: Capability) -> str:
        effect, given = self._assigned(capability)
        if effect is None:
            return "as the guard finds"
        if capability["kind"] != CapabilityKind.TOOL:
            return effect
        before = capability["assigned"]
        default = "as it was" if capability["standing"] == "approved" else "careful default"
        said = f"{effect} ({'given' if given else default})"
        return said if before in (None, effect) else f"{said}, was {before}"


@dataclass(frozen=True, slots=True)
class Further:
    """What of the server itself an approval changes besides; of what is empty or None nothing."""

    prefixes: list[str]
    may_ask: list[AskKind]
    sandbox: Confining | None
    mounts: list[str]

    def body(self) -> dict[str, object]:
        given = {"prefixes": self.prefixes, "may_ask": self.may_ask, "sandbox": self.sandbox, "mounts": self.mounts}
        return {name: said for name, said in given.items() if said}

    def sentences(self) -> Iterator[str]:
        yield from (f"readable: every resource below {visible(prefix)}" for prefix in self.prefixes)
        if self.may_ask:
            yield f"may ask clients for: {', '.join(self.may_ask)}"
        if self.sandbox:
            yield f"sandbox from now on: {self.sandbox}"
        if self.mounts:
            yield f"sees from now on: {visible(', '.join(self.mounts))}"


def findings_said(server: dict[str, Any], words: Iterable[str]) -> dict[str, list[str]]:
    """The grave findings that these words say were read: those that the guard has just told of."""
    every = {ITSELF: server} | {write_key(key_of(each)): each for each in server["capabilities"]}
    meant: set[str] = set()
    for word in words:
        if word == _ALL:
            meant |= every.keys()
        elif word == ITSELF:
            meant.add(ITSELF)
        else:
            meant |= {*map(write_key, chosen([word], server["capabilities"], "--findings-read"))}
    return {name: rules for name in sorted(meant) if (rules := grave_rules(every[name]))}


def plan(
    server: dict[str, Any], only: list[str] | None, effects: Iterable[str], leave_out: Iterable[str] = ()
) -> ApprovalPlan:
    """What these words mean for this server. Words that mean nothing are wrong use."""
    capabilities = server["capabilities"]
    keys = chosen([word for word in only if word != ITSELF], capabilities) if only else None
    given = effects_given(effects, capabilities)
    for name in given:
        if keys is not None and (CapabilityKind.TOOL, name) not in keys:
            raise typer.BadParameter(f"{visible(name)} is not among what is approved", param_hint="--effect")
    left_out = chosen(leave_out, capabilities, "--leave-out")
    if both := (keys or frozenset()) & left_out:
        wrong = ", ".join(visible(write_key(key)) for key in sorted(both))
        raise typer.BadParameter(f"{wrong} is approved by --only", param_hint="--leave-out")
    return ApprovalPlan(server, keys, given, left_out)
