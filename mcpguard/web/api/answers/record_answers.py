"""Answers about the audit log."""

from typing import Annotated, Any

from pydantic import Field

from mcpguard.web.api.answers.answer import Answer

Hash = Annotated[str, Field(description="Hexadecimal.")]


class Record(Answer):
    """A record. `content` is as docs/ledger-format.md says; null where it was pruned, or cannot be read."""

    seq: int
    hash: Hash
    pruned: bool
    content: dict[str, Any] | None


class Records(Answer):
    """Some records. `more`: whether there is anything to look at beyond. `next` is the cursor for that; null where the
    newest came first, and there is nothing."""

    records: list[Record]
    next: str | None
    more: bool


class Body(Answer):
    """What lies beside a record, its secrets masked: as text, or in base64 where it is none; null where it was
    pruned."""

    pruned: bool
    text: str | None
    base64: str | None


class RecordAndBody(Record):
    """A record and what lies beside it, if anything does."""

    body: Body | None


class Checkpoint(Answer):
    """A signed statement about the log, as docs/ledger-format.md says."""

    content: dict[str, Any] | None
    signature: Annotated[str, Field(description="Base64.")]


class WholeRecord(RecordAndBody):
    """A record, and what it rests on: the hash before it (null before the first), and the first checkpoint that covers
    it (null where there is none yet)."""

    previous: Hash | None
    checkpoint: Checkpoint | None


class CallRecords(Answer):
    """All that is recorded of a call, in order."""

    records: list[RecordAndBody]


class Kept(Answer):
    """A signed checkpoint as it is kept elsewhere (docs/ledger-format.md)."""

    content: Annotated[str, Field(description="Base64: what was signed.")]
    signature: Annotated[str, Field(description="Base64.")]


class Recorded(Answer):
    """A record, by its chain and its number."""

    chain: str
    seq: int


class Exported(Answer):
    """An export that is recorded. It may have what follows `after` in this chain, to `upto` and no further."""

    record: Recorded
    chain: str
    after: int
    upto: int


class Pruned(Answer):
    """What was pruned, or would be: so many of what lies from `first` to `last`.

    `later`: of how many more that were meant no signed checkpoint covers the end yet, or a call is open; `more`:
    whether to ask again at once.
    """

    what: str
    first: int
    last: int
    count: int
    later: int
    records: Annotated[list[int], Field(description="The records that say so; none of a dry run.")]
    more: bool


class Redacted(Answer):
    """The calls whose bodies were removed, the records that those belonged to, and the records that say so."""

    calls: list[str]
    bodies: list[int]
    records: list[int]
