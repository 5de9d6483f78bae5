"""What is kept of what calls carry: what looks like a secret is masked before anything is stored.

Rules kept here:
1. Whatever looks like a secret is masked, also where that may well be wrong, and so is what the server was given in
   confidence. What it was in clear can be told from its keyed digest alone.
2. The work is bounded: of what is larger than the setting says only the digest is kept. What is large is looked at
   aside, one after the other, so that nobody else waits for it.
3. What of a call is stored beside its body goes through the same.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from anyio import CapacityLimiter, to_thread

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.bodies import Body, KeptBody
from mcpguard.domain.calls.records import Opening
from mcpguard.ledger.digests import Digests
from mcpguard.policy.secrets.masking import Ways, masked
from mcpguard.settings.model import Audit

LARGE: Final = 16 * 1024
"""Bytes; what is smaller is looked at at once, because a thread costs more than that ever can."""


class KeptBodies:
    """Makes them. `known`: how what a server was given in confidence may be written."""

    def __init__(self, digests: Digests, settings: Audit, known: Callable[[str], Ways]) -> None:
        self._digests = digests
        self._most = settings.body_bytes if settings.bodies == "keep" else None
        self._known = known
        self._turn = CapacityLimiter(1)

    async def of(self, server: str, value: object, written: bytes | None = None) -> Body:
        """What is kept of this, which has to do with that server. `written`: how it is sent."""
        clear = dumps(value) if written is None else written
        digested = self._digests.body(clear)
        if self._most is None:
            return digested
        if len(clear) > self._most:
            return replace(digested, too_large=True)
        known = self._known(server)
        if len(clear) <= LARGE:
            kept = _masked(value, clear, known)
        else:
            kept = await to_thread.run_sync(partial(_masked, value, clear, known), limiter=self._turn)
        return KeptBody(kept, digested.digest)

    def opening(self, opening: Opening, arguments: Body) -> Opening:
        """The opening of a call with its arguments, and no secret in what its caller has written."""
        capability, intent = opening.capability, opening.intent
        texts = [capability.name, intent.reason, opening.client, opening.trace]
        left = masked(texts, self._known(capability.server), maybe=True).value
        if left is texts:
            return replace(opening, arguments=arguments)
        name, reason, client, trace = left
        return replace(
            opening,
            arguments=arguments,
            capability=replace(capability, name=name),
            intent=replace(intent, reason=reason),
            client=client,
            trace=trace,
        )


def _masked(value: object, clear: bytes, known: Ways) -> bytes:
    left = masked(value, known, maybe=True)
    return dumps(left.value) if left.count else clear
