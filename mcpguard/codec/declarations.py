"""A declaration ⇄ bytes, so that a server that was declared anywhere but in the file can be kept.

What was written out in it may be a secret: whoever keeps these bytes seals them (`store/files/sealing.py`).
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import orjson

from mcpguard.domain.servers.launches import (
    Confinement,
    Declared,
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
"""The first one knew of no sandbox: what it kept ran without one, and was approved so."""


def write(declared: Declared) -> bytes:
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


def read(content: bytes) -> Declared:
    """What `write` wrote."""
    said = orjson.loads(content)
    if said["v"] not in KNOWN:
        raise ValueError(f"a declaration of version {said['v']}, which this version does not know")
    return Declared(
        said["name"],
        said["label"],
        _read_launch(said["launch"]),
        said["enabled"],
        said["timeout"],
        Era(said["era"]),
        requests=tuple(ServerRequest(**each) for each in said.get("requests", ())),
        since=said.get("since"),
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


def _read_confinement(said: object, mounts: tuple[Mount, ...]) -> Confinement | None:
    """`mounts`: those of the launch. Up to version 2, a person's decision left them as they were declared."""
    match said:
        case {"profile": str(profile), "mounts": [*every]}:
            return Confinement(Profile(profile), _read_mounts(every))
        case str(profile) if profile:
            return Confinement(Profile(profile), mounts)
        case _:
            return None


def _read_mounts(said: Iterable[Any]) -> tuple[Mount, ...]:
    return tuple(Mount(path, writable) for path, writable in said)


def _read_launch(said: dict[str, Any]) -> Launch:
    match Transport(said["transport"]):
        case Transport.STDIO:
            mounts = _read_mounts(said.get("mounts", ()))
            return StdioLaunch(
                said["command"],
                tuple(said["arguments"]),
                Templates(said["environment"]),
                said["folder"],
                StdioFraming(said["framing"]),
                Profile(said.get("profile", Profile.NONE)),
                mounts,
                _read_confinement(said.get("instead_of"), mounts),
            )
        case transport:
            return RemoteLaunch(transport, said["url"], Templates(said["headers"]))
