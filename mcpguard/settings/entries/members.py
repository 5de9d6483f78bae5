"""One server's entry, in and out of the form that it has in a file: to show it, to change it, to take one in.

Rules kept here:
1. What is shown, changed and taken in is what the file may hold; nothing here is read in another way than the file.
   That a person agreed to something is not in it.
2. A patch replaces what is no object, merges objects deeply (`env` and `headers` so key by key), and removes with null.
3. A patch may use any name that a key has in a file, and names a header in any case: it means the one that is there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.servers.launches import (
    Confinement,
    Declared,
    Era,
    Profile,
    RemoteLaunch,
    StdioFraming,
    StdioLaunch,
)
from mcpguard.settings.entries.launches import FOLDERS, KINDS, URLS, suggested
from mcpguard.settings.entries.servers import alone

_SYNONYMS: Final = (KINDS, URLS, FOLDERS)
"""Names for one thing each; the first is the one that is shown."""


def as_members(declared: Declared) -> dict[str, Any]:
    """The entry that declares this. What has its default is left out; the values of secrets are in it."""
    members: dict[str, Any]
    match declared.launch:
        case StdioLaunch() as stdio:
            members = {"command": stdio.command, "args": list(stdio.arguments), "env": dict(stdio.environment)}
            members["cwd"] = stdio.folder
            members["framing"] = None if stdio.framing is StdioFraming.LINES else stdio.framing.value
            declared_so = stdio.as_declared()
            members["sandbox"] = None if declared_so.profile is Profile.STRICT else declared_so.profile.value
            members["mounts"] = [str(mount) for mount in declared_so.mounts]
        case RemoteLaunch(transport, url, headers):
            members = {"url": url, "headers": dict(headers)}
            members["type"] = None if transport is suggested(url) else transport.value
    members["enabled"] = None if declared.enabled else False
    members["timeout"] = declared.timeout
    members["era"] = None if declared.era is Era.AUTO else declared.era.value
    return {name: value for name, value in members.items() if value is not None and value not in ([], {})}


def patched(members: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    """The entry after the patch. Whether it declares a server still, `one` says."""
    said = _as_shown(patch)
    before = dict(members)
    headers, new = before.get("headers"), said.get("headers")
    if isinstance(headers, Mapping) and isinstance(new, Mapping):
        meant = {name.lower() for name in new}
        before["headers"] = {name: value for name, value in headers.items() if name.lower() not in meant}
    return _merged(before, said)


def one(label: str, members: Mapping[str, object]) -> Declared:
    """The server that the entry declares. Raises NotDeclared."""
    return read(label, members)[0]


def read(label: str, members: Mapping[str, object]) -> tuple[Declared, tuple[str, ...]]:
    """The server that the entry declares, and what of the entry was not read. Raises NotDeclared."""
    found = alone(label, members)
    if not found.servers:
        raise NotDeclared(found.problems, found.notices)
    return found.servers[0], found.notices


def confinement(launch: StdioLaunch, sandbox: Profile | None, mounts: Sequence[str] | None) -> Confinement:
    """How it is to be confined, with what is not said as it is. Raises NotDeclared, as for an entry that says so."""
    profile = launch.profile if sandbox is None else sandbox
    folders = [str(mount) for mount in launch.mounts] if mounts is None else list(mounts)
    entry = {"command": launch.command, "sandbox": profile.value, "mounts": folders}
    how = one("server", entry).launch
    assert isinstance(how, StdioLaunch)  # noqa: S101 - its entry has a command
    return Confinement(how.profile, how.mounts)


def _as_shown(patch: Mapping[str, object]) -> dict[str, object]:
    """The patch with the names that `as_members` uses, where it says a thing once."""
    said = dict(patch)
    for shown, *others in _SYNONYMS:
        given = [name for name in (shown, *others) if name in said]
        if len(given) == 1:
            said[shown] = said.pop(given[0])
    if "enabled" not in said and isinstance(said.get("disabled", False), bool | None) and "disabled" in said:
        disabled = said.pop("disabled")
        said["enabled"] = None if disabled is None else not disabled
    if isinstance(said.get("command"), list):
        said.setdefault("args", None)  # they are in the list
    return said


def _merged(before: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    after = dict(before)
    for name, value in patch.items():
        old = after.get(name)
        if value is None:
            after.pop(name, None)
        elif isinstance(value, Mapping):
            after[name] = _merged(old if isinstance(old, Mapping) else {}, value)
        else:
            after[name] = value
    return after
