"""A real guard process with a crowd of calls, to be killed. Says on a pipe, byte for byte, what was acknowledged.

    python -m tests.attacks.crowd DATA_DIR FD

Every acknowledged append is one line on the pipe, written after the ledger said so and before anything else:
`o ENTRY` when the opening is stored, `c ENTRY OUTCOME` when the closing is.
"""

import os
import random
import sys
from pathlib import Path

import anyio

from mcpguard.app.clock import SystemClock, new_id
from mcpguard.app.lifespan import Running, running
from mcpguard.domain.callers import Caller
from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.calls import Face, Intent
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.calls.verdicts import Allow, Deny
from mcpguard.domain.capabilities import Capability, CapabilityKind, Effect
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.entries import Entry
from mcpguard.settings.load import load
from tests.recording import record

CROWD = 1000


def tell(pipe: int, line: str) -> None:
    os.write(pipe, line.encode() + b"\n")  # below PIPE_BUF, so whole or not at all


async def one_call(now: Running, pipe: int, dice: random.Random) -> None:
    effect = dice.choice(list(Effect))
    opening = Opening(
        entry=new_id(),
        caller=Caller("crowd", "crowd"),
        capability=Capability("files", CapabilityKind.TOOL, "write_file"),
        intent=Intent(effect, declared=True),
        face=Face.GUARD,
        verdict=Deny(Reason.SCOPE_EFFECT) if dice.random() < 0.1 else Allow(),
        effect=effect,
        arguments=KeptBody(dice.randbytes(dice.randrange(200))),
    )

    async def work(entry: Entry) -> Outcome:
        tell(pipe, f"o {entry.id}")
        entry.permit()
        await anyio.sleep(dice.random() / 100)
        return Outcome.answer(KeptBody(b"reply"))

    outcome = await record(now.ledger, opening, work)
    tell(pipe, f"c {opening.entry} {outcome.kind}")


async def main(data_dir: Path, pipe: int) -> None:
    dice = random.Random()  # noqa: S311 - no secret
    settings = load({"data_dir": data_dir, "audit.checkpoint_records": 500}, {}, None).settings

    async def caller() -> None:
        while True:
            await one_call(now, pipe, dice)

    async with running(settings, SystemClock(), new_id) as now, anyio.create_task_group() as tasks:
        tell(pipe, "ready")
        for number in range(CROWD):
            tasks.start_soon(caller, name=f"caller {number}")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]), backend_options={"use_uvloop": True})
