"""Answers about the audit log."""

from typing import Annotated, Any

from pydantic import Field

from mcpguard.web.api.answers.answer import ApiAnswer

Hash = Annotated[str, Field(description="Hexadecimal.")]


class RecordAnswer(ApiAnswer):
    """A record. `content` is as docs/ledger-format.md says; null where it was pruned, or cannot be read."""

    seq: int
    hash: Hash
    pruned: bool
    content: dict[str, Any] | None


class RecordsAnswer(ApiAnswer):
    """Some records. `more`: whether there is anything to look at beyond. `next` is the cursor for that; null where the
    newest came first, and there is nothing."""

    records: list[RecordAnswer]
    next: str | None
    more: bool


class BodyAnswer(ApiAnswer):
    """What lies beside a record, its secrets masked: as text, or in base64 where it is none; null where it was
    pruned."""

    pruned: bool
    text: str | None
    base64: str | None


class RecordAndBodyAnswer(RecordAnswer):
    """A record and what lies beside it, if anything does."""

    body: BodyAnswer | None


class CheckpointAnswer(ApiAnswer):
    """A signed statement about the log, as docs/ledger-format.md says."""

    content: dict[str, Any] | None
    signature: Annotated[str, Field(description="Base64.")]


class WholeRecordAnswer(RecordAndBodyAnswer):
    """A record, and what it rests on: the hash before it (null before the first), and the first checkpoint that covers
    it (null where there is none yet)."""

    previous: Hash | None
    checkpoint: CheckpointAnswer | None


class CallRecordsAnswer(ApiAnswer):
    """All that is recorded of a call, in order."""

    records: list[RecordAndBodyAnswer]


class KeptAnswer(ApiAnswer):
    """A signed checkpoint as it is kept elsewhere (docs/ledger-format.md)."""

    content: Annotated[str, Field(description="Base64: what was signed.")]
    signature: Annotated[str, Field(description="Base64.")]


class RecordedAnswer(ApiAnswer):
    """A record, by its chain and its number."""

    chain: str
    seq: int


class ExportedAnswer(ApiAnswer):
    """An export that is recorded. It may have what follows `after` in this chain, to `upto` and no further."""

    record: RecordedAnswer
    chain: str
    after: int
    upto: int


class PrunedAnswer(ApiAnswer):
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


class RedactedAnswer(ApiAnswer):
    """The calls whose bodies were removed, the records that those belonged to, and the records that say so."""

    calls: list[str]
    bodies: list[int]
    records: list[int]
