"""Which settings are in force, given what was confirmed of those that carry trust. Nothing is read or kept here.

Rules kept here:
1. What is in force of such a setting is what its value and the confirmed one agree on, so it is looser than neither:
   what was taken away is gone at once, what was added waits.
2. What was never confirmed counts as confirmed with its default.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.json import SettingValue
from mcpguard.settings.fields import public, trusted
from mcpguard.settings.layer import nested
from mcpguard.settings.model import Settings
from mcpguard.settings.trust import looser_than

TRUSTED: Final = trusted(Settings)


def carrying_trust(settings: Settings) -> dict[str, SettingValue]:
    """The values of the settings that carry trust."""
    values = public(settings)
    return {key: values[key] for key in TRUSTED}


DEFAULTS: Final[Mapping[str, SettingValue]] = MappingProxyType(carrying_trust(Settings(data_dir=Path("/"))))


def looser(confirmed: Mapping[str, SettingValue], now: Mapping[str, SettingValue]) -> tuple[str, ...]:
    """The settings whose value now is looser than the one that was confirmed last."""
    return tuple(
        key for key, trust in TRUSTED.items() if key in now and looser_than(trust, _last(confirmed, key), now[key])
    )


def tighter(confirmed: Mapping[str, SettingValue], now: Mapping[str, SettingValue]) -> tuple[str, ...]:
    """The settings of which something that was confirmed is not in force now."""
    return tuple(
        key for key, trust in TRUSTED.items() if key in now and looser_than(trust, now[key], _last(confirmed, key))
    )


def in_force(found: Settings, confirmed: Mapping[str, SettingValue]) -> Settings:
    """The settings that were found, but for what was not confirmed."""
    now = carrying_trust(found)
    held = {key: TRUSTED[key].agreed(_last(confirmed, key), now[key]) for key in looser(confirmed, now)}
    return with_values(found, held)


def with_values(settings: Settings, values: Mapping[str, SettingValue]) -> Settings:
    """The settings with other values for these keys. Raises what making settings raises."""
    whole: dict[str, Any] = settings.model_dump()
    for name, value in nested(values).items():
        whole[name] = whole[name] | value if isinstance(value, dict) else value
    return Settings.model_validate(whole)


def _last(confirmed: Mapping[str, SettingValue], key: str) -> SettingValue:
    return confirmed.get(key, DEFAULTS[key])
