"""Finds the capabilities, and their effects, that command-line arguments name."""

from collections.abc import Iterable, Iterator
from typing import Any

import typer

from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.capabilities import CapabilityKind, Effect
from mcpguard.domain.decisions import CapabilityKey
from mcpguard.policy.effects import careful_effect
from mcpguard.text.visible import visible

Capability = dict[str, Any]
"""As the guard answers it."""
MOST_LISTED = 20


def key_of(capability: Capability) -> CapabilityKey:
    return CapabilityKind(capability["kind"]), capability["name"]


def choose_capabilities(
    words: Iterable[str], capabilities: Iterable[Capability], option: str = "--only"
) -> frozenset[CapabilityKey]:
    """The capabilities that these words name: each is `kind:name`, or a name that only one has."""
    keys = [key_of(each) for each in capabilities]
    return frozenset(_chosen(word, keys, option) for word in words)


def _chosen(word: str, keys: list[CapabilityKey], option: str) -> CapabilityKey:
    meant = {key for key in keys if word in (key[1], write_key(key))}
    if len(meant) == 1:
        return meant.pop()
    found = f"more than one is called {word}" if meant else f"there is no {word}"
    raise typer.BadParameter(f"{visible(found)}; choose from: {_listed(meant or keys)}", param_hint=option)


def parse_effects(words: Iterable[str], capabilities: Iterable[Capability]) -> dict[str, Effect]:
    """The effects by the name of the tool. An effect stands after the last `=`: names may have others."""
    tools = {name for kind, name in map(key_of, capabilities) if kind is CapabilityKind.TOOL}
    found: dict[str, Effect] = {}
    for word in words:
        name, _, effect = word.rpartition("=")
        if effect not in {*Effect}:
            raise typer.BadParameter(f"give it as TOOL=EFFECT, one of {', '.join(Effect)}", param_hint="--effect")
        name = name.removeprefix("tool:") if name not in tools else name
        if name not in tools:
            of = _listed((CapabilityKind.TOOL, each) for each in tools)
            raise typer.BadParameter(f"there is no tool {visible(name)}; there are: {of}", param_hint="--effect")
        if found.setdefault(name, Effect(effect)) != effect:
            raise typer.BadParameter(f"{visible(name)} is given two effects", param_hint="--effect")
    return found


def default_effect(capability: Capability) -> Effect | None:
    """The effect that the guard assigns if none is given. None if the definition cannot be read."""
    if capability["kind"] != CapabilityKind.TOOL:
        return Effect.READ
    if capability["suggested"] is None:
        return None
    declared = capability["declared"]
    return careful_effect(None if declared is None else Effect(declared), Effect(capability["suggested"]))


def split_reference(word: str, kind: CapabilityKind) -> tuple[str, CapabilityKey]:
    """The server and the capability of `SERVER:TOOL`."""
    server, _, name = word.partition(":")
    return server, (kind, name)


def _listed(keys: Iterable[CapabilityKey]) -> str:
    names = sorted(visible(write_key(key)) for key in keys)
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return (", ".join(names[:MOST_LISTED]) or "nothing, it has listed none") + more


def waiting(capabilities: Iterable[Capability]) -> Iterator[Capability]:
    """The capabilities that need review."""
    return (each for each in capabilities if each["waits"])
