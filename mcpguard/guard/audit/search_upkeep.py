"""Keeps the index of searches up with what is recorded.

Rules kept here:
1. A record is indexed after its commit, a few blocks in a transaction of their own, with calls served in between.
2. Nothing waits for the index: searches read what it does not have. What a crash left is indexed after the next start.
3. While the ledger cannot write, nothing is indexed.
"""

from functools import partial
from typing import Final

import structlog

from mcpguard.domain.clock import Clock
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger.ledger import Ledger
from mcpguard.store.engine.writer import Writer
from mcpguard.store.search import search_index

EVERY_SECONDS: Final = 1.0
log = structlog.get_logger("mcpguard.ledger")


class SearchUpkeep:
    """Indexes the chain that this guard writes."""

    def __init__(self, writer: Writer, ledger: Ledger, clock: Clock) -> None:
        self._writer = writer
        self._ledger = ledger
        self._clock = clock
        self._reached = 0
        """The number up to which all is indexed that can be."""

    async def run(self) -> None:
        """Index what is recorded, until this is cancelled."""
        while True:
            await self._catch_up()
            await self._clock.sleep(EVERY_SECONDS)

    async def _catch_up(self) -> None:
        stored = self._ledger.chain.acknowledged
        more = stored is not None and stored.seq >= self._reached + search_index.BLOCK
        while more and stored is not None and self._ledger.outage is None:
            extend = partial(search_index.extend, chain=self._ledger.chain.id, upto=stored.seq)
            try:
                self._reached, more = await self._writer.submit(extend, bare=self._writer.is_quick)
            except StoreUnavailable as error:
                log.warning("ledger.not_indexed", why=str(error))
                self._reached, more = stored.seq, False  # tried again after some more records
