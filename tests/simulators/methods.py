"""How a server that nobody has told otherwise answers each method, in each era.

A method gives the answer or, where answers are laid down by name, the one that is laid down.
"""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.simulators.asked import Asked
from tests.simulators.parties import LIST_FIELDS, Listen
from tests.simulators.words import (
    INVALID_PARAMS,
    LEVELS,
    RESOURCE_NOT_FOUND,
    SUBSCRIPTION_ID,
    Json,
    RpcError,
)

if TYPE_CHECKING:
    from tests.simulators.script import Script

Method = Callable[["Script", Asked], Awaitable[Any]]


async def initialize(script: "Script", asked: Asked) -> Json:
    wanted = asked.params.get("protocolVersion")
    asked.party.version = wanted if wanted in script.legacy_versions else script.legacy_versions[0]
    asked.party.capabilities = asked.params.get("capabilities") or {}
    said = {
        "protocolVersion": asked.party.version,
        "capabilities": script.capabilities,
        "serverInfo": script.info,
    }
    return said | _instructions(script)


async def discover(script: "Script", _: Asked) -> Json:
    said = {"supportedVersions": list(script.modern_versions), "capabilities": script.capabilities}
    return said | _instructions(script)


async def empty(_: "Script", __: Asked) -> Json:
    return {}


async def listed(field: str, key: str, script: "Script", asked: Asked) -> Json:
    """A page of what the script has under `field`. A cursor is the number of the first one on it."""
    every: list[Json] = getattr(script, field)
    cursor = asked.params.get("cursor", "0")
    if not (isinstance(cursor, str) and cursor.isdecimal()):
        raise RpcError(INVALID_PARAMS, "Invalid cursor")
    begin = int(cursor)
    end = len(every) if script.page is None else begin + script.page
    return {key: every[begin:end]} | ({"nextCursor": str(end)} if end < len(every) else {})


async def call_tool(_: "Script", asked: Asked) -> Json:
    """Tools that can be called have an answer of their own, and do not come here."""
    raise RpcError(INVALID_PARAMS, f"Unknown tool: {asked.name}")


async def get_prompt(_: "Script", asked: Asked) -> Json:
    raise RpcError(INVALID_PARAMS, f"Unknown prompt: {asked.name}")


async def read_resource(script: "Script", asked: Asked) -> Any:  # noqa: ANN401 - the answer to a template
    for template in script.templates:
        pattern, uri = template["uriTemplate"], asked.name
        answer = script.answers.get(f"resources/read {pattern}")
        if answer is not None and (found := _pattern(pattern).fullmatch(uri)):
            asked.variables = found.groupdict()
            return answer
    code = INVALID_PARAMS if asked.modern else RESOURCE_NOT_FOUND
    raise RpcError(code, f"Resource not found: {asked.name}", {"uri": asked.name})


async def complete_argument(_: "Script", __: Asked) -> Json:
    return {"completion": {"values": [], "total": 0, "hasMore": False}}


async def set_level(_: "Script", asked: Asked) -> Json:
    level = asked.params.get("level")
    if level not in LEVELS:
        raise RpcError(INVALID_PARAMS, "no such log level")
    asked.party.level = level
    return {}


async def subscribe(_: "Script", asked: Asked) -> Json:
    asked.party.subscribed.add(asked.name)
    return {}


async def unsubscribe(_: "Script", asked: Asked) -> Json:
    asked.party.subscribed.discard(asked.name)
    return {}


async def listen(script: "Script", asked: Asked) -> Json:
    """Stays open until the server closes it, or the client does."""
    wanted = asked.params.get("notifications") or {}
    known = {*LIST_FIELDS.values(), "resourceSubscriptions"}
    opened = Listen(asked.id, {name: value for name, value in wanted.items() if name in known and value}, asked.say)
    script.listens.append(opened)
    try:
        await opened.notify("notifications/subscriptions/acknowledged", {"notifications": opened.wanted})
        script.changed()
        await opened.closed.wait()
    finally:
        script.listens.remove(opened)
        script.changed()
    return {"_meta": {SUBSCRIPTION_ID: asked.id}}


def _instructions(script: "Script") -> Json:
    return {} if script.instructions is None else {"instructions": script.instructions}


def _pattern(template: str) -> re.Pattern[str]:
    """What `a://{id}/b` matches, with the variables as groups."""
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile("".join(f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))


BOTH: dict[str, Method] = {
    "tools/list": partial(listed, "tools", "tools"),
    "tools/call": call_tool,
    "resources/list": partial(listed, "resources", "resources"),
    "resources/templates/list": partial(listed, "templates", "resourceTemplates"),
    "resources/read": read_resource,
    "prompts/list": partial(listed, "prompts", "prompts"),
    "prompts/get": get_prompt,
    "completion/complete": complete_argument,
}
METHODS: dict[str, dict[str, Method]] = {
    "modern": {**BOTH, "server/discover": discover, "subscriptions/listen": listen},
    "legacy": {
        **BOTH,
        "initialize": initialize,
        "ping": empty,
        "logging/setLevel": set_level,
        "resources/subscribe": subscribe,
        "resources/unsubscribe": unsubscribe,
    },
}
