"""A reply that only resembles published attacks is noted where replies are compared with them, and never withheld."""

from pathlib import Path

import pytest

from mcpguard.domain.screening import Screening
from tests.gateway.screened import ORDER, REQUESTS, screen, told
from tests.gateway.speaking import HOWS, guarded, speaking
from tests.inspection.resemblance.alike_texts import ALIKE
from tests.simulators.script import Script

pytestmark = pytest.mark.anyio
RULE = "resemblance.attack"
SCREENED = "mcpguard/screened"


def saying(text: str) -> Script:
    """A server that says this in what it returns."""
    script = Script()
    script.answers["tools/call echo"] = {"content": [{"type": "text", "text": text}]}
    script.answers["resources/read note://first"] = {"contents": [{"uri": "note://first", "text": text}]}
    message = {"role": "user", "content": {"type": "text", "text": text}}
    script.answers["prompts/get greet"] = {"messages": [message]}
    script.answers["completion/complete"] = {"completion": {"values": [text], "total": 1}}
    return script


@pytest.mark.parametrize("what", REQUESTS)
async def test_a_reply_that_resembles_attacks_is_noted_in_every_mode_and_passed_on(what: str, tmp_path: Path) -> None:
    async with guarded(tmp_path, saying(ALIKE[2])) as guard:
        for how in HOWS:
            async with speaking(guard, how) as client:
                for mode in (Screening.NOTE, Screening.MASK, Screening.REFUSE):
                    await screen(guard, mode)
                    result = await told(client, what)
                    noted = result["_meta"][SCREENED]
                    assert (noted["mode"], RULE in noted["rules"]) == (mode, True)
                    assert ALIKE[2] in str(result)
                    entry = guard.entries()[-1]
                    assert (entry["outcome"], sorted(entry["found"].split())) == ("answered", sorted(noted["rules"]))
                await screen(guard, Screening.OFF)
                assert SCREENED not in (await told(client, what))["_meta"]


@pytest.mark.parametrize("what", REQUESTS)
async def test_where_nothing_is_compared_it_passes_unnoted_and_what_the_rules_know_does_not(
    what: str, tmp_path: Path
) -> None:
    script = saying(ALIKE[2])
    async with (
        guarded(tmp_path, script, screening__resemblance="off") as guard,
        speaking(guard, HOWS[0]) as client,
    ):
        for mode in (Screening.NOTE, Screening.MASK, Screening.REFUSE):
            await screen(guard, mode)
            assert SCREENED not in (await told(client, what))["_meta"]
            assert "found" not in guard.entries()[-1]
        await screen(guard, Screening.NOTE)
        script.answers = saying(f"{ORDER} {ALIKE[2]}").answers
        rules = (await told(client, what))["_meta"][SCREENED]["rules"]
        assert "override.instructions" in rules
        assert RULE not in rules


@pytest.mark.parametrize("resemblance", ["on", "off"])
async def test_what_is_hard_is_refused_whether_it_resembles_attacks_as_well_or_not(
    resemblance: str, tmp_path: Path
) -> None:
    script = saying(f"{ORDER} {ALIKE[2]}")
    async with (
        guarded(tmp_path, script, screening__resemblance=resemblance, screening__mode="refuse") as guard,
        speaking(guard, HOWS[0]) as client,
    ):
        result = await told(client, "tool")
        assert result["_meta"]["mcpguard/refusal"]["reason"] == "reply:screened"
        assert (RULE in guard.entries()[-1]["found"].split()) is (resemblance == "on")
