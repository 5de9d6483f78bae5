"""The layers of the command line: values that a command parsed already, by dotted key."""

from collections.abc import Mapping

from mcpguard.settings.layer import LEAVES, SettingsLayer
from mcpguard.settings.problems import SettingOrigin, unknown


def command_line(given: Mapping[str, object]) -> SettingsLayer:
    """None is an option that was not given."""
    layer = SettingsLayer("command line")
    for key, value in given.items():
        origin = SettingOrigin.command_line(key)
        if value is None:
            continue
        if key in LEAVES:
            layer.put(key, value, origin)
        else:
            layer.problems.append(unknown(origin.subject, key, LEAVES))
    return layer


def unless_set(given: Mapping[str, object], by: str) -> SettingsLayer:
    """What the option `by` stands for, as long as nothing else says otherwise."""
    layer = SettingsLayer(by)
    for key, value in given.items():
        layer.put(key, value, SettingOrigin.command_line(by))
    return layer
