"""Whatever happens, in whatever order: once the dust has settled, what runs at the server is what is wanted.

The machine does to `Watching` whatever holders, servers and connections can do, and keeps the simplest model of it: who
holds what.
"""

import contextlib

from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.tiers import examples
from tests.upstreams.flock import settled
from tests.upstreams.watched import Holder, Server, kept

URIS = st.sampled_from(["a", "b", "c", "d"])


class Crowd(RuleBasedStateMachine):
    """Holders come and go, servers refuse and hesitate, connections are lost."""

    @initialize(modern=st.booleans(), whole=st.booleans())
    def open(self, modern: bool, whole: bool) -> None:
        self.stack = contextlib.ExitStack()
        self.portal: BlockingPortal = self.stack.enter_context(start_blocking_portal())
        self.kept, self.tasks = self.stack.enter_context(
            self.portal.wrap_async_context_manager(self.portal.call(lambda: kept(modern=modern)))
        )
        self.kept.server.whole = self.whole = whole
        self.holders: list[Holder] = []
        self.connected = True

    def teardown(self) -> None:
        if hasattr(self, "stack"):
            try:
                self.settle()
            finally:
                self.stack.close()

    @property
    def server(self) -> Server:
        return self.kept.server

    @rule(uri=URIS, steps=st.integers(0, 3))
    def comes(self, uri: str, steps: int) -> None:
        holder = self.portal.call(Holder, self.kept.watching, uri)
        self.holders.append(holder)
        self.portal.start_task_soon(holder.begin)
        self._steps(steps)

    @precondition(lambda self: self.holders)
    @rule(data=st.data(), steps=st.integers(0, 3))
    def goes(self, data: st.DataObject, steps: int) -> None:
        holder = self.holders.pop(data.draw(st.integers(0, len(self.holders) - 1)))
        self.portal.call(holder.give_up)
        self._steps(steps)

    @rule(uri=URIS)
    def is_refused_from_now_on(self, uri: str) -> None:
        self.server.refused.add(uri)

    @rule(uri=URIS)
    def is_not_refused_any_more(self, uri: str) -> None:
        self.server.refused.discard(uri)

    @rule()
    def hesitates(self) -> None:
        self.portal.call(self.server.hold)

    @rule(steps=st.integers(0, 5))
    def answers(self, steps: int) -> None:
        self.portal.call(self.server.go)
        self._steps(steps)

    @rule(steps=st.integers(0, 5))
    def breaks_off(self, steps: int) -> None:
        self.portal.call(self.server.break_listens)
        self._steps(steps)

    @rule(back=st.booleans())
    def is_lost(self, back: bool) -> None:
        if self.connected:
            self.portal.call(self.kept.lose)
        self.connected = back
        if back:
            self._connect()

    @rule(seconds=st.sampled_from([0.5, 5.0]))
    def waits(self, seconds: float) -> None:
        self.portal.call(self.kept.clock.advance, seconds)

    @rule()
    def settle(self) -> None:
        """Everybody is answered, and what was refused is asked for again."""
        if not self.connected:
            self._connect()
        self.portal.call(self.server.go)
        self.portal.call(self.kept.clock.advance, 200.0)
        wanted = {holder.uri for holder in self.holders if holder.holds}
        assert not [holder for holder in self.holders if not holder.holds and holder.error is None]
        assert wanted - self.server.refused <= self.server.tells
        if not self.server.whole or wanted - self.server.refused:  # what it tells all the same is better than nothing
            assert self.server.tells <= wanted
        assert set(self.kept.watching._wishes) == wanted
        assert len(self.server.listens) <= 1
        assert not self.server.gaps, "it was not heard of for a moment"

    def _connect(self) -> None:
        self.connected = True
        self.portal.call(self.kept.connect, self.tasks)
        self.server.whole = self.whole

    def _steps(self, count: int) -> None:
        for _ in range(count):
            self.portal.call(_step)
        if count == 3:
            self.portal.call(settled)


async def _step() -> None:
    """The call itself lets others run."""


TestCrowd = Crowd.TestCase
TestCrowd.settings = settings(max_examples=examples(60), stateful_step_count=40, deadline=None)
