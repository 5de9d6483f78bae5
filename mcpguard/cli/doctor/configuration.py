"""Checks the configuration: the results of `config check`, what needs confirmation, and who else can access the file.

Rules kept here:
1. No sentence repeats a value: messages about settings do not, and of values in files only their names are printed.
"""

import os
import stat
from collections.abc import Iterator
from shlex import quote
from typing import Final

from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.domain.servers.launches import StdioLaunch
from mcpguard.settings.confirmation import looser_settings, trusted_values
from mcpguard.settings.entries.references import BadTemplate, literals
from mcpguard.settings.load import LoadedSettings

CHECK: Final = "mcpguard config check"
CONFIRM: Final = "mcpguard config confirm, if it is intended, and restart the guard; otherwise undo it"


def configuration(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    for sentence in evidence.refused:
        yield problem("settings.loaded", sentence, f"correct it, and run: {CHECK}")
    if evidence.loaded is not None:
        yield from _loaded(evidence, evidence.loaded)
    else:
        yield notice("settings.known", "the settings cannot be loaded, so the checks below assume the defaults")
    yield from _waiting(evidence)


def _loaded(evidence: DoctorEvidence, loaded: LoadedSettings) -> Iterator[DoctorFinding]:
    servers = loaded.servers
    for sentence in servers.problems:
        yield problem("servers.declared", sentence, f"correct it, and run: {CHECK}")
    for sentence in servers.notices:
        yield notice("servers.declared", sentence)
    if not servers.problems:
        where = loaded.config_file or f"no file: there is no {evidence.file}"
        yield ok(
            "settings.loaded", f"the settings are valid ({where}), and {len(servers.servers)} servers are declared"
        )


def _waiting(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    if evidence.status is not None:
        keys = list(evidence.status["unconfirmed"])
    elif evidence.loaded is not None and evidence.stored.confirmed:
        keys = list(looser_settings(evidence.stored.confirmed, trusted_values(evidence.loaded.settings)))
    else:
        return
    for key in keys:
        yield notice(
            "settings.confirmed",
            f"{key} loosens protection and is not confirmed, so it is not in effect",
            CONFIRM,
            of=key,
        )


def file(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Who else may read the file, or change what the guard does by it."""
    path = evidence.file
    try:
        found, folder = path.stat(), path.parent.stat()
    except FileNotFoundError:
        return
    if found.st_uid not in (0, evidence.account, os.geteuid()):
        yield problem(
            "file.owner", f"{path} belongs to user {found.st_uid}, who can change what the guard does",
            f"chown {evidence.account} {quote(str(path))}", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o022:
        yield problem(
            "file.writable", f"{path} can be written by others, who can change what the guard does",
            f"chmod go-w {quote(str(path))}", of=str(path),
        )  # fmt: skip
    if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
        yield problem(
            "file.replaceable", f"others can replace {path}",
            f"chmod go-w {quote(str(path.parent))}", of=str(path),
        )  # fmt: skip
    if found.st_mode & 0o044 and (secrets := list(_written_out(evidence))):
        yield problem(
            "file.readable",
            f"{path} can be read by others and has literal values of: {', '.join(secrets)}",
            f"chmod 600 {quote(str(path))}; better, write ${{env:NAME}} or ${{file:/path}} there",
            of=str(path),
        )


def _written_out(evidence: DoctorEvidence) -> Iterator[str]:
    """The names of values in the file that may be secrets."""
    if evidence.loaded is None:
        return
    if evidence.loaded.sources.get("store.url", "").startswith("file "):
        yield "store.url"
    for server in evidence.loaded.servers.servers:
        launch = server.launch
        templates = launch.environment if isinstance(launch, StdioLaunch) else launch.headers
        for name, template in templates.items():
            try:
                some = bool(literals(template))
            except BadTemplate:
                some = True
            if some:
                yield f"{server.name}'s {name}"
