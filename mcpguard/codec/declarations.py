"""A declaration ⇄ bytes, so that a server that was declared anywhere but in the file can be kept.

What was written out in it may be a secret: whoever keeps these bytes seals them (`store/sealing.py`).
"""

from typing import Any

import orjson

from mcpguard.domain.launches import (
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
from mcpguard.domain.upstreams import Transport

VERSION = 2
UNCONFINED = 1
"""The version that knew of no sandbox: what it kept ran without one, and was approved so."""


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
        }
    )


def read(content: bytes) -> Declared:
    """What `write` wrote."""
    said = orjson.loads(content)
    if said["v"] not in (VERSION, UNCONFINED):
        raise ValueError(f"a declaration of version {said['v']}, which this version does not know")
    return Declared(
        said["name"], said["label"], _read_launch(said["launch"]), said["enabled"], said["timeout"], Era(said["era"])
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
                "mounts": [[mount.path, mount.writable] for mount in launch.mounts],
                "instead_of": launch.instead_of.value if launch.instead_of else None,
            }
        case RemoteLaunch():
            return {"transport": launch.transport.value, "url": launch.url, "headers": dict(launch.headers)}


def _read_launch(said: dict[str, Any]) -> Launch:
    match Transport(said["transport"]):
        case Transport.STDIO:
            return StdioLaunch(
                said["command"],
                tuple(said["arguments"]),
                Templates(said["environment"]),
                said["folder"],
                StdioFraming(said["framing"]),
                Profile(said.get("profile", Profile.NONE)),
                tuple(Mount(path, writable) for path, writable in said.get("mounts", ())),
                Profile(said["instead_of"]) if said.get("instead_of") else None,
            )
        case transport:
            return RemoteLaunch(transport, said["url"], Templates(said["headers"]))
