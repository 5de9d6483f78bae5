"""Opens a conversation with a server from its declaration.

Secrets are inserted into the environment and the headers here, at the last moment, and are not stored. Secrets and the
program of a sandboxed server may be read from files, and a file system can hang. The disk is therefore read in a
thread, and while one read for a server hangs, no second one is started: otherwise every retry would leave another
hanging thread behind.
"""

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from mcpguard.codec.framing import Framing
from mcpguard.domain.servers.identity import is_code
from mcpguard.domain.servers.launches import DeclaredServer, RemoteLaunch, StdioLaunch
from mcpguard.domain.servers.upstreams import Transport
from mcpguard.settings.entries.references import ResolvedValue, UnresolvedReference, references_in, resolve_parts
from mcpguard.settings.model import Upstreams
from mcpguard.upstreams.exchange.conversation import Bounds, Conversation
from mcpguard.upstreams.exchange.peer import StreamPeer
from mcpguard.upstreams.exchange.transport import NeverBegun
from mcpguard.upstreams.launch.start import LaunchPreparation, ReadyLaunch
from mcpguard.upstreams.process.environment import environment
from mcpguard.upstreams.process.given_secrets import SHORTEST, GivenSecrets
from mcpguard.upstreams.process.hidden_secrets import SecretHiding
from mcpguard.upstreams.process.logs import LogMark, UpstreamLog, last_lines, mark
from mcpguard.upstreams.process.orphans import MARK
from mcpguard.upstreams.process.stdio import ProcessLaunch, Stdio, stdio
from mcpguard.upstreams.protocol.switchboard import Switchboard
from mcpguard.upstreams.transports.dialing import Dialing
from mcpguard.upstreams.transports.http import http
from mcpguard.upstreams.transports.own import OwnServer
from mcpguard.upstreams.transports.remotes import Remote
from mcpguard.upstreams.transports.sse import sse

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class LastOutput:
    """The last lines of a server's log, and the secrets that it is given; None where those cannot be resolved."""

    lines: tuple[str, ...]
    secrets: frozenset[str] | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServerReach:
    """Opens conversations. `environ` is the guard's own environment, `logs` the folder of the servers' logs.

    `secrets` is the folder with a folder of secret files for each server, which no other server's declaration can
    name. `own` is the guard's own server; None where programs are switched off. `given` remembers the secrets that
    servers were given.
    """

    settings: Upstreams
    environ: Mapping[str, str]
    logs: Path
    secrets: Path
    dialing: Dialing
    preparation: LaunchPreparation
    own: OwnServer | None = None
    given: GivenSecrets = field(default_factory=GivenSecrets, repr=False)
    _looking: set[str] = field(default_factory=set, repr=False)

    @asynccontextmanager
    async def __call__(self, declared: DeclaredServer, switchboard: Switchboard) -> AsyncIterator[Conversation]:
        match declared.launch:
            case StdioLaunch() as launch:
                async with self._process(declared, launch) as (process, ready):
                    yield StreamPeer(
                        process,
                        switchboard.answer_request,
                        switchboard.take_notification,
                        self._bounds,
                        ready.artifact,
                        ready.confirm,
                    )
            case RemoteLaunch(Transport.OWN):
                if self.own is None:
                    raise NeverBegun("programs are switched off; set code.enabled")
                with self.own.connect() as stream:
                    yield StreamPeer(stream, switchboard.answer_request, switchboard.take_notification, self._bounds)
            case RemoteLaunch() as launch:
                remote = Remote(launch.url, await self._resolved(declared.name, "the header", launch.headers))
                if launch.transport is Transport.SSE:
                    async with sse(remote, self._bounds, self.dialing) as stream:
                        yield StreamPeer(
                            stream, switchboard.answer_request, switchboard.take_notification, self._bounds
                        )
                else:
                    async with http(
                        remote, switchboard.answer_request, switchboard.take_notification, self._bounds, self.dialing
                    ) as conversation:
                        yield conversation

    @property
    def _bounds(self) -> Bounds:
        return Bounds(message_bytes=self.settings.message_bytes)

    async def install(self, declared: DeclaredServer) -> DeclaredServer:
        """Return the declaration with its installed package, where it is one. Raises NotStarted or
        UnresolvedReference.
        """
        if not isinstance(declared.launch, StdioLaunch):
            return declared
        values, _ = await self._given(declared.name, declared.launch)
        return await self.preparation.install(declared, values)

    async def mark(self, name: str) -> LogMark:
        """Return how far the log of a server is written now."""
        return await to_thread.run_sync(mark, self.logs, name)

    async def lines(self, declared: DeclaredServer, most_bytes: int) -> tuple[str, ...]:
        """Return the last lines of a local server's standard error, as they were stored."""
        if not isinstance(declared.launch, StdioLaunch):
            return ()
        return await to_thread.run_sync(last_lines, self.logs, declared.name, most_bytes)

    async def wrote(self, declared: DeclaredServer, most_bytes: int, since: LogMark | None = None) -> LastOutput:
        """Return the last lines of a local server's standard error, or those since the mark, and its secrets."""
        if not isinstance(declared.launch, StdioLaunch):
            return LastOutput((), frozenset())
        lines = await to_thread.run_sync(last_lines, self.logs, declared.name, most_bytes, since)
        try:
            values, _ = await self._given(declared.name, declared.launch)
        except UnresolvedReference:
            return LastOutput(lines, None)
        return LastOutput(lines, _secrets([*values.values(), *self.given.values(declared.name)]))

    @asynccontextmanager
    async def _process(self, declared: DeclaredServer, launch: StdioLaunch) -> AsyncIterator[tuple[Stdio, ReadyLaunch]]:
        """Run a local server, confined as it is declared, for the length of the block."""
        values, arguments = await self._given(declared.name, launch)
        launch = replace(launch, arguments=arguments)
        plain = self._plain(launch, values)
        with self.preparation.confinement.accounts.lend(declared.name) as account:
            ready = await self._aside(declared.name, lambda: self.preparation.prepare(declared, launch, plain, account))
            # Before the process starts: its first line of standard error may contain a secret already.
            hiding = SecretHiding(self.given.ways.get(declared.name, ()))
            log = UpstreamLog(self.logs, declared.name, self.settings.log_bytes, hiding)
            async with (
                stdio(ready.launch, self.settings.message_bytes, log) as process,
                self.preparation.confinement.watch_memory(process.pid, launch.profile),
            ):
                yield process, ready

    async def _given(self, server: str, launch: StdioLaunch) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the server's environment and arguments with references resolved now. Raises UnresolvedReference."""
        referring = {f"args[{at}]": word for at, word in enumerate(launch.arguments) if references_in(word)}
        values = await self._resolved(server, "the environment variable", {**launch.environment, **referring})
        words = tuple(values.pop(f"args[{at}]", word) for at, word in enumerate(launch.arguments))
        return values, words

    def _plain(self, launch: StdioLaunch, values: Mapping[str, str]) -> ProcessLaunch:
        return ProcessLaunch(
            launch.command,
            launch.arguments,
            environment(self.environ, {**values, MARK: secrets.token_hex(8)}),
            Path(launch.folder) if launch.folder else None,
            Framing(launch.framing.value),
        )

    async def _resolved(self, server: str, what: str, templates: Mapping[str, str]) -> dict[str, str]:
        """Return the templates with references resolved now. Raises UnresolvedReference, which names what has no
        value.
        """
        if not templates:
            return {}
        values = await self._aside(
            server,
            lambda: {
                name: self._value(server, name if name.startswith("args[") else f"{what} {name}", template)
                for name, template in templates.items()
            },
        )
        # Remembered before anything is sent: a reply that repeats one of them must be recognised.
        self.given.take(server, {name: value for name, value in values.items() if not is_code(name)})
        return {name: value.whole for name, value in values.items()}

    async def _aside(self, server: str, look: Callable[[], Made]) -> Made:
        """Read the disk in a thread. Raises UnresolvedReference while an earlier read hangs, and whatever `look`
        raises.
        """

        def looking() -> Made:
            self._looking.add(server)
            try:
                return look()
            finally:
                self._looking.discard(server)

        # Cancelling does not end a thread that hangs in the disk. Another one for the same server would hang as well.
        if server in self._looking:
            raise UnresolvedReference("an earlier attempt is still waiting for the disk; check its file system")
        return await to_thread.run_sync(looking, abandon_on_cancel=True, limiter=CapacityLimiter(1))

    def _value(self, server: str, what: str, template: str) -> ResolvedValue:
        folders = [self.secrets / server, *map(Path, self.settings.secret_folders)]
        try:
            return resolve_parts(template, self.environ, folders)
        except UnresolvedReference as error:
            raise UnresolvedReference(f"{what} cannot be resolved: {error}") from None


def _secrets(values: Iterable[str]) -> frozenset[str]:
    return frozenset(value for value in values if len(value) >= SHORTEST)
