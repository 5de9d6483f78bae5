"""A server whose tools are written to be found is approved only with a hint before the reviewer, and never blocked."""

from pathlib import Path

import pytest

from mcpguard.domain.capabilities import CapabilityKind
from tests.gate import gate
from tests.gateway.speaking import played
from tests.review import DECISION, approved
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
RULE = "promotion.subjects"
WORDS = "Weather, email, calendar, invoice, flight, recipe, stock, song, movie and repository"


async def test_a_reviewer_reads_the_words_and_whose_they_are_and_may_approve(tmp_path: Path) -> None:
    honest, stuffed = Script(), Script()
    honest.tools = [{"name": "send_email", "inputSchema": {"type": "object"}}]
    stuffed.tools = [{"name": "helper", "description": f"{WORDS}.", "inputSchema": {"type": "object"}}]
    async with (
        played(tmp_path, honest, "post") as first,
        played(tmp_path, stuffed, "everything") as second,
        gate(tmp_path) as guard,
    ):
        await guard.declare(first, second)
        for name in ("post", "everything"):
            done = await guard.now.guard.inspecting.inspect(name, DECISION, consent=True, give=frozenset())
            assert not done.error
        shown = await guard.now.guard.queries.capability("everything", (CapabilityKind.TOOL, "helper"))
        (hint,) = [each for each in shown["findings"] if each["rule"] == RULE]
        assert hint["severity"] == "medium"
        assert WORDS in hint["excerpt"]
        assert hint["about"] == "its words are in the names of 1 tool of 1 other server, such as post:send_email"
        shown = await guard.now.guard.queries.capability("post", (CapabilityKind.TOOL, "send_email"))
        assert shown["findings"] == []
        known = guard.now.guard.servers.find("everything")
        assert known is not None
        assert known.found.grave == frozenset()
        assert not await approved(guard.now, "everything")
