"""Checks the database and its audit log: whether it is readable, who signs it, and whether it has external anchors.

Rules kept here:
1. Only cheap checks: one key, one checkpoint. The finding points to `mcpguard audit verify`, which verifies the log.
2. Of the signing key, only whether it is the right one is printed.
"""

from collections.abc import Iterator
from typing import Any, Final

from mcpguard.app import places
from mcpguard.cli.doctor.evidence import DoctorEvidence
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import anchors, keys
from mcpguard.ledger.checkpoints import SignedCheckpoint
from mcpguard.settings.problems import SettingsError

VERIFY: Final = "verify the log: mcpguard audit verify"
KEY: Final = "put back the key that signed (from a backup)"


def database(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether the database can be read, and has the schema of this version."""
    stored = evidence.stored
    if not stored.there and evidence.status is not None:
        yield problem(
            "database.read",
            f"the database {stored.place} of the running guard is gone",
            "stop the guard, restore the database from a copy, and start it again",
        )
    elif not stored.there:
        yield notice("database.read", f"there is no database {stored.place} yet", "mcpguard serve creates it")
    elif stored.trouble:
        yield problem(
            "database.read",
            stored.trouble,
            "correct the cause: the guard does not start without its database. A new, empty one gets its "
            "tables from mcpguard serve",
        )
    elif stored.schema and not stored.schema.known:
        yield problem(
            "database.schema",
            f"{stored.place} has schema {stored.schema.found}, which a newer version made",
            "run that version, or restore the copy that it made in backups/",
        )
    elif stored.schema and stored.schema.found != stored.schema.newest:
        yield notice(
            "database.schema",
            f"{stored.place} has schema {stored.schema.found or 'none'}; this version has {stored.schema.newest}",
            "mcpguard serve copies and upgrades it when it starts next; mcpguard db upgrade does it now",
        )
    else:
        yield ok(
            "database.read",
            f"{stored.place} can be read: {stored.records:,} records, signed up to {stored.signed_to:,}",
        )


def key(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether the key file has the key that signs the log."""
    path = places.signing_key(evidence.settings)
    expected = evidence.stored.key
    if not path.exists():
        if expected:
            yield problem(
                "key.matches", f"the signing key {path} is gone: a new one would be made, which is not linked to it",
                KEY, of=str(path),
            )  # fmt: skip
        else:
            yield notice(
                "key.matches", f"there is no signing key {path} yet", "mcpguard serve creates it", of=str(path)
            )
        return
    try:
        found = keys.load(path).public
    except StoreUnavailable as error:
        yield problem("key.matches", str(error), f"{KEY}, or correct the cause", of=str(path))
        return
    if not evidence.stored.was_read:
        yield notice("key.matches", f"{path} is a signing key; whether it is the one that signed is in the database")
    elif not expected:
        yield ok("key.matches", f"{path} is a signing key, and nothing is signed yet")
    elif found == expected:
        yield ok("key.matches", f"the key in {path} is the one that signs. {VERIFY}")
    elif path.with_name(f"{path.name}.next").exists():
        yield notice(
            "key.matches", "the rotation of the signing key was interrupted", "restart the guard, which completes it"
        )
    else:
        yield problem(
            "key.matches", f"the key in {path} is not the one that last signed the audit log",
            f"{KEY}; {VERIFY}", of=str(path),
        )  # fmt: skip


def anchor(evidence: DoctorEvidence) -> Iterator[DoctorFinding]:
    """Tell whether there are external anchors, and whether they match the log."""
    try:
        path = places.anchor_file(evidence.settings)
    except SettingsError as error:
        yield problem("anchors.outside", "; ".join(error.problems), "name another file in audit.anchor_file")
        return
    if path is None:
        yield notice(
            "anchors.outside",
            "there are no external anchors, so whoever can write the data directory can rewrite the audit log",
            "name a file outside of the guard's control in audit.anchor_file",
        )
    elif evidence.status is not None and evidence.status["ledger"]["anchors"] is not None:
        yield from _running(evidence.status["ledger"]["anchors"])
    elif not path.exists():
        yield notice(
            "anchors.written", f"there is no anchor file {path} yet", "the guard makes it at its next checkpoint"
        )
    else:
        yield _compared(evidence, next(anchors.newest_first(path), None), str(path))


def _running(status: Any) -> Iterator[DoctorFinding]:  # noqa: ANN401 - JSON of our own
    if status["rolled_back"]:
        yield problem("anchors.agree", status["rolled_back"], VERIFY)
    if status["trouble"]:
        yield problem("anchors.written", f"{status['file']} is not written: {status['trouble']}", "correct the cause")
    if not status["rolled_back"] and not status["trouble"]:
        yield ok("anchors.written", f"checkpoints up to record {status['to']:,} are in {status['file']}")


def _compared(evidence: DoctorEvidence, newest: SignedCheckpoint | None, path: str) -> DoctorFinding:
    if newest is None:
        return notice("anchors.written", f"there is no checkpoint in {path}", VERIFY)
    said = newest.statement
    if said.chain == evidence.stored.chain and said.seq > evidence.stored.records:
        return problem(
            "anchors.agree",
            f"{path} has a checkpoint of record {said.seq:,}, but the audit log ends at "
            f"{evidence.stored.records:,}: it was rolled back",
            f"{VERIFY} --checkpoint {path}",
        )
    return ok("anchors.written", f"checkpoints up to record {said.seq:,} are in {path}")
