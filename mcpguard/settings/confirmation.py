"""The settings in force, computed from the loaded settings and the confirmed values of those that carry trust.

Rules kept here:
1. The value in force of such a setting allows only what both its current value and the confirmed value allow: a removal
   takes effect immediately, an addition waits for confirmation.
2. A setting that was never confirmed counts as confirmed with its default.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from mcpguard.domain.json import SettingValue
from mcpguard.settings.fields import public_values, trust_marks
from mcpguard.settings.layer import nest_keys
from mcpguard.settings.model import Settings
from mcpguard.settings.trust import looser_than

TRUSTED: Final = trust_marks(Settings)


def trusted_values(settings: Settings) -> dict[str, SettingValue]:
    """Return the values of the settings that carry trust."""
    values = public_values(settings)
    return {key: values[key] for key in TRUSTED}


DEFAULTS: Final[Mapping[str, SettingValue]] = MappingProxyType(trusted_values(Settings(data_dir=Path("/"))))


def looser_settings(confirmed: Mapping[str, SettingValue], now: Mapping[str, SettingValue]) -> tuple[str, ...]:
    """Return the settings whose value is looser than the one that was confirmed last."""
    return tuple(
        key for key, trust in TRUSTED.items() if key in now and looser_than(trust, _last(confirmed, key), now[key])
    )


def tighter_settings(confirmed: Mapping[str, SettingValue], now: Mapping[str, SettingValue]) -> tuple[str, ...]:
    """Return the settings whose value is tighter, in some respect, than the one that was confirmed last."""
    return tuple(
        key for key, trust in TRUSTED.items() if key in now and looser_than(trust, now[key], _last(confirmed, key))
    )


def settings_in_force(found: Settings, confirmed: Mapping[str, SettingValue]) -> Settings:
    """Return the found settings without what was not confirmed."""
    now = trusted_values(found)
    # Whoever can edit the file cannot loosen protection by it: a looser value waits, a tighter one counts at once.
    held = {key: TRUSTED[key].agreed(_last(confirmed, key), now[key]) for key in looser_settings(confirmed, now)}
    return with_values(found, held)


def with_values(settings: Settings, values: Mapping[str, SettingValue]) -> Settings:
    """Return the settings with other values for these keys. Raises ValidationError."""
    whole: dict[str, Any] = settings.model_dump()
    for name, value in nest_keys(values).items():
        whole[name] = whole[name] | value if isinstance(value, dict) else value
    return Settings.model_validate(whole)


def _last(confirmed: Mapping[str, SettingValue], key: str) -> SettingValue:
    return confirmed.get(key, DEFAULTS[key])
