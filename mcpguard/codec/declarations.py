"""A declaration ⇄ bytes, so that a server that was declared anywhere but in the file can be kept.

What was written out in it may be a secret: whoever keeps these bytes seals them (`store/sealing.py`).
"""

from typing import Any

import orjson

from mcpguard.domain.launches import Declared, Era, Launch, RemoteLaunch, StdioFraming, StdioLaunch, Templates
from mcpguard.domain.upstreams import Transport

VERSION = 1


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
    if said["v"] != VERSION:
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
            )
        case transport:
            return RemoteLaunch(transport, said["url"], Templates(said["headers"]))
