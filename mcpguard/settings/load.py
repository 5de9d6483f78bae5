"""Loads the settings, in this precedence: command line, environment, file, values implied by --demo, defaults.

Rules kept here:
1. Only arguments are read: the caller passes the environment (except for the platform's usual folders).
2. All problems are reported at once, and then nothing is returned: there are no partly loaded settings.
3. A value that a higher layer overrides is not checked; an unknown key is refused in every layer.
4. An invalid server entry leaves out only that server; it is reported together with other problems.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mcpguard.settings.command_line import command_line, unless_set
from mcpguard.settings.entries.servers import DeclaredServers
from mcpguard.settings.environment import CONFIG, environment
from mcpguard.settings.file import from_file, read, usual_place
from mcpguard.settings.layer import LEAVES, Root, SettingsLayer
from mcpguard.settings.model import Settings
from mcpguard.settings.phrases import kind_phrase
from mcpguard.settings.problems import SettingOrigin, SettingsError

NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_Found = tuple[Path | None, SettingsLayer, DeclaredServers]


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, the source of each value, and the servers that the file declares."""

    settings: Settings
    sources: Mapping[str, str]
    config_file: Path | None
    servers: DeclaredServers


def load(
    cli: Mapping[str, object], environ: Mapping[str, str], config: Path | None, demo: Mapping[str, object] = NOTHING
) -> LoadedSettings:
    """Return the settings or raise SettingsError. `config` is the file named on the command line, if one is."""
    path, file, servers = _file(config, environ)
    layers = (command_line(cli), environment(environ), file, unless_set(demo, "demo"))
    origins = {key: origin for layer in reversed(layers) for key, origin in layer.origins.items()}
    problems = [problem for layer in layers for problem in layer.problems]
    try:
        settings = Root(_build_sources=(layers, {})).mcpguard
    except ValidationError as error:
        problems.extend(dict.fromkeys(_sentences(error, origins)))
        raise SettingsError([*problems, *servers.problems]) from None
    if problems:
        raise SettingsError([*problems, *servers.problems])
    sources = {key: origins[key].label if key in origins else "default" for key in LEAVES}
    return LoadedSettings(settings, MappingProxyType(sources), path, servers)


def _file(config: Path | None, environ: Mapping[str, str]) -> _Found:
    """Find the configuration file: the one named on the command line, else in the environment, else the usual one."""
    if config is not None:
        return _named_file(config, "on the command line")
    if CONFIG in environ:
        return _named_file(Path(environ[CONFIG]), f"by {CONFIG} in the environment")
    path = usual_place()
    try:
        data = read(path)
    except OSError as error:
        return _refused(f"{path} cannot be read: {error.strerror}")
    return (None, SettingsLayer("file"), DeclaredServers()) if data is None else (path, *from_file(path, data))


def _named_file(named: Path, how: str) -> _Found:
    path = named.absolute()
    try:
        data = read(path)
    except OSError as error:
        return _refused(f"{path}, named {how}, cannot be read: {error.strerror}")
    if data is None:
        return _refused(f"{path}, named {how}, does not exist")
    return path, *from_file(path, data)


def _refused(problem: str) -> _Found:
    layer = SettingsLayer("file")
    layer.problems.append(problem)
    return None, layer, DeclaredServers()


def _sentences(error: ValidationError, origins: Mapping[str, SettingOrigin]) -> Iterator[str]:
    for each in error.errors(include_url=False, include_input=False):
        _root, *path = each["loc"]
        key = next((key for key in (_dotted(path, 1), _dotted(path, 2)) if key in LEAVES), None)
        if key is None:  # the values of a group contradict each other
            yield _together(each, _dotted(path, 1), origins)
            continue
        item = next((f" (item {part + 1})" for part in path if isinstance(part, int)), "")
        yield f"{origins[key].subject}{item} {_remedy(each, key)}"


def _together(error: ErrorDetails, group: str, origins: Mapping[str, SettingOrigin]) -> str:
    given = dict.fromkeys(origin.label for key, origin in origins.items() if key.startswith(f"{group}."))
    return f"{group} ({', '.join(given)}) {error['ctx']['error']}"


def _dotted(path: list[int | str], parts: int) -> str:
    return ".".join(str(part) for part in path[:parts])


def _remedy(error: ErrorDetails, key: str) -> str:
    """Return what to do. Messages of our validators say it; those of pydantic may repeat the value and are not used."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"must be {kind_phrase(LEAVES[key])}"
