"""All checks, in the order in which they are printed.

Rules kept here:
1. A failing check does not end the run: what cannot be checked is a notice with the reason, and the others continue.
2. A check reads, and changes nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from mcpguard.cli.doctor.anonymous import anonymous, listen
from mcpguard.cli.doctor.audit_log import anchor, database, key
from mcpguard.cli.doctor.certificate import certificate
from mcpguard.cli.doctor.clock import clock
from mcpguard.cli.doctor.configuration import configuration, file
from mcpguard.cli.doctor.disk import kind, room, sizes
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice
from mcpguard.cli.doctor.guard import running
from mcpguard.cli.doctor.launches import launches
from mcpguard.cli.doctor.machine import machine, open_files
from mcpguard.cli.doctor.only_way import only_way
from mcpguard.cli.doctor.permissions import above, accounts, data_dir, keys, secrets
from mcpguard.cli.doctor.servers import servers
from mcpguard.domain.errors import GuardError
from mcpguard.settings.problems import SettingsError

FORESEEN: Final = (
    OSError, GuardError, SettingsError,
    ArithmeticError, AttributeError, ImportError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What files, accounts, other versions' answers and strange values make a check fail at."""


Look = Callable[[DoctorEvidence], Iterator[DoctorFinding]]


@dataclass(frozen=True, slots=True)
class Check:
    """A subject with its checks. `name` is for scripts, `subject` for people. One look that fails stops no other."""

    name: str
    subject: str
    looks: tuple[Look, ...]


CHECKS: Final = (
    Check("guard", "the guard", (running,)),
    Check("servers", "servers", (servers,)),
    Check("launches", "what servers need", (launches,)),
    Check("configuration", "the configuration", (configuration, file)),
    Check("anonymous", "anonymous access", (anonymous, listen)),
    Check("lockdown", "ways around the guard", (only_way,)),
    Check("tls", "TLS", (certificate,)),
    Check("permissions", "permissions", (accounts, data_dir, above, keys, secrets)),
    Check("clock", "the clock", (clock,)),
    Check("disk", "the disk", (room, sizes, kind)),
    Check("proofs", "the audit log", (database, key, anchor)),
    Check("machine", "the machine", (machine, open_files)),
)


def run_checks(evidence: DoctorEvidence) -> list[tuple[Check, list[DoctorFinding]]]:
    """The findings of every check."""
    return [(check, [each for look in check.looks for each in _found(look, evidence)]) for check in CHECKS]


def _found(look: Look, evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    try:
        yield from look(evidence)
    except FORESEEN as error:
        why = str(error) or type(error).__name__
        yield notice("check.made", f"this check could not be completed: {why}")
