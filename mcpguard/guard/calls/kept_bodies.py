"""Bodies as the audit log keeps them: suspected secrets are masked before anything is stored.

Rules kept here:
1. Everything that looks like a secret is masked, even at the risk of a false positive, and so are the secrets that the
   server was given. The original can be verified only by its keyed digest.
2. The work is bounded: of a body above the size limit in the settings only the digest is kept. Large bodies are masked
   in a thread, one at a time, so that no other call waits for them.
3. Everything else of a call that is stored beside its body is masked the same way.
4. One search of the bytes spares most bodies all others. What it passes over is kept as it is.
5. Comparing two bodies by their keyed digests requires the key, which is in a file beside the database, never in it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from anyio import CapacityLimiter, to_thread

from mcpguard.codec.messages import dumps
from mcpguard.domain.calls.bodies import Body, DigestedBody, KeptBody
from mcpguard.domain.calls.records import Opening
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.policy.secrets.detection import may_hold, may_hold_in_json
from mcpguard.policy.secrets.masking import Spellings, mask_secrets, spellings_in_json
from mcpguard.settings.model import Audit
from mcpguard.store.files import keyfiles

KEY_BYTES: Final = 32
LARGE: Final = 16 * 1024
"""Bytes; a smaller body is masked at once, because handing it to a thread would cost more."""


class Digests:
    """Makes keyed digests (HMAC-SHA-256), with the key's part of the work done once."""

    def __init__(self, key: bytes) -> None:
        self._inner = sha256(bytes(byte ^ 0x36 for byte in key.ljust(64, b"\0")))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in key.ljust(64, b"\0")))

    def keyed_digest(self, content: bytes) -> str:
        """The digest of these bytes, as records have it."""
        # HMAC by its definition, from two hash states that have the key already.
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(content)
        outer.update(inner.digest())
        return f"hmac-sha256:{outer.hexdigest()}"


class KeptBodies:
    """Makes the bodies to be stored. `known` has the ways in which the secrets of each server may be written."""

    def __init__(self, digests: Digests, settings: Audit, known: Mapping[str, Spellings]) -> None:
        self._digests = digests
        self._most = settings.body_bytes if settings.bodies == "keep" else None
        self._known = known
        self._in_json: dict[str, tuple[Spellings, Spellings | None]] = {}
        """For each server, the spellings that it was given last, and those as JSON has them."""
        self._turn = CapacityLimiter(1)

    async def make_body(
        self, server: str, value: object, written: bytes | None = None, clear: bool | None = None
    ) -> Body:
        """The body to store for this value, with the secrets of that server masked. `written`: its bytes, where they
        exist; `clear`: whether it is known already that `may_hold_in_json` finds nothing in them."""
        if written is None:
            written = dumps(value)
        keyed, known = self._digests.keyed_digest(written), self._known.get(server, ())
        if self._most is None:
            return DigestedBody(len(written), keyed)
        # Masking a huge body would hold up others. Its digest still proves later what was sent.
        if len(written) > self._most:
            return DigestedBody(len(written), keyed, too_large=True)
        if len(written) > LARGE:
            # One at a time for all calls: a flood of large bodies must not take every thread.
            masked = await to_thread.run_sync(partial(_masked, value, written, known), limiter=self._turn)
            return KeptBody(masked, keyed)
        if clear is None:
            clear = not may_hold_in_json(written)
        if clear and (not known or self._is_without(server, written, known)):
            return KeptBody(written, keyed, clear=True)
        return KeptBody(_masked(value, written, known), keyed)

    def mask_texts(self, opening: Opening) -> Opening:
        """The opening of a call, with secrets masked in everything that its caller wrote beside the arguments."""
        capability, intent, known = opening.capability, opening.intent, self._known.get(opening.capability.server, ())
        texts = [capability.name, intent.reason, opening.client, opening.trace]
        # Searched as `text_of_value` writes these texts. Nearly always there is nothing in them.
        text = f'\n="{texts[0]}"\n="{texts[1]}"\n="{texts[2]}"\n="{texts[3]}"'.encode(errors="replace")
        if not may_hold(text) and not (known and any(way in text for way in known)):
            return opening
        left = mask_secrets(texts, known, maybe=True).value
        if left is texts:
            return opening
        name, reason, client, trace = left
        return replace(
            opening,
            capability=replace(capability, name=name),
            intent=replace(intent, reason=reason),
            client=client,
            trace=trace,
        )

    def _is_without(self, server: str, written: bytes, known: Spellings) -> bool:
        """Tell whether JSON shows that its value has none of these secrets."""
        kept = self._in_json.get(server)
        if kept is None or kept[0] is not known:
            kept = self._in_json[server] = known, spellings_in_json(known)
        return kept[1] is not None and not any(way in written for way in kept[1])


def _masked(value: object, written: bytes, known: Spellings) -> bytes:
    left = mask_secrets(value, known, maybe=True)
    return dumps(left.value) if left.count else written


def load_or_make_digests(path: Path) -> Digests:
    """Digests with the key in the file `path`, which is made on first use."""
    key = keyfiles.read_or_make(path, "digest key", lambda: secrets.token_bytes(KEY_BYTES))
    if len(key) != KEY_BYTES:
        raise StoreUnavailable(f"{path} is not a digest key: it has {len(key)} bytes, not {KEY_BYTES}")
    return Digests(key)
