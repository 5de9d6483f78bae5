"""Codex: tables `[mcp_servers.NAME]` in `config.toml`, with separate keys for names of variables."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from mcpguard.agents.dialects import standard, with_whole_paths
from mcpguard.agents.program import AgentProgram, ConfigFile, Entry, EntryOrigin, FileForm, Home, Reach, Untaken
from mcpguard.agents.variables import no_variables, translate_variables
from mcpguard.settings.entries.references import VARIABLE

_KEYS = ("mcp_servers",)
_OURS = ("command", "args", "env", "cwd", "url", "enabled")
_ITS_OWN = frozenset({"startup_timeout_sec", "startup_timeout_ms", "required"})
"""Options about how Codex treats a server, which say nothing about the server itself."""


def _places(home: Home, folder: Path) -> tuple[ConfigFile, ...]:
    own = home.folder_from("CODEX_HOME") or home.folder / ".codex"
    return (
        ConfigFile(own / "config.toml", _KEYS, FileForm.TOML, connectable=True),
        ConfigFile(folder / ".codex" / "config.toml", _KEYS, FileForm.TOML, scope="project", folder=folder),
    )


def _entry(reach: Reach) -> dict[str, object]:
    made = standard(reach, typed=False)
    return {"http_headers" if name == "headers" else name: value for name, value in made.items()}


def _members(entry: Entry, around: EntryOrigin) -> dict[str, object]:
    left = {name: value for name, value in entry.items() if name not in _ITS_OWN}
    made = {name: left.pop(name) for name in _OURS if name in left}
    if (headers := left.pop("http_headers", None)) is not None:
        made["headers"] = headers
    if (seconds := left.pop("tool_timeout_sec", None)) is not None:
        made["timeout"] = seconds
    made = translate_variables(made, no_variables, around)  # Codex has none: a text that looks like one is literal
    _add(made, "env", {name: f"${{env:{name}}}" for name in _passed_on(left.pop("env_vars", None))})
    _add(made, "headers", _from_environment(left.pop("env_http_headers", None)))
    if (name := left.pop("bearer_token_env_var", None)) is not None:
        _add(made, "headers", {"Authorization": f"Bearer ${{env:{_variable('bearer_token_env_var', name)}}}"})
    return with_whole_paths(left | made, around)


def _passed_on(given: object) -> Iterator[str]:
    """Yield the variables of Codex's own environment that a server gets."""
    if given is None:
        return
    if not isinstance(given, list):
        raise Untaken("has env_vars, which must be a list")
    for each in given:
        yield _variable("env_vars", each.get("name") if isinstance(each, Mapping) else each)


def _from_environment(given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise Untaken("has env_http_headers, which must be a table")
    return {str(header): f"${{env:{_variable('env_http_headers', name)}}}" for header, name in given.items()}


def _variable(key: str, name: object) -> str:
    if not isinstance(name, str) or not VARIABLE.fullmatch(name):
        raise Untaken(f"has {key}, which must name variables of the environment")
    return name


def _add(made: dict[str, object], key: str, more: Mapping[str, str]) -> None:
    """Add members to a mapping. Literal values that exist already win over those from the environment."""
    there = made.get(key)
    if more and (there is None or isinstance(there, Mapping)):
        made[key] = {**more, **(there or {})}


PROGRAM = AgentProgram(
    name="codex",
    title="Codex",
    after="start a new session of Codex; /mcp shows its servers",
    places=_places,
    entry=_entry,
    members=_members,
)
