"""Questions and answers of odd shapes: they cost at most the call that they belong to, never the server's others."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.attacks.asking import ADA, ASKED_BY, FORM, PERMITTED, TOOL, Questioned, nosy
from tests.gateway.speaking import HOWS, guarded, speaking

pytestmark = pytest.mark.anyio
ODD_MODES: list[Any] = [[], {}, None, 1, "FORM", ["form"]]
NO_ACTION: list[Any] = [[], {}, [["accept"]], None, 1, True, "ACCEPT", {"accept": 1}]


@pytest.mark.parametrize("server", ASKED_BY)
async def test_an_answer_with_an_odd_action_ends_no_connection(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    script = nosy(era)
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        before = guard.now.guard.status().servers[0].since
        for how in HOWS:
            async with speaking(guard, how) as client, anyio.create_task_group() as tasks:
                for action in NO_ACTION:
                    call = await Questioned(client, tasks).begin()
                    reply = await call.answer({"action": action})
                    assert '"action"' in reply.text, reply
        (status,) = guard.now.guard.status().servers
        assert (status.state, status.since) == ("ready", before)


@pytest.mark.parametrize("server", ASKED_BY)
async def test_a_question_in_an_odd_mode_ends_no_connection(server: str, tmp_path: Path) -> None:
    over, era = server.split()
    question: dict[str, Any] = {**FORM}
    script = nosy(era, wants={"who": {"method": "elicitation/create", "params": question}})
    async with guarded(tmp_path, script, over=over, may_ask=PERMITTED) as guard:
        before = guard.now.guard.status().servers[0].since
        client = guard.client()
        client.on["elicitation/create"] = lambda _: ADA
        for mode in ODD_MODES:
            question["mode"] = mode
            reply = await client.call(TOOL)
            entry = guard.entries()[-1]
            (status,) = guard.now.guard.status().servers
            assert (status.state, status.since) == ("ready", before), (mode, status)
            assert "Ada" not in str(reply.message), mode
            assert entry.get("reason") == ("client:unable" if era == "modern" else None), mode
        assert len(guard.entries()) == len(ODD_MODES)
