"""What an agent pays for the guard face in every conversation, whatever stands behind it."""

from pathlib import Path

import pytest

from mcpguard.codec.messages import dumps
from tests.gateway.guard_face import agent
from tests.gateway.speaking import HOWS, guarded
from tests.simulators.script import Script
from tests.tokens import counted

pytestmark = pytest.mark.anyio
MOST_TOKENS = 2500


@pytest.mark.parametrize("how", HOWS)
async def test_the_whole_list_of_tools_is_small(how: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, Script()) as guard, agent(guard, how) as client:
        answer = (await client.request("tools/list", {})).result
    assert len(answer["tools"]) > 1
    (tokens,) = counted([dumps(answer).decode()])
    assert tokens < MOST_TOKENS


def test_tokens_are_those_of_the_vocabulary() -> None:
    """Some that anybody can look up, and nothing in a text is an instruction to the tokenizer."""
    assert counted(["", "tiktoken is great!", "hello world", "お誕生日おめでとう", "<|endoftext|>"]) == [0, 6, 2, 9, 7]
