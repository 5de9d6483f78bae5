"""The definitions of the guard face's tools. An agent pays for every word of this in each conversation.

Rules kept here:
1. Tools that are answered here declare an output schema; those that pass on a server's answer declare none.
2. Nothing here promises more than `arguments.py` reads, and a test compares the two.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from mcpguard.codec.envelope import MORE
from mcpguard.domain.capabilities import Effect
from mcpguard.engines.code_run import LONGEST_PROGRAM
from mcpguard.gateway.tools.arguments import LONGEST_QUERY, LONGEST_REASON, MOST_FOUND, MOST_NAMES
from mcpguard.gateway.tools.declarations import MOST_LINES, ServerOperation
from mcpguard.proxy.definition import definition
from mcpguard.settings.model import Settings

RETRIEVE: Final = "retrieve_tools"
DESCRIBE: Final = "describe_tool"
CALL: Final = "call_tool"
VARIANTS: Final = MappingProxyType({f"{CALL}_{effect.value}": effect for effect in Effect})
SERVERS: Final = "upstream_servers"
CODE: Final = "code_execution"


Schema = dict[str, Any]
_TEXT: Final[Schema] = {"type": "string"}
_OBJECT: Final[Schema] = {"type": "object"}
_EFFECT: Final[Schema] = {"enum": [effect.value for effect in Effect]}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_SENSITIVITY: Final[Schema] = {"enum": ["public", "internal", "private", "unknown"]}


def _object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _saying(description: str, **schema: Any) -> Schema:  # noqa: ANN401 - JSON
    return {**schema, "description": description}


def _tool(name: str, description: str, schema: Schema, *, reads: bool, answer: Schema | None = None) -> Schema:
    hints = {"readOnlyHint": reads} | ({} if reads else {"destructiveHint": name != f"{CALL}_write"})
    found = {"name": name, "description": description, "inputSchema": schema, "annotations": hints}
    return found if answer is None else {**found, "outputSchema": answer}


_INTENT: Final = {
    "intent": _object(
        (),
        operation_type=_EFFECT,
        data_sensitivity=_SENSITIVITY,
        reason=_saying("Why, for the audit log.", type="string", maxLength=LONGEST_REASON),
    ),
    "intent_data_sensitivity": _SENSITIVITY,
    "intent_reason": {"type": "string", "maxLength": LONGEST_REASON},
}
_ARGUMENTS: Final = {"arguments": _saying("The tool's own arguments.", **_OBJECT), "args": _OBJECT, "args_json": _TEXT}
_VARIANT: Final = _object(
    ("name",), name=_saying("server:tool, as retrieve_tools gives it.", **_TEXT), **_ARGUMENTS, **_INTENT
)
_SAYS: Final = {
    Effect.READ: "Call a tool that only reads.",
    Effect.WRITE: "Call a tool that changes something that can be undone.",
    Effect.DESTRUCTIVE: "Call a tool that deletes, sends, pays, or does what cannot be undone.",
}
_ANSWERS: Final = _object(
    ("tools", "total", "query"),
    tools={"type": "array", "items": _OBJECT},
    total={"type": "integer"},
    query=_TEXT,
    notice=_TEXT,
)

DEFINITIONS: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        each["name"]: each
        for each in (
            _tool(
                RETRIEVE,
                "Find tools for a task. Ask with service, verb and object, such as 'github create issue'. "
                "`call_with` of each hit names the call_tool_… to use.",
                _object(
                    ("query",),
                    query={"type": "string", "maxLength": LONGEST_QUERY},
                    limit={"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": 15},
                    detail=_saying("full: with input schemas.", enum=["compact", "full"], default="compact"),
                    effects={"type": "array", "items": _EFFECT},
                    servers=_TEXTS,
                ),
                reads=True,
                answer=_ANSWERS,
            ),
            _tool(
                DESCRIBE,
                "The full definitions of tools, and whether each can be called now.",
                _object(("names",), names={**_TEXTS, "maxItems": MOST_NAMES}, **{"as": {"enum": ["schema", "python"]}}),
                reads=True,
                answer=_object(
                    ("tools",), tools={"type": "array", "items": _OBJECT}, instructions=_OBJECT, notice=_TEXT
                ),
            ),
            *(_tool(name, _SAYS[effect], _VARIANT, reads=effect is Effect.READ) for name, effect in VARIANTS.items()),
            _tool(
                CALL,
                "Call a tool without a declared intent.",
                _object(("server", "tool"), server=_TEXT, tool=_TEXT, arguments=_OBJECT),
                reads=False,
            ),
            _tool(
                MORE,
                "The rest of a long reply, with the key that came with it.",
                _object(
                    ("key",),
                    key=_TEXT,
                    offset={"type": "integer", "minimum": 0},
                    limit={"type": "integer", "minimum": 1},
                ),
                reads=True,
            ),
            _tool(
                SERVERS,
                "The servers behind this one: list them, read the end of a log (tail_log), or request one, which a "
                "person reviews first. Other operations need permission to manage servers; nothing here approves.",
                _object(
                    ("operation",),
                    operation={"enum": [each.value for each in ServerOperation]},
                    name=_TEXT,
                    config=_saying("An entry as in mcpServers; for patch: the changes, null removes.", **_OBJECT),
                    lines={"type": "integer", "minimum": 1, "maximum": MOST_LINES, "default": 50},
                ),
                reads=False,
                answer=_OBJECT,
            ),
        )
    }
)

CODE_DEFINITION: Final = _tool(
    CODE,
    "Run a program that calls many tools, so that only its value comes back. In it: call_tool(server, tool, args) → "
    "{ok, result | error}, call_tools([{server, tool, args}, …], max_parallel=N), log(…), `input`. The last expression "
    "is the value. `intent` bounds what all its calls may do; without one they may only read.",
    _object(
        ("code",),
        code={"type": "string", "maxLength": LONGEST_PROGRAM},
        language=_saying("Only python runs.", enum=["python", "javascript", "typescript"], default="python"),
        input={},
        options=_object(
            (),
            timeout_ms={"type": "integer", "minimum": 1},
            max_tool_calls={"type": "integer", "minimum": 1},
            allowed_servers=_TEXTS,
        ),
        intent=_INTENT["intent"],
    ),
    reads=False,
    answer=_object(
        ("ok", "logs", "answered", "calls"),
        ok={"type": "boolean"},
        value={},
        error=_OBJECT,
        logs=_TEXTS,
        answered={"type": "integer"},
        calls={"type": "array", "items": _OBJECT},
        run_id=_TEXT,
    ),
)

DECLARED: Final = frozenset({CODE, *(name for name, each in DEFINITIONS.items() if "outputSchema" in each)})
"""The names of those that say what structure their answers have, so that a refusal has none."""


def tool_definitions(settings: Settings) -> tuple[Schema, ...]:
    """Return the tools that are offered with these settings."""
    code = (CODE_DEFINITION,) if settings.code.enabled else ()
    proxy = (definition(settings.proxy.name),) if settings.proxy.enabled else ()
    return (*DEFINITIONS.values(), *code, *proxy)
