"""Exceptions, grouped by who is at fault.

A refused call is not an exception but a value (`verdicts`).

There are few, and each is caught in one place: `IllegalMove` where a decision is carried out, `LedgerUnavailable` where
a call is answered, `StoreUnavailable` in the ledger and at startup.
"""


class GuardError(Exception):
    """The base of every exception that mcpguard raises on purpose."""


class IllegalMove(GuardError):
    """The status does not allow this change. Nothing was changed."""


class InvalidName(GuardError):
    """A name is malformed for what it names."""


class StoreUnavailable(GuardError):
    """The database could not be read or written; nothing that was submitted may be relied on."""


class NotWhole(StoreUnavailable):
    """The database holds values that mcpguard never writes, so that it cannot even be read through."""


class LedgerUnavailable(GuardError):
    """A record could not be stored, so what depends on it must not be done."""


class Overtaken(GuardError):
    """What a verdict rests on changed before the verdict was stored. Nothing was stored; the call is judged again."""


class Unrecordable(GuardError):
    """A value has no form in which a record can hold it."""


class Unreadable(GuardError):
    """A value has no canonical form, so no fingerprint, and cannot be approved. The message repeats nothing of it."""


class NotStarted(GuardError):
    """A server was not started or contacted at all. The message is a clause without a full stop that says why."""


class EntryMisused(GuardError):
    """Code of mcpguard broke the rules of an entry; what was recorded is still true."""
