"""Tracks which clients want which resources of one server, and which of them the server has accepted.

Rules kept here:
1. A resource is wanted as long as at least one holder holds it. Holding it twice counts once, and a holder can always
   drop it.
2. The first holder triggers the request to the server; holders that join meanwhile wait for the same response.
3. A resource whose subscription was lost may change unnoticed. Once the server has accepted it again, a change is
   reported.
"""

from collections.abc import Callable, Iterable, Iterator

import anyio

from mcpguard.codec.uris import is_below
from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded

Refusal = ServerError | TransportEnded | TimeoutError


class WishAnswer:
    """The server's answer to one wish, for everyone who waits for it."""

    def __init__(self) -> None:
        self._known = anyio.Event()
        self._refusal: Refusal | None = None

    def settle(self, refusal: Refusal | None) -> None:
        self._refusal = refusal
        self._known.set()

    async def wait(self) -> None:
        """Return once the server has agreed. Raises ServerError, TransportEnded or TimeoutError."""
        await self._known.wait()
        match self._refusal:
            case None:
                return
            case ServerError(error=error):
                raise ServerError(error)
            case TimeoutError():
                raise TimeoutError
            case ended:
                raise TransportEnded(str(ended))


class _Wish:
    def __init__(self) -> None:
        self.holders: set[object] = set()
        self.answer = WishAnswer()
        self.due = True  # the server has to be asked
        self.heard = False  # the server has agreed
        self.unheard = False  # the server had agreed, and a change since then may have gone unnoticed


class Wishes:
    """The wishes for one server. `tell` is called for a resource that may have changed unnoticed."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._wishes: dict[str, _Wish] = {}
        self._prefixes: tuple[str, ...] | None = None
        self._changed: dict[str, None] = {}
        self._change = anyio.Event()
        self._failure = anyio.Event()

    def __len__(self) -> int:
        return len(self._wishes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._wishes)

    def __contains__(self, uri: str) -> bool:
        return uri in self._wishes

    def add(self, uri: str, holder: object) -> WishAnswer:
        """Hold a resource, and return the server's answer, which may be yet to come."""
        wish = self._wishes.get(uri)
        if wish is None:
            wish = self._wishes[uri] = _Wish()
            self._prefixes = None
        wish.holders.add(holder)
        if not wish.heard:
            self._ask(uri, wish)
        return wish.answer

    def drop(self, uri: str, holder: object) -> None:
        """Drop a resource, if it was held."""
        wish = self._wishes.get(uri)
        if wish is None or holder not in wish.holders:
            return
        wish.holders.discard(holder)
        if not wish.holders:
            del self._wishes[uri]
            self._prefixes = None
            wish.answer.settle(TransportEnded("the subscription was cancelled"))  # for whoever may still wait for it
            self._note(uri)

    def due(self, uri: str) -> bool:
        """Tell whether the server has to be asked for this resource now."""
        wish = self._wishes.get(uri)
        return wish is not None and wish.due

    def note_agreed(self, uri: str) -> None:
        """Note that the server reports changes of this resource from now on."""
        wish = self._wishes.get(uri)
        if wish is None:
            return
        unheard = wish.unheard
        wish.due, wish.heard, wish.unheard = False, True, False
        wish.answer.settle(None)
        if unheard:
            self._tell(uri)

    def note_refused(self, uri: str, refusal: Refusal) -> None:
        """Note that the server does not report changes of this resource, or no longer."""
        wish = self._wishes.get(uri)
        if wish is None:
            return
        if wish.heard:
            # A new answer for later holders; those who waited for the old one have theirs.
            wish.unheard, wish.answer = True, WishAnswer()
        wish.due = wish.heard = False
        wish.answer.settle(refusal)
        self._failure.set()

    def ask_again(self) -> int:
        """Have the server asked again for every resource without a subscription. Returns how many there are."""
        self._failure = anyio.Event()
        missing = [(uri, wish) for uri, wish in self._wishes.items() if not wish.heard]
        for uri, wish in missing:
            self._ask(uri, wish)
        return len(missing)

    def covering(self, uri: str) -> str | None:
        """Return the wanted resource that this one is, or is a part of; None if it is not wanted."""
        if uri in self._wishes:
            return uri
        if self._prefixes is None:
            self._prefixes = tuple(wanted.removesuffix("/") + "/" for wanted in self._wishes)
        if not uri.startswith(self._prefixes):
            return None
        return next((wanted for wanted in self._wishes if is_below(uri, wanted)), None)

    async def changes(self) -> Iterable[str]:
        """Wait until wishes have changed, and return their resources."""
        await self._change.wait()
        self._change = anyio.Event()
        changed, self._changed = self._changed, {}
        return changed

    async def failures(self) -> None:
        """Wait until the server has refused a resource that was not requested again since."""
        await self._failure.wait()

    def _ask(self, uri: str, wish: _Wish) -> None:
        if not wish.due:
            wish.due, wish.answer = True, WishAnswer()
        self._note(uri)

    def _note(self, uri: str) -> None:
        self._changed[uri] = None
        self._change.set()
