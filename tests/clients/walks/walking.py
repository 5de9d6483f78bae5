"""What the walks in Python share. A walk goes to every place that it reads of on its standard input, does what is to be
done there with the client that it is about, and writes on its standard output what it saw.

A place has a `name`, a `url` or a `command`, the `token` to show, `calls` to make in order, and perhaps a `resource` to
read and a `prompt` to get. It knows nothing of the guard but the key under which a refusal has its facts.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Json = dict[str, Any]
REFUSAL = "mcpguard/refusal"


def main(walk: Callable[[Json], Awaitable[Json]]) -> None:
    async def every() -> Json:
        return {place["name"]: await walk(place) for place in json.load(sys.stdin)}

    json.dump(asyncio.run(every()), sys.stdout)


def headers(place: Json) -> dict[str, str]:
    return {"authorization": f"Bearer {place['token']}"}


def told(content: list[Any], meta: Json | None = None, *, failed: bool = False) -> Json:
    """What is seen of a tool's result."""
    texts = [item.text for item in content if item.type == "text"]
    return {"failed": failed, "text": "\n".join(texts), "refusal": (meta or {}).get(REFUSAL)}
