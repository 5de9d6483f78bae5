"""Bodies as the audit log keeps them: suspected secrets are masked before anything is stored.

Rules kept here:
1. Everything that looks like a secret is masked, even at the risk of a false positive, and so are the secrets that the
   server was given. The original can be verified only by its keyed digest.
2. The work is bounded: of a body above the size limit in the settings only the digest is kept. Large bodies are masked
   in a thread, one at a time, so that no other call waits for them.
3. Everything else of a call that is stored beside its body is masked the same way.
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
from mcpguard.policy.secrets.masking import Spellings, mask_secrets
from mcpguard.settings.model import Audit

LARGE: Final = 16 * 1024
"""Bytes; a smaller body is masked at once, because handing it to a thread would cost more."""


class KeptBodies:
    """Makes the bodies to be stored. `known` gives the ways in which the secrets of a server may be written."""

    def __init__(self, digests: Digests, settings: Audit, known: Callable[[str], Spellings]) -> None:
        self._digests = digests
        self._most = settings.body_bytes if settings.bodies == "keep" else None
        self._known = known
        self._turn = CapacityLimiter(1)

    async def make_body(self, server: str, value: object, written: bytes | None = None) -> Body:
        """The body to store for this value, with the secrets of that server masked. `written`: its bytes, where they
        exist."""
        clear = dumps(value) if written is None else written
        digested = self._digests.body(clear)
        if self._most is None:
            return digested
        # Masking a huge body would hold up others. Its digest still proves later what was sent.
        if len(clear) > self._most:
            return replace(digested, too_large=True)
        known = self._known(server)
        if len(clear) <= LARGE:
            kept = _masked(value, clear, known)
        else:
            # One at a time for all calls: a flood of large bodies must not take every thread.
            kept = await to_thread.run_sync(partial(_masked, value, clear, known), limiter=self._turn)
        return KeptBody(kept, digested.digest)

    def with_arguments(self, opening: Opening, arguments: Body) -> Opening:
        """The opening of a call with its arguments, and with secrets masked in everything that its caller wrote."""
        capability, intent = opening.capability, opening.intent
        texts = [capability.name, intent.reason, opening.client, opening.trace]
        left = mask_secrets(texts, self._known(capability.server), maybe=True).value
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


def _masked(value: object, clear: bytes, known: Spellings) -> bytes:
    left = mask_secrets(value, known, maybe=True)
    return dumps(left.value) if left.count else clear
