"""The configuration: what `config check` says, what waits to be confirmed, and who else may read or write the file.

Rules kept here:
1. No sentence here repeats a value: those of the settings do not, and of values only that there are some is told.
"""

import os
import stat
from collections.abc import Iterator
from shlex import quote
from typing import Final

from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.doctor.sight import Sight
from mcpguard.domain.servers.launches import StdioLaunch
from mcpguard.settings.confirmation import carrying_trust, looser
from mcpguard.settings.entries.references import BadTemplate, literals
from mcpguard.settings.load import Loaded

CHECK: Final = "mcpguard config check"
CONFIRM: Final = "mcpguard config confirm, if it is meant, and restart the guard; else take it back"


def configuration(sight: Sight) -> Iterator[DoctorFinding]:
    for sentence in sight.refused:
        yield problem("settings.loaded", sentence, f"put it right and see: {CHECK}")
    if sight.loaded is not None:
        yield from _loaded(sight, sight.loaded)
    else:
        yield notice(
            "settings.known", "without settings, what follows is looked at as if all of them had their defaults"
        )
    yield from _waiting(sight)


def _loaded(sight: Sight, loaded: Loaded) -> Iterator[DoctorFinding]:
    servers = loaded.servers
    for sentence in servers.problems:
        yield problem("servers.declared", sentence, f"put it right and see: {CHECK}")
    for sentence in servers.notices:
        yield notice("servers.declared", sentence)
    if not servers.problems:
        where = loaded.config_file or f"no file: there is no {sight.file}"
        yield ok(
            "settings.loaded", f"the settings are right ({where}), and {len(servers.servers)} servers are declared"
        )


def _waiting(sight: Sight) -> Iterator[DoctorFinding]:
    if sight.status is not None:
        keys = list(sight.status["unconfirmed"])
    elif sight.loaded is not None and sight.stored.confirmed:
        keys = list(looser(sight.stored.confirmed, carrying_trust(sight.loaded.settings)))
    else:
        return
    for key in keys:
        yield notice(
            "settings.confirmed", f"{key} lets more happen than was confirmed, and is not in force", CONFIRM, of=key
        )


def file(sight: Sight) -> Iterator[DoctorFinding]:
    """Who may read it, or decide by it."""
    path = sight.file
    try:
        found, folder = path.stat(), path.parent.stat()
    except FileNotFoundError:
        return
    if found.st_uid not in (0, sight.account, os.geteuid()):
        yield problem(
            "file.owner", f"{path} belongs to user {found.st_uid}, who decides by it what the guard does",
            f"chown {sight.account} {quote(str(path))}", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o022:
        yield problem(
            "file.writable", f"{path} can be written by others, who decide by it what the guard does",
            f"chmod go-w {quote(str(path))}", of=str(path),
        )  # fmt: skip
    if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
        yield problem(
            "file.replaceable", f"others can put another file in the place of {path}",
            f"chmod go-w {quote(str(path.parent))}", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o044 and (secrets := list(_written_out(sight))):
        yield problem(
            "file.readable",
            f"{path} can be read by others and holds values that were written out: {', '.join(secrets)}",
            f"chmod 600 {quote(str(path))}; better, write ${{env:NAME}} or ${{file:/path}} there",
            of=str(path),
        )


def _written_out(sight: Sight) -> Iterator[str]:
    """The names of what may be a secret that stands in the file."""
    if sight.loaded is None:
        return
    if sight.loaded.sources.get("store.url", "").startswith("file "):
        yield "store.url"
    for server in sight.loaded.servers.servers:
        launch = server.launch
        templates = launch.environment if isinstance(launch, StdioLaunch) else launch.headers
        for name, template in templates.items():
            try:
                some = bool(literals(template))
            except BadTemplate:
                some = True
            if some:
                yield f"{server.name}'s {name}"
