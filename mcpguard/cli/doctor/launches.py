"""Checks whether servers can be started here: their programs, package installers, and the targets of references.

Rules kept here:
1. Nothing is run and no file is opened: programs are looked up, files are checked by their metadata, variables by their
   names.
2. References of servers that are not approved are not checked at all.
3. The PATH is the one that the server gets. If the guard's environment cannot be read, anything missing from this
   process's environment is only a notice.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, Level, ok
from mcpguard.cli.shared.guard_client import server_path
from mcpguard.domain.servers.launches import Launch, StdioLaunch
from mcpguard.settings.entries.references import LARGEST_SECRET, BadTemplate, Reference, ReferenceKind, references_in
from mcpguard.upstreams.packages.package import Ecosystem, Package
from mcpguard.upstreams.packages.package_commands import recognise_package

MOST: Final = 50
"""Servers that the guard is asked about, one by one."""
NEEDED: Final = {Ecosystem.NPM: ("node", "npm"), Ecosystem.PYTHON: ("uv",)}
INSTALL: Final = {"node": "Node.js", "npm": "npm, which comes with Node.js", "uv": "uv"}

RUNNING: Final = frozenset({"node"})
"""Those of them that an installed package is run by; the others install it."""
PUT: Final = {
    ReferenceKind.ENV: "set it where the guard starts, and restart the guard",
    ReferenceKind.FILE: "put the file there, for the guard's account alone, or change the reference",
}


@dataclass(frozen=True, slots=True)
class _Start:
    """The launch of one server. `templates`: those of its variables or headers that are known."""

    name: str
    approved: bool
    command: str
    arguments: tuple[str, ...]
    folder: str | None
    templates: Mapping[str, str]


def launches(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    starts = _known(evidence)
    found = [each for start in starts for each in (*_program(evidence, start), *_references(evidence, start))]
    yield from found
    if starts and not found:
        yield ok("launches.here", f"what {len(starts)} servers need to start is on this host, as far as can be seen")


def _known(evidence: DoctorEvidence) -> list[_Start]:
    """The servers of the file, and those that the guard knows and has approved."""
    approved = _approved(evidence)
    declared = evidence.loaded.servers.servers if evidence.loaded else ()
    starts = {
        each.name: _declared(each.name, each.launch, approved=each.name in approved)
        for each in declared
        if each.enabled
    }
    if evidence.status is not None:
        for name in sorted(approved - starts.keys())[:MOST]:
            server = evidence.guard.get_or_none(server_path(name))
            if server is not None:
                starts[name] = _shown(name, server["launch"])
    return list(starts.values())


def _approved(evidence: DoctorEvidence) -> set[str]:
    if evidence.status is not None:
        return {each["name"] for each in evidence.servers if each["standing"] == "approved" and each["enabled"]}
    return {each.name for each in evidence.stored.upstreams if each.standing.value == "approved" and each.enabled}


def _declared(name: str, launch: Launch, *, approved: bool) -> _Start:
    if isinstance(launch, StdioLaunch):
        return _Start(name, approved, launch.command, launch.arguments, launch.folder, launch.environment)
    return _Start(name, approved, "", (), None, launch.headers)


def _shown(name: str, launch: Any) -> _Start:  # noqa: ANN401 - JSON of our own
    given = launch.get("environment") or launch.get("headers") or []
    templates = {each["name"]: each["value"] for each in given if each["value"] is not None}
    command, arguments = launch.get("command", ""), tuple(launch.get("arguments", ()))
    return _Start(
        name, approved=True, command=command, arguments=arguments, folder=launch.get("folder"), templates=templates
    )


def _program(evidence: DoctorEvidence, start: _Start) -> Iterator[DoctorFinding]:
    if not start.command:
        return
    path = start.templates.get("PATH", evidence.environ.get("PATH", ""))
    package = recognise_package(start.command, start.arguments)
    if isinstance(package, Package):
        beside = os.pathsep.join(filter(None, (str(Path(start.command).parent) if "/" in start.command else "", path)))
        for each in NEEDED[package.ecosystem]:
            if shutil.which(each, path=beside) is None:
                sentence = f"{start.name} is a package, and there is no {each} on the PATH of the guard"
                next_ = f"install {INSTALL[each]}, where the guard finds it"
                yield _missing(evidence, start, each, sentence, next_, runs=each in RUNNING)
    elif not _there(start, path):
        sentence = f"{start.name} needs {start.command}, which is not a program that the guard can start"
        yield _missing(
            evidence, start, start.command, sentence, "install it, or declare the command with its full path"
        )


def _there(start: _Start, path: str) -> bool:
    if "/" not in start.command:
        return shutil.which(start.command, path=path) is not None
    if not start.command.startswith("/") and start.folder is None:
        return True  # it is looked for where the guard was started, which is not known
    where = Path(start.folder or "/") / start.command
    return where.is_file() and os.access(where, os.X_OK)


def _references(evidence: DoctorEvidence, start: _Start) -> Iterator[DoctorFinding]:
    if not start.approved:
        return
    for name, template in start.templates.items():
        try:
            references = references_in(template)
        except BadTemplate:
            continue  # the configuration's problems say so
        for each in references:
            why = _unresolved(evidence, each)
            if why:
                yield _missing(
                    evidence, start, each.name, f"{name} of {start.name} cannot be resolved: {why}", PUT[each.kind]
                )


def _unresolved(evidence: DoctorEvidence, reference: Reference) -> str:
    """Why a reference has no value; empty if it seems to have one."""
    name = reference.name
    if reference.kind is ReferenceKind.ENV:
        value = evidence.environ.get(name)
        return "" if value else f"the variable {name} is {'not set' if value is None else 'empty'}"
    path = Path(name).resolve()
    folders = map(Path, evidence.settings.upstreams.secret_folders)
    if not any(folder.is_absolute() and path.is_relative_to(folder.resolve()) for folder in folders):
        return f"{name} is not below a folder of upstreams.secret_folders"
    try:
        found = path.stat()
    except OSError as error:
        return f"{name}: {error.strerror}"
    if not stat.S_ISREG(found.st_mode):
        return f"{name} is not a regular file"
    if not os.access(path, os.R_OK):
        return f"{name} cannot be read"
    return "" if 0 < found.st_size <= LARGEST_SECRET else f"{name} is empty, or larger than {LARGEST_SECRET:,} bytes"


def _missing(
    evidence: DoctorEvidence, start: _Start, of: str, sentence: str, next_: str, *, runs: bool = True
) -> DoctorFinding:
    """A problem if it certainly keeps an approved server from starting. `runs`: whether every start needs it."""
    level = Level.PROBLEM if start.approved and evidence.theirs and runs else Level.NOTICE
    return DoctorFinding("launches.here", level, sentence, next_, of=of)
