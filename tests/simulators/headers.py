"""What the modern era wants to see in the headers of a POST, and what is wrong with the headers it sees."""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tests.simulators.words import HEADER_MISMATCH, PROTOCOL_VERSION, Json, RpcError

if TYPE_CHECKING:
    from tests.simulators.script import Script

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_BEGIN, _END = "=?base64?", "?="


def mismatch(script: "Script", message: Json, headers: Mapping[str, str]) -> RpcError | None:
    """The first header that is missing or does not say what the body says."""
    params = message.get("params") or {}
    version = (params.get("_meta") or {}).get(PROTOCOL_VERSION)
    if "mcp-protocol-version" not in headers:
        return _refusal("MCP-Protocol-Version is missing")
    if version is not None and headers["mcp-protocol-version"] != version:
        return _refusal("MCP-Protocol-Version is not what the body says")
    wanted = {"mcp-method": message.get("method")}
    if (field := NAMED.get(str(message.get("method")))) is not None:
        wanted["mcp-name"] = params.get(field)
    if message.get("method") == "tools/call":
        wanted |= dict(parameters(script, params))
    for header, value in wanted.items():
        said = headers.get(header)
        if (said is None) != (value is None):
            return _refusal(f"{header} is missing, or there without a reason")
        if said is not None and not _same(header, said, value):
            return _refusal(f"{header} is not what the body says")
    return None


def parameters(script: "Script", params: Json) -> Iterator[tuple[str, object]]:
    """The headers that a tool wants to have of its arguments (`x-mcp-header`), and what they are to say."""
    for tool in script.tools:
        if tool.get("name") == params.get("name"):
            yield from _annotated(tool.get("inputSchema") or {}, params.get("arguments") or {})


def encoded(value: object) -> str:
    """The value as it stands in a header."""
    said = value if isinstance(value, str) else json.dumps(value)
    plain = said.isascii() and said.isprintable() and said == said.strip()
    if plain and not (said.startswith(_BEGIN) and said.endswith(_END)):
        return said
    return _BEGIN + base64.b64encode(said.encode()).decode() + _END


def _annotated(schema: Json, arguments: Json) -> Iterator[tuple[str, object]]:
    for name, member in (schema.get("properties") or {}).items():
        if "x-mcp-header" in member:
            yield f"mcp-param-{member['x-mcp-header']}".lower(), arguments.get(name)
        if isinstance(arguments.get(name), dict):
            yield from _annotated(member, arguments[name])


def _same(header: str, said: str, value: object) -> bool:
    if header != "mcp-method" and said.startswith(_BEGIN) and said.endswith(_END):
        try:
            said = base64.b64decode(said[len(_BEGIN) : -len(_END)], validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return False
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(said) == value
        except ValueError:
            return False
    return said == (value if isinstance(value, str) else json.dumps(value))


def _refusal(why: str) -> RpcError:
    return RpcError(HEADER_MISMATCH, f"Header mismatch: {why}")
