"""Settings that may loosen protection: the values in force, and those that wait to be confirmed.

Rules kept here:
1. The first start confirms the values it finds. From then on, a looser value does not take effect before it is
   confirmed, whoever wrote it into the file or the environment; a tighter one takes effect and is confirmed at once.
2. A confirmation names the values that the person saw; no others are confirmed. They take effect at the next start.
3. Whether the shell may confirm is decided by the settings in force, not by those that wait.
4. A confirmation and its record are one transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import anyio
import orjson
import structlog

from mcpguard.domain.calls.records import RecordKind
from mcpguard.domain.clock import Clock
from mcpguard.domain.decisions import Actor, Stale
from mcpguard.domain.json import SettingValue
from mcpguard.ledger.ledger import Append, Ledger
from mcpguard.settings.confirmation import looser_settings, settings_in_force, tighter_settings, trusted_values
from mcpguard.settings.model import Settings
from mcpguard.store.engine.backend import Connection
from mcpguard.store.engine.store import Store
from mcpguard.store.rows import confirmed_settings

BY_THE_START: Final = "start"
log = structlog.get_logger("mcpguard.guard")


@dataclass(frozen=True, slots=True)
class WaitingSetting:
    """A setting whose value waits to be confirmed: the value in force, and the one that was found."""

    key: str
    in_force: SettingValue
    found: SettingValue


class ConfirmedSettings:
    """The confirmed settings at the start of the guard, and those that wait to be confirmed."""

    def __init__(self, found: Settings, known: Mapping[str, SettingValue]) -> None:
        """`known`: the values that were confirmed before; empty at the very first start."""
        now = trusted_values(found)
        before = known or now
        self.settings: Final = settings_in_force(found, before)
        """The settings that are in force until the next start."""
        force = trusted_values(self.settings)
        self.waiting = tuple(WaitingSetting(key, force[key], now[key]) for key in looser_settings(before, now))
        # What a start confirms by itself: settings that are new in this version, and values that only tighten.
        self._new = {key: force[key] for key in force if key not in known}
        self._tighter = {key: force[key] for key in tighter_settings(before, force) if key in known}
        self._confirming = anyio.Lock()

    @classmethod
    async def from_store(cls, found: Settings, store: Store) -> Self:
        """Compare the settings of a guard that starts with those that were confirmed in the store."""
        return cls(found, await store.readers.run(confirmed_settings.confirmed_values))

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """The settings whose value waits to be confirmed."""
        return tuple(each.key for each in self.waiting)

    async def keep(self, ledger: Ledger, clock: Clock) -> None:
        """Confirm and record what a start confirms by itself, and log what waits."""
        start = Actor.with_full_rights(BY_THE_START, BY_THE_START)
        for what, values in (("found", self._new), ("tightened", self._tighter)):
            if values:
                await _confirm(ledger, clock, what, values, start)
                log.info("settings.confirmed", what=what, keys=[*values])
        if self.waiting:
            log.warning("settings.unconfirmed", keys=[*self.unconfirmed], next="mcpguard config confirm")

    async def confirm(
        self, seen: Mapping[str, SettingValue], by: Actor, ledger: Ledger, clock: Clock
    ) -> tuple[str, ...]:
        """Confirm all that waits and return its keys. Raises Forbidden, LedgerUnavailable, and Stale if something else
        waits than was seen."""
        by.check_widening()  # what waits lets more happen
        async with self._confirming:
            by.check()
            values = {each.key: each.found for each in self.waiting}
            # Exactly what was seen: a value that was changed in the file meanwhile must not be confirmed unseen.
            if moved := sorted(key for key in seen.keys() | values.keys() if _of(seen, key) != _of(values, key)):
                raise Stale(tuple(moved))
            if values:
                await _confirm(ledger, clock, "confirmed", values, by)
                log.info("settings.confirmed", what="confirmed", keys=[*values], by=by.id)
            self.waiting = ()
        return tuple(values)


def _of(values: Mapping[str, SettingValue], key: str) -> tuple[bool, SettingValue]:
    return key in values, values.get(key)


async def _confirm(ledger: Ledger, clock: Clock, what: str, values: Mapping[str, SettingValue], by: Actor) -> None:
    written = orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode()
    said = {"by": by.id, "via": by.via, "process": by.process or None, "what": what}

    def work(connection: Connection, append: Append) -> None:
        confirmed_settings.put(connection, values, clock.now(), by.id)
        fields = said | {"keys": " ".join(sorted(values)), "values": written}
        append(RecordKind.CONFIGURED, {name: value for name, value in fields.items() if value is not None})

    await ledger.transact(work)
