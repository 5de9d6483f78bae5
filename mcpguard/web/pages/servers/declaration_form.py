"""The form that declares a server, and the one that changes its declaration.

Rules kept here:
1. A value that is not shown is not sent either: it stays as it is, unless it is replaced or dropped by name.
2. What was not changed is not part of the patch.
"""

from collections.abc import Mapping
from typing import Final

from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.json import Json
from mcpguard.domain.servers.launches import Profile, StdioLaunch
from mcpguard.guard.servers.registry import ServerState
from mcpguard.policy.secrets.launches import HIDDEN
from mcpguard.web.forms import SentForm

FIELDS: Final = ("name", "command", "arguments", "environment", "folder", "sandbox", "mounts", "url", "headers")
DROPPED: Final = "drop"
"""The field that names the values to drop that are not shown."""
EITHER: Final = "enter either a command or a URL"
_HIDDEN_VALUE: Final = f"{HIDDEN} stands for a value that is not shown: write it anew, or leave that field as it is"
_NOT_LINES: Final = "one of the {} cannot be written on a line; change them with `mcpguard server patch`"
_ENVIRONMENT: Final = ("a variable", "=")
_HEADERS: Final = ("a header", ":=")


def members(given: SentForm) -> Json:
    """Return the entry that the form declares, as it would stand in a file. Raises NotDeclared."""
    command, url = given.one("command").strip(), given.one("url").strip()
    if bool(command) == bool(url):
        raise NotDeclared((EITHER,))
    if url:
        return {"url": url, "headers": _pairs(given.one("headers"), *_HEADERS)}
    said: Json = {"command": command, "args": _arguments(given.one("arguments"))}
    said["env"] = _pairs(given.one("environment"), *_ENVIRONMENT)
    if folder := given.one("folder").strip():
        said["cwd"] = folder
    if sandbox := given.one("sandbox"):
        said["sandbox"] = sandbox
    if mounts := _lines(given.one("mounts")):
        said["mounts"] = mounts
    return said


def as_typed(known: ServerState, launch: Json) -> dict[str, str]:
    """Return the fields of the form that change a server as it is declared now. `launch`: how it is shown."""
    if "url" in launch:
        return {"url": launch["url"], "headers": _written(launch["headers"], ": ")}
    declared = known.declared.launch
    confined = declared.as_declared() if isinstance(declared, StdioLaunch) else None
    return {
        "command": launch["command"],
        "arguments": "\n".join(launch["arguments"]),
        "environment": _written(launch["environment"], "="),
        "folder": launch["folder"] or "",
        "sandbox": (confined.profile if confined else Profile.STRICT).value,
        "mounts": "\n".join(map(str, confined.mounts)) if confined else "",
    }


def unshown_names(launch: Json) -> list[str]:
    """Return the names of the variables or headers whose values are not shown."""
    entries = launch["headers"] if "url" in launch else launch["environment"]
    return [each["name"] for each in entries if each["value"] is None]


def patch_of(given: SentForm, known: ServerState, launch: Json) -> Json:
    """Return what a form changes of a server, as a merge patch. Raises NotDeclared."""
    before = as_typed(known, launch)
    changed = {name: given.one(name) for name, text in before.items() if _trimmed(given.one(name)) != _trimmed(text)}
    patch: Json = {name: changed[name].strip() for name in ("command", "url", "sandbox") if name in changed}
    if "arguments" in changed:
        if _arguments(_trimmed(before["arguments"])) != launch["arguments"]:
            raise NotDeclared((_NOT_LINES.format("arguments"),))
        patch["args"] = _arguments(given.one("arguments"))
    if "folder" in changed:
        patch["cwd"] = changed["folder"].strip() or None
    if "mounts" in changed:
        patch["mounts"] = _lines(changed["mounts"]) or None
    if HIDDEN in str(patch):
        raise NotDeclared((_HIDDEN_VALUE,))
    field, member, form = ("headers", "headers", _HEADERS) if "url" in launch else ("environment", "env", _ENVIRONMENT)
    values = {each["name"]: each["value"] for each in launch[field] if each["value"] is not None}
    if field in changed:
        if _pairs(_trimmed(before[field]), *form) != values:
            raise NotDeclared((_NOT_LINES.format("values"),))
        values = _pairs(given.one(field), *form)
    if found := _changes(values, launch[field], given.every(DROPPED)):
        patch[member] = found
    return patch


def _changes(values: Mapping[str, str], shown: list[Json], dropped: tuple[str, ...]) -> dict[str, str | None]:
    """Return which variables or headers are new, have another value, or are gone (None)."""
    before: dict[str, str | None] = {each["name"]: each["value"] for each in shown}
    found: dict[str, str | None] = {name: value for name, value in values.items() if before.get(name) != value}
    for name, value in before.items():
        if name not in values and (value is not None or name in dropped):
            found[name] = None
    return found


def _written(entries: list[Json], between: str) -> str:
    return "\n".join(f"{each['name']}{between}{each['value']}" for each in entries if each["value"] is not None)


def _trimmed(text: str) -> str:
    """Return a text as a browser sends it, without line breaks that it may add or take away."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def _arguments(text: str) -> list[str]:
    text = text.rstrip("\n")
    return text.split("\n") if text else []


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _pairs(text: str, what: str, between: str) -> dict[str, str]:
    """Return the name and value on each line. Raises NotDeclared, which repeats no value."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        at = min((place for sign in between if (place := line.find(sign)) > 0), default=0)
        if not at:
            raise NotDeclared((f"line {number} is not {what}: write NAME=value",))
        name = line[:at].strip()
        if name in found:
            raise NotDeclared((f"line {number} repeats {what} of an earlier line",))
        found[name] = line[at + 1 :].strip() if ":" in between else line[at + 1 :]
    return found
