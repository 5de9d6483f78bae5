"""The settings layers of the command line: values by dotted key, already parsed by the command."""

from collections.abc import Mapping

from mcpguard.settings.layer import LEAVES, SettingsLayer
from mcpguard.settings.problems import SettingOrigin, unknown_setting


def command_line(given: Mapping[str, object]) -> SettingsLayer:
    """Return the layer of the options. None is an option that was not given."""
    layer = SettingsLayer("command line")
    for key, value in given.items():
        origin = SettingOrigin.command_line(key)
        if value is None:
            continue
        if key in LEAVES:
            layer.put(key, value, origin)
        else:
            layer.problems.append(unknown_setting(origin.subject, key, LEAVES))
    return layer


def unless_set(given: Mapping[str, object], by: str) -> SettingsLayer:
    """Return the layer of the settings that the option `by` implies; every other layer overrides it."""
    layer = SettingsLayer(by)
    for key, value in given.items():
        layer.put(key, value, SettingOrigin.command_line(by))
    return layer
