"""The effects of tools as their definitions show them, and whether the tools reach other systems.

The same definition always gives the same result, so it is read once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcpguard.codec.exact import read_back
from mcpguard.domain.capabilities import CapabilityKind, Effect, Fingerprint
from mcpguard.domain.servers.pins import Pin
from mcpguard.policy.effects import Suggestion, careful_effect, declared_effect, suggest_effect
from mcpguard.policy.network_hint import network_hint
from mcpguard.policy.tasks import needs_tasks
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import versions

MOST_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class ToolEffects:
    """What a server declares of a tool, and what we suggest.

    `reaches`: what in the definition tells that the tool reaches other systems; `tasks`: whether it must be a task.
    """

    declared: Effect | None
    suggested: Suggestion
    reaches: str = ""
    tasks: bool = False

    @property
    def careful(self) -> Effect:
        """The effect that the tool gets if no reviewer assigns another."""
        return careful_effect(self.declared, self.suggested.effect)


class EffectReader:
    """Reads the effects of tools from their definitions in the store, each definition once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._told: dict[Fingerprint, ToolEffects] = {}

    async def by_fingerprint(self, pins: Iterable[Pin]) -> Mapping[Fingerprint, ToolEffects]:
        """The effects of those tools among the pins whose listed definition can be read, by its fingerprint."""
        tools = {pin.listed: pin for pin in pins if pin.kind is CapabilityKind.TOOL and pin.listed is not None}
        missing = [pin for listed, pin in tools.items() if listed not in self._told]
        if missing:
            found = await self._store.readers.run(lambda connection: _read(connection, missing))
            # Emptied as a whole: a server that changes its definitions all the time must not fill the memory.
            if len(self._told) + len(found) > MOST_KEPT:
                self._told.clear()
            self._told |= found
            return {**{each: self._told[each] for each in tools if each in self._told}, **found}
        return {each: self._told[each] for each in tools}


def _read(connection: Connection, pins: Iterable[Pin]) -> dict[Fingerprint, ToolEffects]:
    told: dict[Fingerprint, ToolEffects] = {}
    for pin in pins:
        if pin.listed is not None:
            definition = versions.definition(connection, pin.id, pin.listed)
            said = read_back(definition) if definition else None
            if isinstance(said, dict):
                told[pin.listed] = ToolEffects(
                    declared_effect(said), suggest_effect(said), network_hint(said), needs_tasks(said)
                )
    return told
