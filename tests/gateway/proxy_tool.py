"""What is asked of the proxy tool and how its answers are read, beside what the direct face answers."""

import base64
import json
from typing import Any

from mcpguard.proxy.annotations import META
from tests.gate import Gate
from tests.simulators.client import RawClient
from tests.simulators.words import Json


async def proxy(client: RawClient, action: str, type_: str, path: str | None = None, **more: Any) -> Json:  # noqa: ANN401
    """The result of one operation."""
    asked = {"action": action, "type": type_} | ({} if path is None else {"path": path}) | more
    return (await client.call("proxy", asked)).result


def value(result: Json) -> Any:  # noqa: ANN401 - JSON
    """The JSON in an answer, which is one embedded resource."""
    (item,) = result["content"]
    assert (item["type"], item["resource"]["mimeType"]) == ("resource", "application/json")
    for key, said in item["annotations"].items():
        assert item["_meta"][META][key] == said
    return json.loads(item["resource"]["text"])


def annotations(result: Json) -> Json:
    (item,) = result["content"]
    found: Json = item["annotations"]
    return found


def wrapped(server: str, uri: str) -> str:
    text = json.dumps({"server": server, "uri": uri}, separators=(",", ":")).encode()
    return "proxy://resource/" + base64.urlsafe_b64encode(text).decode().rstrip("=")


async def plainly(guard: Gate, method: str, **params: Any) -> Json:  # noqa: ANN401 - JSON
    """What the direct face answers."""
    return (await guard.client().request(method, params)).result
