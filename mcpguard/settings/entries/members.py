"""Shows, patches and reads server entries in the form of the configuration file.

Rules kept here:
1. Entries have the same form and are read in the same way as in a file. They never contain decisions of reviewers.
2. A patch merges objects deeply (`env` and `headers` key by key), replaces other values, and removes with null.
3. A patch may use any synonym of a key, and a header in any case: it changes the existing one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mcpguard.domain.decisions import NotDeclared
from mcpguard.domain.servers.launches import (
    Confinement,
    DeclaredServer,
    Era,
    Profile,
    RemoteLaunch,
    StdioFraming,
    StdioLaunch,
)
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.launches import FOLDERS, KINDS, URLS, suggested_transport
from mcpguard.settings.entries.servers import single_server

_SYNONYMS: Final = (KINDS, URLS, FOLDERS)
"""Synonyms of keys; the first one is shown."""


def as_members(declared: DeclaredServer) -> dict[str, Any]:
    """Return the entry of a declaration, without defaults. It contains the values of secrets."""
    members: dict[str, Any]
    match declared.launch:
        case StdioLaunch() as stdio:
            members = {"command": stdio.command, "args": list(stdio.arguments), "env": dict(stdio.environment)}
            members["cwd"] = stdio.folder
            members["framing"] = None if stdio.framing is StdioFraming.LINES else stdio.framing.value
            declared_so = stdio.as_declared()
            members["sandbox"] = None if declared_so.profile is Profile.STRICT else declared_so.profile.value
            members["mounts"] = [str(mount) for mount in declared_so.mounts]
        case RemoteLaunch(Transport.OWN):
            members = {"type": Transport.OWN.value}
        case RemoteLaunch(transport, url, headers):
            members = {"url": url, "headers": dict(headers)}
            members["type"] = None if transport is suggested_transport(url) else transport.value
    members["enabled"] = None if declared.enabled else False
    members["timeout"] = declared.timeout
    members["era"] = None if declared.era is Era.AUTO else declared.era.value
    return {name: value for name, value in members.items() if value is not None and value not in ([], {})}


def apply_patch(members: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    """Return the patched entry; `server_from_entry` checks whether it is still valid."""
    said = _as_shown(patch)
    before = dict(members)
    headers, new = before.get("headers"), said.get("headers")
    if isinstance(headers, Mapping) and isinstance(new, Mapping):
        meant = {name.lower() for name in new}
        before["headers"] = {name: value for name, value in headers.items() if name.lower() not in meant}
    return _merged(before, said)


def server_from_entry(label: str, members: Mapping[str, object]) -> DeclaredServer:
    """Return the server that the entry declares. Raises NotDeclared."""
    return read_entry(label, members)[0]


def read_entry(label: str, members: Mapping[str, object]) -> tuple[DeclaredServer, tuple[str, ...]]:
    """Return the server that the entry declares, and notices about ignored keys. Raises NotDeclared."""
    found = single_server(label, members)
    if not found.servers:
        raise NotDeclared(found.problems, found.notices)
    return found.servers[0], found.notices


def confinement(launch: StdioLaunch, sandbox: Profile | None, mounts: Sequence[str] | None) -> Confinement:
    """Return a changed confinement; None keeps a part as it is. Raises NotDeclared for invalid values."""
    profile = launch.profile if sandbox is None else sandbox
    folders = [str(mount) for mount in launch.mounts] if mounts is None else list(mounts)
    entry = {"command": launch.command, "sandbox": profile.value, "mounts": folders}
    how = server_from_entry("server", entry).launch
    assert isinstance(how, StdioLaunch)  # noqa: S101 - its entry has a command
    return Confinement(how.profile, how.mounts)


def _as_shown(patch: Mapping[str, object]) -> dict[str, object]:
    """Return the patch with the keys that `as_members` uses, unless it has several synonyms of one."""
    said = dict(patch)
    for shown, *others in _SYNONYMS:
        given = [name for name in (shown, *others) if name in said]
        if len(given) == 1:
            said[shown] = said.pop(given[0])
    if "enabled" not in said and isinstance(said.get("disabled", False), bool | None) and "disabled" in said:
        disabled = said.pop("disabled")
        said["enabled"] = None if disabled is None else not disabled
    if isinstance(said.get("command"), list):
        said.setdefault("args", None)  # the list has the arguments
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
