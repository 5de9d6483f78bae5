"""Which resources of one server are wanted by whom, and how the server stands to each.

Rules kept here:
1. A resource is wanted as long as somebody holds it. Holding twice is holding once, and letting go is always possible.
2. Whoever comes first has the server asked; whoever comes while it is being asked waits for the same answer.
3. What the server had agreed to and no longer holds may change unheard. As soon as it is heard of again, that is told.
"""

from collections.abc import Callable, Iterable, Iterator

import anyio

from mcpguard.codec.uris import is_below
from mcpguard.upstreams.exchange.conversation import ServerError
from mcpguard.upstreams.exchange.transport import TransportEnded

Refusal = ServerError | TransportEnded | TimeoutError


class WishAnswer:
    """What the server says to one wish, for everyone who waits for that."""

    def __init__(self) -> None:
        self._known = anyio.Event()
        self._refusal: Refusal | None = None

    def give(self, refusal: Refusal | None) -> None:
        self._refusal = refusal
        self._known.set()

    async def agreed(self) -> None:
        """Returns when the server has agreed. Raises ServerError, TransportEnded or TimeoutError."""
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
        self.unheard = False  # it had agreed, and something may have changed since it no longer does


class Wishes:
    """All of them. `tell` is told of a resource that may have changed unheard."""

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
        """Hold it. The answer of the server is there, or will be."""
        wish = self._wishes.get(uri)
        if wish is None:
            wish = self._wishes[uri] = _Wish()
            self._prefixes = None
        wish.holders.add(holder)
        if not wish.heard:
            self._ask(uri, wish)
        return wish.answer

    def drop(self, uri: str, holder: object) -> None:
        """Let it go, if it was held."""
        wish = self._wishes.get(uri)
        if wish is None or holder not in wish.holders:
            return
        wish.holders.discard(holder)
        if not wish.holders:
            del self._wishes[uri]
            self._prefixes = None
            wish.answer.give(TransportEnded("the subscription was taken back"))  # to who may still wait for it
            self._note(uri)

    def due(self, uri: str) -> bool:
        """Whether the server has to be asked for it now."""
        wish = self._wishes.get(uri)
        return wish is not None and wish.due

    def agreed(self, uri: str) -> None:
        """The server tells of it from now on."""
        wish = self._wishes.get(uri)
        if wish is None:
            return
        unheard = wish.unheard
        wish.due, wish.heard, wish.unheard = False, True, False
        wish.answer.give(None)
        if unheard:
            self._tell(uri)

    def refused(self, uri: str, refusal: Refusal) -> None:
        """The server does not tell of it, or no longer."""
        wish = self._wishes.get(uri)
        if wish is None:
            return
        if wish.heard:
            wish.unheard, wish.answer = True, WishAnswer()
        wish.due = wish.heard = False
        wish.answer.give(refusal)
        self._failure.set()

    def ask_again(self) -> int:
        """For everything that the server does not tell of. For how many that is."""
        self._failure = anyio.Event()
        missing = [(uri, wish) for uri, wish in self._wishes.items() if not wish.heard]
        for uri, wish in missing:
            self._ask(uri, wish)
        return len(missing)

    def covering(self, uri: str) -> str | None:
        """The wanted resource that this one is, or is a part of."""
        if uri in self._wishes:
            return uri
        if self._prefixes is None:
            self._prefixes = tuple(wanted.removesuffix("/") + "/" for wanted in self._wishes)
        if not uri.startswith(self._prefixes):
            return None
        return next((wanted for wanted in self._wishes if is_below(uri, wanted)), None)

    async def changes(self) -> Iterable[str]:
        """Wait until something has changed. What it was."""
        await self._change.wait()
        self._change = anyio.Event()
        changed, self._changed = self._changed, {}
        return changed

    async def failures(self) -> None:
        """Wait until the server has refused something that was not asked for again since."""
        await self._failure.wait()

    def _ask(self, uri: str, wish: _Wish) -> None:
        if not wish.due:
            wish.due, wish.answer = True, WishAnswer()
        self._note(uri)

    def _note(self, uri: str) -> None:
        self._changed[uri] = None
        self._change.set()
