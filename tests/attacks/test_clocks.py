"""The machine's clock is set by decades, or to a time that no record can hold, while the guard runs."""

from pathlib import Path

import pytest

from mcpguard.domain.calls.outcomes import Outcome, OutcomeKind
from mcpguard.domain.reasons import Reason
from tests.world import world

pytestmark = pytest.mark.anyio
YEAR = 31_557_600 * 1_000_000


async def test_calls_are_recorded_in_their_order_whatever_the_clock_says_and_refused_where_it_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as guard:
        right = guard.clock.now
        for years in (-10, 10, -60, 200):
            monkeypatch.setattr(guard.clock, "now", lambda years=years: right() + years * YEAR)
            assert (await guard.call()).kind is OutcomeKind.ANSWERED
        monkeypatch.setattr(guard.clock, "now", lambda: right() + 2000 * YEAR)
        for _ in range(2):
            assert await guard.call() == Outcome.refusal(Reason.LEDGER_UNAVAILABLE)
            await guard.clock.advance(5)
        assert (await guard.network.get("/readyz")).status_code == 503
        monkeypatch.setattr(guard.clock, "now", right)
        await guard.recovered()
        assert (await guard.call()).kind is OutcomeKind.ANSWERED
        assert guard.verified().whole
