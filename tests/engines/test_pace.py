"""A worker does not wait for what the guard does on its behalf: its calls are counted, and bounded otherwise."""

import time
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from mcpguard.engines.code_run import InnerCall
from mcpguard.upstreams.process import fair_reading
from tests.engines.running import Answering, ended, engines

pytestmark = pytest.mark.anyio
WORK = 0.02
"""Seconds of processor time that each call costs the guard."""


class Laborious(Answering):
    """Works hard for each call, as judging and recording it is work."""

    async def call(self, calls: list[InnerCall], _parallel: int) -> list[object]:  # type: ignore[override]
        self.made += calls
        until = time.thread_time() + WORK
        while time.thread_time() < until:
            pass
        return [{"ok": True, "result": None} for _ in calls]


async def test_a_call_does_not_make_its_worker_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await anyio.sleep(seconds)

    host = Laborious()
    async with engines(tmp_path) as made:
        own = SimpleNamespace(sleep=noted, sleep_until=anyio.sleep_until, current_time=anyio.current_time)
        monkeypatch.setattr(fair_reading, "anyio", own)
        end = await ended(made, 'for i in range(10): call_tool("web", "look")\n1', None, host)
    assert (end.value, len(host.made)) == (1, 10)
    assert not [seconds for seconds in waits if seconds >= fair_reading.GIVEN_BACK * WORK]
