"""From how a server is declared to a conversation with it.

Secrets are put into the environment and the headers here, at the last moment, and kept nowhere. They may lie in files,
and a file system may hang: so they are read aside, and while one reading of a server hangs there is no second one.
"""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from anyio import CapacityLimiter, to_thread

from mcpguard.codec.framing import Framing
from mcpguard.domain.launches import Declared, RemoteLaunch, StdioLaunch
from mcpguard.domain.upstreams import Transport
from mcpguard.settings.model import Upstreams
from mcpguard.settings.references import Unresolved, resolve
from mcpguard.upstreams.conversation import Bounds, Conversation
from mcpguard.upstreams.environment import environment
from mcpguard.upstreams.logs import UpstreamLog
from mcpguard.upstreams.orphans import MARK
from mcpguard.upstreams.peer import Peer
from mcpguard.upstreams.switchboard import Switchboard
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.http import http
from mcpguard.upstreams.transports.remotes import Remote
from mcpguard.upstreams.transports.sse import sse
from mcpguard.upstreams.transports.stdio import Launch, stdio

SHORTEST_SECRET = 4
"""Shorter values are in too many words to be hidden in any."""


@dataclass(frozen=True, slots=True)
class Reaching:
    """The ways to reach a server. `environ` is the guard's own environment, `logs` the folder of the servers' logs."""

    settings: Upstreams
    environ: Mapping[str, str]
    logs: Path
    dialing: Dialing
    _reading: set[str] = field(default_factory=set, repr=False)

    @asynccontextmanager
    async def __call__(self, declared: Declared, switchboard: Switchboard) -> AsyncIterator[Conversation]:
        match declared.launch:
            case StdioLaunch() as launch:
                values = await self._resolved(declared.name, "the environment variable", launch.environment)
                log = UpstreamLog(self.logs, declared.name, self.settings.log_bytes)
                async with stdio(self._process(launch, values), self.settings.message_bytes, log) as stream:
                    yield Peer(stream, switchboard.asked, switchboard.told, self._bounds)
            case RemoteLaunch() as launch:
                remote = Remote(launch.url, await self._resolved(declared.name, "the header", launch.headers))
                if launch.transport is Transport.SSE:
                    async with sse(remote, self._bounds, self.dialing) as stream:
                        yield Peer(stream, switchboard.asked, switchboard.told, self._bounds)
                else:
                    async with http(
                        remote, switchboard.asked, switchboard.told, self._bounds, self.dialing
                    ) as conversation:
                        yield conversation

    @property
    def _bounds(self) -> Bounds:
        return Bounds(message_bytes=self.settings.message_bytes)

    def _process(self, launch: StdioLaunch, values: Mapping[str, str]) -> Launch:
        return Launch(
            launch.command,
            launch.arguments,
            environment(self.environ, {**values, MARK: secrets.token_hex(8)}),
            Path(launch.folder) if launch.folder else None,
            Framing(launch.framing.value),
            frozenset(value for value in values.values() if len(value) >= SHORTEST_SECRET),
        )

    async def _resolved(self, server: str, what: str, templates: Mapping[str, str]) -> dict[str, str]:
        """The values at this moment. Raises Unresolved, which names what has none."""

        def values() -> dict[str, str]:
            self._reading.add(server)
            try:
                return {name: self._value(f"{what} {name}", template) for name, template in templates.items()}
            finally:
                self._reading.discard(server)

        if not templates:
            return {}
        if server in self._reading:
            raise Unresolved("its secrets are still being read for an earlier attempt")
        return await to_thread.run_sync(values, abandon_on_cancel=True, limiter=CapacityLimiter(1))

    def _value(self, what: str, template: str) -> str:
        folders = [Path(folder) for folder in self.settings.secret_folders]
        try:
            return resolve(template, self.environ, folders)
        except Unresolved as error:
            raise Unresolved(f"{what} cannot be given: {error}") from None
