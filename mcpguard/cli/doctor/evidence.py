"""The input of all checks, gathered once: the settings, the guard if one is running, and what is stored.

Rules kept here:
1. Everything is read and nothing is changed: no file is created, no lock is taken, no record is left.
2. Settings that cannot be loaded are a finding like any other. The other checks then assume the defaults.
3. A running guard is queried on its operator socket, and nowhere else. What it does not answer is unknown.
4. The environment is that of the guard's process if it can be read; only names, and its PATH, are printed.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcpguard.app import demonstration
from mcpguard.cli.doctor.stored_facts import StoredFacts, read_stored_facts
from mcpguard.cli.shared.guard_client import API, GuardClient
from mcpguard.relay.place import data_directory
from mcpguard.relay.problem import CannotRelay
from mcpguard.settings.environment import CONFIG
from mcpguard.settings.file import usual_place
from mcpguard.settings.load import NOTHING, LoadedSettings, load
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingsError

MICROSECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class DoctorEvidence:
    """`loaded`: None where the settings are refused, for the reasons in `refused`; `settings` are the defaults then.
    `versions`: those of the settings that a guard would start with, with --demo or without.
    `file`: the configuration file that was read, or would be. `status`: what the guard says of itself, if it answers;
    `listens`: whether anybody listens at the operator's socket. `environ`: that of the guard, if it can be read
    (`theirs`), else that of this command. `now`: in microseconds, taken after what is stored was read."""

    loaded: LoadedSettings | None
    versions: frozenset[str]
    refused: tuple[str, ...]
    settings: Settings
    file: Path
    guard: GuardClient
    listens: bool
    status: Mapping[str, Any] | None
    stored: StoredFacts
    environ: Mapping[str, str] = field(repr=False)
    theirs: bool
    now: int

    @property
    def account(self) -> int:
        """The user id of the guard: that of its process, else that of this command."""
        try:
            return os.geteuid() if self.process is None else Path(f"/proc/{self.process}").stat().st_uid
        except OSError:
            return os.geteuid()

    @property
    def process(self) -> int | None:
        """The process id of the guard, if one is running and says so."""
        return _process(self.status)

    @property
    def servers(self) -> list[Mapping[str, Any]]:
        """The servers of the running guard."""
        return list(self.status["servers"]) if self.status is not None else []


def gather_evidence(config: Path | None, data_dir: Path | None) -> DoctorEvidence:
    """Gather all evidence that checks need."""
    loaded, refused = _loaded(config, data_dir)
    settings = loaded.settings if loaded else _otherwise(config, data_dir)
    guard = GuardClient(settings.data_dir)
    status = guard.get_or_none(f"{API}/status")
    known = status if isinstance(status, dict) else None
    environment = _environment(known)
    return DoctorEvidence(
        loaded,
        _versions(config, data_dir) if loaded else frozenset(),
        refused,
        settings,
        config or (Path(os.environ[CONFIG]) if CONFIG in os.environ else usual_place()),
        guard,
        known is not None or guard.is_running(),
        known,
        read_stored_facts(settings),
        environment or os.environ,
        bool(environment),
        time.time_ns() // 1000,
    )


def _loaded(config: Path | None, data_dir: Path | None) -> tuple[LoadedSettings | None, tuple[str, ...]]:
    try:
        return load({"data_dir": data_dir}, os.environ, config), ()
    except SettingsError as error:
        return None, error.problems


def _versions(config: Path | None, data_dir: Path | None) -> frozenset[str]:
    both = (NOTHING, demonstration.SETTINGS)
    return frozenset(load({"data_dir": data_dir}, os.environ, config, demo).settings.version for demo in both)


def _otherwise(config: Path | None, data_dir: Path | None) -> Settings:
    """The default settings, with the data directory that is meant, if that is known."""
    try:
        return Settings(data_dir=data_directory(data_dir, config, os.environ))
    except (CannotRelay, OSError, ValueError):
        return Settings()


def _environment(status: Mapping[str, Any] | None) -> dict[str, str]:
    """The environment of the guard's process, as it was started; empty if it cannot be read."""
    process = _process(status)
    if process is None:
        return {}
    try:
        data = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (each.partition("=") for each in os.fsdecode(data).split("\0"))
    return {name: value for name, equals, value in pairs if equals}


def _process(status: Mapping[str, Any] | None) -> int | None:
    found = status.get("process") if status is not None else None
    return found if isinstance(found, int) and found > 0 else None
