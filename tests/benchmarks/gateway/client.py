"""What every client of the measurements can do, whatever carries its messages."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tests.benchmarks.gateway.speech import Era, Failed, Said, Speech, result, text


@dataclass(frozen=True, slots=True)
class Listed:
    """All tools of a server, and what it took to say them."""

    names: tuple[str, ...]
    size: int
    pages: int

    def named(self, name: str) -> str:
        """What a tool of the upstream is called here: gateways put something before its name. Raises Failed."""
        for found in self.names:
            if found.endswith(name):
                return found
        raise Failed(f"no tool is called {name}")


class Client(ABC):
    """`async with` connects it; then it has to greet."""

    def __init__(self, speech: Speech) -> None:
        self._speech = speech

    @abstractmethod
    async def __aenter__(self) -> Self: ...

    @abstractmethod
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def call(self, tool: str, said: str) -> str:
        """What the tool returns for this text. Raises Failed."""
        request = self._speech.call(tool, said)
        return text(request, await self._exchange(request))

    async def use(self, tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
        """The whole result of a call. Raises Failed."""
        request = self._speech.use(tool, arguments)
        return result(request, await self._exchange(request))

    async def definitions(self) -> list[dict[str, Any]]:
        """The tools of a server that lists them all on one page, as it defines them. Raises Failed."""
        request = self._speech.list(None)
        found = result(request, await self._exchange(request))
        if "nextCursor" in found:
            raise Failed("there are more tools than one page has")
        tools: list[dict[str, Any]] = found["tools"]
        return tools

    async def listed(self) -> Listed:
        """Every page. Raises Failed."""
        names: list[str] = []
        size = pages = 0
        cursor: str | None = None
        while cursor is not None or not pages:
            request = self._speech.list(cursor)
            answer = await self._exchange(request)
            found = result(request, answer)
            names += [tool["name"] for tool in found["tools"]]
            size, pages, cursor = size + len(answer), pages + 1, found.get("nextCursor")
        return Listed(tuple(names), size, pages)

    async def greet(self) -> None:
        """Make the handshake, where the era has one. Raises Failed."""
        if self._speech.era is Era.HANDSHAKE:
            request = self._speech.initialize()
            result(request, await self._exchange(request))
            await self._tell(self._speech.initialized())

    @abstractmethod
    async def reconnect(self) -> None:
        """Begin again after a failure, where that is possible. Raises Failed."""

    @abstractmethod
    async def _exchange(self, said: Said) -> bytes:
        """The answer to a request. Raises Failed."""

    @abstractmethod
    async def _tell(self, said: Said) -> None:
        """Say something that wants no answer."""
