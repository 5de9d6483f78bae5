"""Whatever was recorded, pruned and redacted, in whatever order, and with however many starts between: what is left is
whole to both verifiers, what was said to go is gone, and nothing else is."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpguard.domain.calls.bodies import KeptBody
from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.decisions import Undecidable
from mcpguard.guard.audit.retention import PruningRequest
from mcpguard.ledger.checkpoints import CheckpointCause
from tests import second_verifier
from tests.guard.pruned import BY, gone, prunings
from tests.ledger.tampering import EMPTY, tampering
from tests.tiers import examples
from tests.world import World, verified, world

STEPS = st.one_of(
    st.tuples(st.just("calls"), st.integers(1, 6)),
    st.tuples(st.just("checkpoint"), st.just(0)),
    st.tuples(st.just("keep"), st.integers(0, 20)),
    st.tuples(st.just("bodies"), st.integers(0, 20)),
    st.tuples(st.just("redact"), st.integers(0, 20)),
    st.tuples(st.just("restart"), st.just(0)),
)


async def step(guard: World, what: str, number: int) -> None:
    now = guard.now.guard
    match what:
        case "calls":
            for _ in range(number):
                await guard.call(guard.opening(arguments=KeptBody(b"{}")), Outcome.answer(KeptBody(b"a")))
        case "checkpoint":
            await guard.now.ledger.checkpoint(CheckpointCause.EXPORT)
        case "keep" | "bodies":
            with suppress(Undecidable):
                await now.retention.prune_on_request(
                    PruningRequest(keep=number, bodies=what == "bodies"), BY, dry=False
                )
        case "redact":
            opened = [record["entry"] for record in guard.said() if record["kind"] == "opened"]
            if opened:
                with suppress(Undecidable):
                    await now.redacting.redact(opened[number % len(opened)], BY)
        case _:
            raise ValueError(what)


def unsaid(guard: World, number: int) -> bool:
    """In a copy, something goes that no record accounts for; whether there was anything left that could."""
    copy = guard.database.with_name("copy.db")
    copy.unlink(missing_ok=True)
    with closing(sqlite3.connect(guard.database)) as live, closing(sqlite3.connect(copy)) as copied:
        live.backup(copied)
    said = {(record["what"], seq) for record in prunings(guard) for seq in range(record["first"], record["last"] + 1)}
    with tampering(copy) as connection:
        full = connection.execute("SELECT seq FROM bodies WHERE content IS NOT NULL").fetchall()
        candidates = [
            *(("records", record["seq"]) for record in guard.said() if ("records", record["seq"]) not in said),
            *(("bodies", seq) for (seq,) in full if ("bodies", seq) not in said),
        ]
        what, seq = candidates[number % len(candidates)]
        if what == "records":
            connection.execute(EMPTY, (seq, seq))
            connection.execute("DELETE FROM bodies WHERE seq = ?", (seq,))
        else:
            connection.execute("UPDATE bodies SET content = NULL, salt = NULL WHERE seq = ?", (seq,))
    return not verified(copy).whole and second_verifier.verify(copy) != []


def judged(guard: World) -> None:
    assert unsaid(guard, len(guard.said())), "whatever goes unsaid is found"
    assert guard.verified().whole, guard.verified().chains
    assert second_verifier.verify(guard.database) == []
    claimed = {
        seq
        for record in prunings(guard)
        if record["what"] == "records"
        for seq in range(record["first"], record["last"] + 1)
    }
    assert {*gone(guard)} == claimed


async def lived(folder: Path, steps: list[tuple[str, int]]) -> None:
    left = list(steps)
    while True:
        async with world(folder, audit__checkpoint_records=7) as guard:
            while left and left[0][0] != "restart":
                await step(guard, *left.pop(0))
            judged(guard)
        if not left:
            return
        left.pop(0)


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=3, max_size=8))
def test_what_is_left_is_whole(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        anyio.run(lived, Path(folder), [("calls", 4), *steps])
