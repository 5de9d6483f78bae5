"""What a server says of itself, and what it hears of us, when a revision is agreed on."""

import json
from typing import Any

import pytest

from mcpguard.upstreams.protocol.negotiation import LONGEST_INSTRUCTIONS
from tests.simulators.script import Script
from tests.simulators.words import LEGACY, MODERN, Json
from tests.upstreams.flock import flock

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("odd", [None, [], "text", 7, {"name": ["x"], "version": {"a": 1}}, {"name": "\u202egnp\x00"}])
async def test_what_it_says_of_itself_may_be_anything(era: str, odd: Any) -> None:  # noqa: ANN401 - JSON
    script = Script(era)
    said: Json = {"capabilities": {"tools": {}}, "serverInfo": odd, "instructions": odd}
    if era == "legacy":
        script.answers["initialize"] = {"protocolVersion": LEGACY[0], **said}
    else:
        script.answers["server/discover"] = {"supportedVersions": [MODERN], **said}
    async with flock({"a": script}) as kept:
        condition = await kept.ready("a")
        assert condition.server in ("", "⟨U+202E⟩gnp⟨U+0000⟩")
        assert kept.listings("a")[-1].instructions == ("text" if odd == "text" else None)
        assert kept.listings("a")[-1].server == (odd if isinstance(odd, dict) else {})


@pytest.mark.parametrize("odd", [None, [], "tools", 7])
async def test_capabilities_that_are_none_are_none(odd: Any) -> None:  # noqa: ANN401 - JSON
    script = Script("legacy")
    script.answers["initialize"] = {"protocolVersion": LEGACY[0], "capabilities": odd}
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        assert kept.listings("a")[-1].capabilities == {}
        assert script.called("tools/list") == []


async def test_instructions_are_cut_at_a_length() -> None:
    script = Script()
    script.instructions = "x" * (LONGEST_INSTRUCTIONS + 1)
    async with flock({"a": script}) as kept:
        await kept.ready("a")
        assert kept.listings("a")[-1].instructions == "x" * LONGEST_INSTRUCTIONS


async def test_we_say_who_we_are_and_that_we_can_do_nothing() -> None:
    """What we can do is what servers may ask for."""
    for era in ("legacy", "modern"):
        script = Script(era)
        async with flock({"a": script}) as kept:
            await kept.ready("a")
        said = json.dumps(script.calls[0 if era == "modern" else 1]["params"])
        assert '"mcpguard"' in said
        assert 'apabilities": {}' in said
