"""What the modern era puts around requests and results."""

from typing import TYPE_CHECKING

from tests.simulators.asked import Asked
from tests.simulators.words import (
    CLIENT_CAPABILITIES,
    INVALID_PARAMS,
    LEVELS,
    LOG_LEVEL,
    PROTOCOL_VERSION,
    SERVER_INFO,
    UNSUPPORTED_VERSION,
    Json,
    RpcError,
)

if TYPE_CHECKING:
    from tests.simulators.script import Script

CACHEABLE = {
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
}


def problem(script: "Script", asked: Asked) -> RpcError | None:
    """Why a modern server does not look at this request at all."""
    version = asked.meta.get(PROTOCOL_VERSION)
    if asked.method == "initialize" and version is None:  # all that a legacy client will ever hear from us
        version = str(asked.params.get("protocolVersion"))
        return _unsupported(script, version)
    if not isinstance(version, str) or not isinstance(asked.meta.get(CLIENT_CAPABILITIES), dict):
        return RpcError(INVALID_PARAMS, "_meta says no protocol version or no client capabilities")
    if version not in script.modern_versions:
        return _unsupported(script, version)
    if asked.meta.get(LOG_LEVEL, "debug") not in LEVELS:
        return RpcError(INVALID_PARAMS, "no such log level")
    return None


def complete(script: "Script", asked: Asked, result: Json) -> Json:
    """The result with everything that its era demands and that it does not say itself."""
    if not asked.modern:
        return result
    said: Json = {"resultType": "complete"} | result
    said["_meta"] = {SERVER_INFO: script.info} | said.get("_meta", {})
    if asked.method in CACHEABLE and said["resultType"] == "complete":
        said = {"ttlMs": script.ttl_ms, "cacheScope": script.cache_scope} | said
    return said


def _unsupported(script: "Script", version: str) -> RpcError:
    data = {"supported": list(script.modern_versions), "requested": version}
    return RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
