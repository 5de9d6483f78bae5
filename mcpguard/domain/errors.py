"""Exceptions, split by whose fault they are. A refusal is not among them: a refusal is a value (`verdicts`).

Few, and each is caught at one seam: `IllegalMove` where a decision is carried out, `LedgerUnavailable` where a call
is answered, `StoreUnavailable` in the ledger and at start.
"""


class GuardError(Exception):
    """Base of everything we raise on purpose."""


class IllegalMove(GuardError):
    """A standing was asked to move along an edge that its table does not list. Nothing changed."""


class InvalidName(GuardError):
    """A name does not have the form that this kind of thing must have."""


class StoreUnavailable(GuardError):
    """The database did not take what it was given; nothing of it may be relied on."""


class NotWhole(StoreUnavailable):
    """The store holds what mcpguard never writes, so that it cannot even be walked through."""


class LedgerUnavailable(GuardError):
    """A record could not be stored, so what depends on it must not happen."""


class Overtaken(GuardError):
    """What a verdict rests on has moved before it could be stored; nothing was, and it has to be judged again."""


class Unrecordable(GuardError):
    """A value has no form in which a record could hold it."""


class Unreadable(GuardError):
    """A value has no canonical form, so it has no fingerprint and nobody can approve it. Repeats nothing of it."""


class NotStarted(GuardError):
    """A server was not started, or contacted, at all. Says why in a sentence without its end."""


class EntryMisused(GuardError):
    """Our own code broke the rules of an entry; what was recorded still tells the truth."""
