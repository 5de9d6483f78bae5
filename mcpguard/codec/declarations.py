"""Converts a declaration to bytes and back, to store servers that are not declared in the settings file.

Literal values in a declaration may be secrets: the bytes have to be sealed before they are stored
(`store/files/seals.py`).
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import orjson

from mcpguard.domain.servers.launches import (
    Confinement,
    DeclaredServer,
    Era,
    Launch,
    Mount,
    Profile,
    RemoteLaunch,
    StdioFraming,
    StdioLaunch,
    Templates,
)
from mcpguard.domain.servers.requests import ServerRequest
from mcpguard.domain.servers.upstreams import Transport

VERSION = 3
KNOWN = (1, 2, VERSION)
"""Versions that can be read. The first one had no sandbox: its servers were approved to run without one."""


def write(declared: DeclaredServer) -> bytes:
    """Return the declaration as bytes to keep."""
    return orjson.dumps(
        {
            "v": VERSION,
            "name": declared.name,
            "label": declared.label,
            "enabled": declared.enabled,
            "timeout": declared.timeout,
            "era": declared.era.value,
            "launch": _launch(declared.launch),
            "requests": [asdict(each) for each in declared.requests],
            "since": declared.since,
        }
    )


def read(content: bytes) -> DeclaredServer:
    """Return the declaration that `write` wrote, in this version or an earlier one."""
    parsed = orjson.loads(content)
    if parsed["v"] not in KNOWN:
        raise ValueError(f"a declaration of version {parsed['v']}, which this version does not know")
    return DeclaredServer(
        parsed["name"],
        parsed["label"],
        _read_launch(parsed["launch"]),
        parsed["enabled"],
        parsed["timeout"],
        Era(parsed["era"]),
        requests=tuple(ServerRequest(**each) for each in parsed.get("requests", ())),
        since=parsed.get("since"),
    )


def _launch(launch: Launch) -> dict[str, Any]:
    match launch:
        case StdioLaunch():
            return {
                "transport": launch.transport.value,
                "command": launch.command,
                "arguments": list(launch.arguments),
                "environment": dict(launch.environment),
                "folder": launch.folder,
                "framing": launch.framing.value,
                "profile": launch.profile.value,
                "mounts": _mounts(launch.mounts),
                "instead_of": _confinement(launch.instead_of) if launch.instead_of else None,
            }
        case RemoteLaunch():
            return {"transport": launch.transport.value, "url": launch.url, "headers": dict(launch.headers)}


def _confinement(how: Confinement) -> dict[str, Any]:
    return {"profile": how.profile.value, "mounts": _mounts(how.mounts)}


def _mounts(mounts: Iterable[Mount]) -> list[list[str | bool]]:
    return [[mount.path, mount.writable] for mount in mounts]


def _read_confinement(value: object, mounts: tuple[Mount, ...]) -> Confinement | None:
    """Read the confinement that a reviewer chose. Up to version 2, that left the `mounts` of the launch unchanged."""
    match value:
        case {"profile": str(profile), "mounts": [*every]}:
            return Confinement(Profile(profile), _read_mounts(every))
        case str(profile) if profile:
            return Confinement(Profile(profile), mounts)
        case _:
            return None


def _read_mounts(mounts: Iterable[Any]) -> tuple[Mount, ...]:
    return tuple(Mount(path, writable) for path, writable in mounts)


def _read_launch(value: dict[str, Any]) -> Launch:
    match Transport(value["transport"]):
        case Transport.STDIO:
            mounts = _read_mounts(value.get("mounts", ()))
            return StdioLaunch(
                value["command"],
                tuple(value["arguments"]),
                Templates(value["environment"]),
                value["folder"],
                StdioFraming(value["framing"]),
                Profile(value.get("profile", Profile.NONE)),
                mounts,
                _read_confinement(value.get("instead_of"), mounts),
            )
        case transport:
            return RemoteLaunch(transport, value["url"], Templates(value["headers"]))
