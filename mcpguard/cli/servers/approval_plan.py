"""The approval that `server approve` prints and sends.

The guard is sent exactly what was printed. If any of it changed in the meantime, the guard approves nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import typer

from mcpguard.cli.servers.choices import Capability, choose_capabilities, default_effect, key_of, parse_effects
from mcpguard.cli.servers.server_tables import TASKS, findings, grave_rules, short
from mcpguard.cli.shared.options import Confining
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.asks import AskKind
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import SERVER_ITSELF, CapabilityKey
from mcpguard.text.visible import visible

_ALL: Final = "all"
HEAD: Final = ("capability", "what happens", "effect", "fingerprint", "findings")


@dataclass(frozen=True, slots=True)
class ApprovalPlan:
    """An approval that was not sent yet. `only`: the capabilities; None for all that can be approved."""

    server: dict[str, Any]
    only: frozenset[CapabilityKey] | None
    effects: dict[str, Effect]
    left_out: frozenset[CapabilityKey] = frozenset()

    @property
    def approved_capabilities(self) -> list[Capability]:
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

    def changed_effects(self, approved: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
        """The capabilities that were approved with another effect than was printed, with both effects."""
        printed = {key_of(each): self._assigned(each)[0] for each in self.approved_capabilities}
        for each in approved:
            key = key_of(each)
            expected = printed.get(key, "nothing")
            if expected not in (None, each["effect"]):
                yield write_key(key), expected, each["effect"]

    def _left(self, capability: Capability) -> str | None:
        """Why a capability is not approved; None if it is."""
        if capability["standing"] == "blocked":
            return "stays blocked"
        if not capability["present"]:
            return "is not listed any more"
        if capability["fingerprint"] is None:
            return "cannot be read"
        if key_of(capability) in self.left_out:
            return "is left out"
        if self.only is not None and key_of(capability) not in self.only:
            return "stays as it is"
        return None

    def _assigned(self, capability: Capability) -> tuple[Effect | None, bool]:
        """The effect of a capability, and whether it was given on the command line."""
        kind, name = key_of(capability)
        if kind is CapabilityKind.TOOL and name in self.effects:
            return self.effects[name], True
        if capability["standing"] == "approved" and capability["assigned"]:
            return Effect(capability["assigned"]), False
        return default_effect(capability), False

    def _effect(self, capability: Capability) -> str:
        effect, given = self._assigned(capability)
        if effect is None:
            return "assigned by the guard"
        if capability["kind"] != CapabilityKind.TOOL:
            return effect
        before = capability["assigned"]
        default = "as it was" if capability["standing"] == "approved" else "careful default"
        said = f"{effect} ({'given' if given else default})"
        return said if before in (None, effect) else f"{said}, was {before}"


@dataclass(frozen=True, slots=True)
class FurtherChanges:
    """What an approval changes about the server itself. What is empty or None stays unchanged."""

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
            yield f"may request of clients: {', '.join(self.may_ask)}"
        if self.sandbox:
            yield f"sandbox from now on: {self.sandbox}"
        if self.mounts:
            yield f"folders it sees from now on: {visible(', '.join(self.mounts))}"


def parse_findings_read(server: dict[str, Any], words: Iterable[str]) -> dict[str, list[str]]:
    """The grave findings that these words confirm as read, of those that the guard just listed."""
    every = {SERVER_ITSELF: server} | {write_key(key_of(each)): each for each in server["capabilities"]}
    meant: set[str] = set()
    for word in words:
        if word == _ALL:
            meant |= every.keys()
        elif word == SERVER_ITSELF:
            meant.add(SERVER_ITSELF)
        else:
            meant |= {*map(write_key, choose_capabilities([word], server["capabilities"], "--findings-read"))}
    return {name: rules for name in sorted(meant) if (rules := grave_rules(every[name]))}


def plan(
    server: dict[str, Any], only: list[str] | None, effects: Iterable[str], leave_out: Iterable[str] = ()
) -> ApprovalPlan:
    """The approval that these words ask for. Raises BadParameter for words that match nothing."""
    capabilities = server["capabilities"]
    keys = choose_capabilities([word for word in only if word != SERVER_ITSELF], capabilities) if only else None
    given = parse_effects(effects, capabilities)
    for name in given:
        if keys is not None and (CapabilityKind.TOOL, name) not in keys:
            raise typer.BadParameter(f"{visible(name)} is not among what is approved", param_hint="--effect")
    left_out = choose_capabilities(leave_out, capabilities, "--leave-out")
    if both := (keys or frozenset()) & left_out:
        wrong = ", ".join(visible(write_key(key)) for key in sorted(both))
        raise typer.BadParameter(f"{wrong} is approved by --only", param_hint="--leave-out")
    return ApprovalPlan(server, keys, given, left_out)
