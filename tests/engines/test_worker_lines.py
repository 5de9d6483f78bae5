"""Whatever a worker writes is a message of a known kind, or ends its run; and whatever a program is, it can be read."""

import json

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpguard.engines.code_run import RunEnd, RunFailed, SuspendedRun
from mcpguard.engines.conversation import RunConversation
from mcpguard.engines.python.checked_copy import CheckedCopy
from mcpguard.engines.python.written_calls import written_calls
from mcpguard.upstreams.exchange.transport import TransportEnded
from tests.engines.running import TIGHT, Answering
from tests.tiers import examples

MEMBERS = ["names", "log", "state", "value", "failed", "code", "message", "call", "parallel", "line", "server", "tool"]
WORDS = st.sampled_from(["", "QQ==", "RUNTIME_ERROR", "TIMEOUT", "a"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(0, 0.001) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*MEMBERS, "args", "sleep"]), inner, max_size=4)
    ),
    max_leaves=12,
)
MESSAGES = st.dictionaries(st.sampled_from([*MEMBERS, "sleep"]), JSON, min_size=1, max_size=4)
CALLS = st.builds(lambda calls, most: {"call": calls, "parallel": most, "line": 1}, JSON, st.integers(-1, 2))
LINES = st.lists((MESSAGES | CALLS).map(lambda said: json.dumps(said).encode()) | st.binary(max_size=50), max_size=4)
WRITTEN = ["call_tool", "call_tools", "'a'", "'server'", "'tool'", "'args'", "1", "-1", "1e999", "0xffff", "None", "x"]
SIGNS = ["(", ")", "[", "]", "{", "}", ",", ":", "=", "**", "*", "\n", "\r", "\f", ";", "...", "f'{x}'", "b'a'", "1j"]
SYNTAX = ["for", "in", "if", "else", "lambda", "def", "f", "import", "as", "eval", "await", "async", "asyncio.gather"]
TOKENS = st.sampled_from([*WRITTEN, *SIGNS, *SYNTAX])


class Lines:
    """Stands for a process that writes these lines and ends."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines

    def charge_nothing(self) -> None:
        """There is nobody who would be charged."""

    async def send(self, message: bytes) -> None:
        json.loads(message)

    async def receive(self) -> bytes:
        if not self._lines:
            raise TransportEnded("it has ended")
        return self._lines.pop(0)


@settings(max_examples=examples(2000), deadline=None)
@given(lines=LINES, is_named=st.booleans())
def test_whatever_a_worker_writes_is_an_end_or_ends_its_run(lines: list[bytes], is_named: bool) -> None:
    async def hold() -> object:
        written = [b'{"names":[]}', *lines] if is_named else [*lines]
        try:
            return await RunConversation(TIGHT, Answering(waits="a")).hold(Lines(written), {})  # type: ignore[arg-type]
        except RunFailed as failed:
            return failed

    found = anyio.run(hold)
    assert isinstance(found, RunEnd | RunFailed | SuspendedRun)


@pytest.mark.anyio
async def test_a_large_line_is_read_like_a_small_one() -> None:
    text = "a" * 200_000
    lines = [b'{"names":[]}', json.dumps({"value": text}).encode()]
    assert await RunConversation(TIGHT, Answering()).hold(Lines(lines), {}) == RunEnd(text)  # type: ignore[arg-type]


@settings(max_examples=examples(3000), deadline=None)
@given(source=st.lists(TOKENS, max_size=40).map(" ".join) | st.text(max_size=50))
def test_any_source_can_be_looked_at(source: str) -> None:
    found = written_calls(source)
    functions = {(each.server, each.tool): "f" for each in found.calls}
    compile(CheckedCopy(found.calls, functions).text, "copy", "exec")
