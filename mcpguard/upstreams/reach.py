"""From how a server is declared to a conversation with it.

Secrets are put into the environment and the headers here, at the last moment, and kept nowhere.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mcpguard.codec.framing import Framing
from mcpguard.domain.launches import Declared, RemoteLaunch, StdioLaunch
from mcpguard.domain.upstreams import Transport
from mcpguard.settings.model import Upstreams
from mcpguard.settings.references import resolve
from mcpguard.upstreams.conversation import Bounds, Conversation
from mcpguard.upstreams.environment import environment
from mcpguard.upstreams.logs import UpstreamLog
from mcpguard.upstreams.peer import Peer
from mcpguard.upstreams.switchboard import Switchboard
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.http import http
from mcpguard.upstreams.transports.remotes import Remote
from mcpguard.upstreams.transports.sse import sse
from mcpguard.upstreams.transports.stdio import Launch, stdio


@dataclass(frozen=True, slots=True)
class Reaching:
    """The ways to reach a server. `environ` is the guard's own environment, `logs` the folder of the servers' logs."""

    settings: Upstreams
    environ: Mapping[str, str]
    logs: Path
    dialing: Dialing

    @asynccontextmanager
    async def __call__(self, declared: Declared, switchboard: Switchboard) -> AsyncIterator[Conversation]:
        match declared.launch:
            case StdioLaunch() as launch:
                log = UpstreamLog(self.logs, declared.name, self.settings.log_bytes)
                async with stdio(self._process(launch), self.settings.message_bytes, log) as stream:
                    yield Peer(stream, switchboard.asked, switchboard.told, self._bounds)
            case RemoteLaunch(Transport.SSE) as launch:
                async with sse(self._remote(launch), self._bounds, self.dialing) as stream:
                    yield Peer(stream, switchboard.asked, switchboard.told, self._bounds)
            case RemoteLaunch() as launch:
                remote = self._remote(launch)
                async with http(
                    remote, switchboard.asked, switchboard.told, self._bounds, self.dialing
                ) as conversation:
                    yield conversation

    @property
    def _bounds(self) -> Bounds:
        return Bounds(message_bytes=self.settings.message_bytes)

    def _process(self, launch: StdioLaunch) -> Launch:
        return Launch(
            launch.command,
            launch.arguments,
            environment(self.environ, self._resolved(launch.environment)),
            Path(launch.folder) if launch.folder else None,
            Framing(launch.framing.value),
        )

    def _remote(self, launch: RemoteLaunch) -> Remote:
        return Remote(launch.url, self._resolved(launch.headers))

    def _resolved(self, templates: Mapping[str, str]) -> dict[str, str]:
        folders = [Path(folder) for folder in self.settings.secret_folders]
        return {name: resolve(template, self.environ, folders) for name, template in templates.items()}
