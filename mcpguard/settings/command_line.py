"""The layers of the command line: values that a command parsed already, by dotted key."""

from collections.abc import Mapping

from mcpguard.settings.layer import LEAVES, Layer
from mcpguard.settings.problems import Origin, unknown


def command_line(given: Mapping[str, object]) -> Layer:
    """None is an option that was not given."""
    layer = Layer("command line")
    for key, value in given.items():
        origin = Origin.command_line(key)
        if value is None:
            continue
        if key in LEAVES:
            layer.put(key, value, origin)
        else:
            layer.problems.append(unknown(origin.subject, key, LEAVES))
    return layer


def unless_set(given: Mapping[str, object], by: str) -> Layer:
    """What the option `by` stands for, as long as nothing else says otherwise."""
    layer = Layer(by)
    for key, value in given.items():
        layer.put(key, value, Origin.command_line(by))
    return layer
