"""While a database does not take records, no call is carried out, and everybody is told."""

from mcpguard.domain.calls.outcomes import Outcome
from mcpguard.domain.capabilities import Effect
from mcpguard.domain.reasons import Reason
from mcpguard.ledger.entries import Entry
from tests.recording import record
from tests.world import World


async def refused(guard: World) -> None:
    began = False

    async def work(_: Entry) -> Outcome:
        nonlocal began
        began = True
        return Outcome.answer()

    for effect in Effect:
        outcome = await record(guard.now.ledger, guard.opening(effect=effect), work)
        assert outcome == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
    assert not began
    assert (await guard.network.get("/readyz")).status_code == 503
