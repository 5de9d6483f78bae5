"""The database and the audit log in it: whether it can be read, who signs it, and whether somebody else keeps proofs.

Rules kept here:
1. Cheap looks only: one key, one checkpoint. Whether the log is whole, `mcpguard audit verify` says, and it is said so.
2. The signing key is compared, and nothing of it is told but whether it is the right one.
"""

from collections.abc import Iterator
from typing import Any, Final

from mcpguard.app import places
from mcpguard.cli.doctor.finding import DoctorFinding, notice, ok, problem
from mcpguard.cli.doctor.sight import Sight
from mcpguard.domain.errors import StoreUnavailable
from mcpguard.ledger import anchors, keys
from mcpguard.ledger.checkpoints import Signed
from mcpguard.settings.problems import SettingsError

VERIFY: Final = "mcpguard audit verify says what the log is worth"
KEY: Final = "put back the key that signed (from a backup)"


def database(sight: Sight) -> Iterator[DoctorFinding]:
    """Whether it can be read, and is of this version."""
    stored = sight.stored
    if not stored.there and sight.status is not None:
        yield problem(
            "database.read",
            f"the database {stored.place} of the guard that runs is gone",
            "stop the guard, restore the database from a copy, and start it again",
        )
    elif not stored.there:
        yield notice("database.read", f"there is no database {stored.place} yet", "mcpguard serve makes it")
    elif stored.trouble:
        yield problem(
            "database.read",
            stored.trouble,
            "put right what it says: without its database the guard does not start. One that is new and empty gets its "
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
            "the next start of the guard brings it up, and copies it before",
        )
    else:
        yield ok(
            "database.read", f"{stored.place} can be read: {stored.records:,} records, signed to {stored.signed_to:,}"
        )


def key(sight: Sight) -> Iterator[DoctorFinding]:
    """Whether it is the one that signs."""
    path = places.signing_key(sight.settings)
    expected = sight.stored.key
    if not path.exists():
        if expected:
            yield problem(
                "key.matches", f"the signing key {path} is gone: a new one would be made, which nothing joins to it",
                KEY, of=str(path),
            )  # fmt: skip
        else:
            yield notice("key.matches", f"there is no signing key {path} yet", "mcpguard serve makes it", of=str(path))
        return
    try:
        found = keys.load(path).public
    except StoreUnavailable as error:
        yield problem("key.matches", str(error), f"{KEY}, or do what is said", of=str(path))
        return
    if not sight.stored.known:
        yield notice("key.matches", f"{path} is a signing key; whether it is the one that signed is in the database")
    elif not expected:
        yield ok("key.matches", f"{path} is a signing key, and nothing is signed yet")
    elif found == expected:
        yield ok("key.matches", f"the key in {path} is the one that signs. {VERIFY}")
    elif path.with_name(f"{path.name}.next").exists():
        yield notice(
            "key.matches", "the rotation of the signing key was interrupted", "restart the guard, which ends it"
        )
    else:
        yield problem(
            "key.matches", f"the key in {path} is not the one that signed the audit log last",
            f"{KEY}; {VERIFY}", of=str(path),
        )  # fmt: skip


def anchor(sight: Sight) -> Iterator[DoctorFinding]:
    """Whether checkpoints are kept elsewhere, and agree."""
    try:
        path = places.anchor_file(sight.settings)
    except SettingsError as error:
        yield problem("anchors.outside", "; ".join(error.problems), "name another file in audit.anchor_file")
        return
    if path is None:
        yield notice(
            "anchors.outside",
            "checkpoints are kept nowhere else, so whoever can write the data directory can make another log of it",
            "name a file that others keep in audit.anchor_file",
        )
    elif sight.status is not None and sight.status["ledger"]["anchors"] is not None:
        yield from _running(sight.status["ledger"]["anchors"])
    elif not path.exists():
        yield notice(
            "anchors.written", f"there is no anchor file {path} yet", "the guard makes it at its next checkpoint"
        )
    else:
        yield _compared(sight, next(anchors.newest_first(path), None), str(path))


def _running(status: Any) -> Iterator[DoctorFinding]:  # noqa: ANN401 - JSON of our own
    if status["rolled_back"]:
        yield problem("anchors.agree", status["rolled_back"], VERIFY)
    if status["trouble"]:
        yield problem(
            "anchors.written", f"{status['file']} is not written: {status['trouble']}", "put right what it says"
        )
    if not status["rolled_back"] and not status["trouble"]:
        yield ok("anchors.written", f"checkpoints to record {status['to']:,} are in {status['file']}")


def _compared(sight: Sight, newest: Signed | None, path: str) -> DoctorFinding:
    if newest is None:
        return notice("anchors.written", f"there is no checkpoint in {path}", VERIFY)
    said = newest.statement
    if said.chain == sight.stored.chain and said.seq > sight.stored.records:
        return problem(
            "anchors.agree",
            f"{path} speaks of record {said.seq:,}, and the audit log ends at {sight.stored.records:,}: rolled back",
            f"{VERIFY}: give it --checkpoint {path}",
        )
    return ok("anchors.written", f"checkpoints to record {said.seq:,} are in {path}")
