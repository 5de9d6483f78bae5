"""Calls with the verdict that each of them gets, every way in which they may come, and a guard that judges them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from mcpguard.domain.callers import Caller
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.decisions import Answer
from tests.gate import Gate
from tests.gateway.speaking import EVERYTHING, HOWS, OTHER_TOKEN, TOKEN, guarded, speaking
from tests.review import DECISION
from tests.simulators.client import RawClient
from tests.simulators.script import Script
from tests.simulators.words import Json

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
NARROW, CAREFUL = Caller("narrow", "narrow", EVERYTHING), Caller("careful", "careful", EVERYTHING, must_declare=True)
DEEP: Json = {}
for _ in range(12):
    DEEP = {"a": DEEP}
VERDICT = (
    "verdict",
    "reason",
    "rules",
    "effect",
    "operation",
    "declared",
    "fingerprint",
    "outcome",
    "executed",
    "secrets",
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.one_of(st.integers(-3, 3), st.text("ab", max_size=3), st.just(SECRET), st.just("y" * 5000), st.just(DEEP)),
    max_size=3,
)


@dataclass
class Case:
    """A call, and what is told of it."""

    tool: str
    arguments: Json
    reason: str = ""
    detail: Json = field(default_factory=dict)
    token: str = TOKEN


UNDECLARED: Json = {"effect": "destructive", "call_with": "call_tool_destructive"}
CASES = [
    Case("add", {"a": 1, "b": 2}),
    Case("echo", {"whatever": [1, None, {"x": "y"}]}),
    Case("fail", {}, token=TOKEN),
    Case("add", {"a": 1}, "arguments:invalid", {"path": "$.b", "expected": "a value; it is required"}),
    Case("add", {"a": "planted", "b": 2}, "arguments:invalid", {"path": "$.a", "expected": "a number"}),
    Case("echo", {"token": SECRET}, "arguments:secret", {"secret": "github-pat"}),
    Case("echo", {"x": "y" * 5000}, "arguments:too_large"),
    Case("echo", DEEP, "arguments:too_large", {"path": "$", "expected": "at most 10 levels"}),
    Case("odd", {}, "arguments:unverifiable"),
    Case("fail", {}, "intent:undeclared", UNDECLARED, token=OTHER_TOKEN),
    Case("add", {"a": 1, "b": 2}, token=OTHER_TOKEN),
    Case("nothing", {"token": SECRET}, "capability:unknown"),
    Case("nobody", {"token": SECRET}, "capability:blocked"),
]


@asynccontextmanager
async def judged(folder: Path) -> AsyncIterator[tuple[Gate, Script]]:
    script = Script()
    script.tool("odd", "done", inputSchema={"type": "object", "properties": {"a": {"$ref": "https://example.org/a"}}})
    script.tool("nobody", "done")
    callers = {TOKEN: NARROW, OTHER_TOKEN: CAREFUL}
    async with guarded(folder, script, callers=callers, arguments__largest=4096, arguments__deepest=10) as guard:
        await guard.now.guard.decisions.decide("web", (CapabilityKind.TOOL, "nobody"), Answer.BLOCK, None, DECISION)
        yield guard, script


@asynccontextmanager
async def every_way(guard: Gate, token: str) -> AsyncIterator[dict[str, RawClient]]:
    """A client for each transport, era and face; its name says what stands before the name of a tool."""
    async with AsyncExitStack() as stack:
        yield {
            f"{how} {'transparent' if only else 'direct'}": await stack.enter_async_context(
                speaking(guard, how, only=only, token=token)
            )
            for how in HOWS
            for only in (None, "web")
        }


def told(answer: Json) -> Json:
    said = answer.get("_meta", {}).get("mcpguard/refusal", {})
    return {name: value for name, value in said.items() if name != "call_id"}


async def answer(client: RawClient, way: str, tool: str, arguments: Json) -> Json:
    result: Json = (await client.call(tool if way.endswith("transparent") else f"web::{tool}", arguments)).result
    return result
