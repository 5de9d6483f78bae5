"""Answers about the audit log."""

from typing import Annotated, Any

from pydantic import Field

from mcpguard.web.api.answers.answer import ApiAnswer

Hash = Annotated[str, Field(description="Hexadecimal.")]


class RecordAnswer(ApiAnswer):
    """A record of the audit log. `content`: see docs/ledger-format.md; null if pruned or unreadable."""

    seq: int
    hash: Hash
    pruned: bool
    content: dict[str, Any] | None


class RecordsAnswer(ApiAnswer):
    """A page of records. `more`: whether there are further records to search; `next`: the cursor for them, null at the
    end of a list that began with the newest; `notices`: which terms of the filter were read as text, and why."""

    records: list[RecordAnswer]
    next: str | None
    more: bool
    notices: Annotated[list[str], Field(default_factory=list)]


class BodyAnswer(ApiAnswer):
    """The body of a record, with secrets masked: as text, or in base64 if it is not text; null if pruned."""

    pruned: bool
    text: str | None
    base64: str | None


class RecordAndBodyAnswer(RecordAnswer):
    """A record with its body, if there is one."""

    body: BodyAnswer | None


class CheckpointAnswer(ApiAnswer):
    """A signed statement about the log; see docs/ledger-format.md."""

    content: dict[str, Any] | None
    signature: Annotated[str, Field(description="Base64.")]


class WholeRecordAnswer(RecordAndBodyAnswer):
    """A record with the evidence of its integrity. `previous`: the previous hash, null for the first record;
    `checkpoint`: the first checkpoint that covers it, null if there is none yet."""

    previous: Hash | None
    checkpoint: CheckpointAnswer | None


class CallRecordsAnswer(ApiAnswer):
    """All records of a call, in order."""

    records: list[RecordAndBodyAnswer]


class KeptAnswer(ApiAnswer):
    """A signed checkpoint, to be kept on another host (docs/ledger-format.md)."""

    content: Annotated[str, Field(description="The signed bytes, in base64.")]
    signature: Annotated[str, Field(description="Base64.")]


class RecordedAnswer(ApiAnswer):
    """The chain and the number of a record."""

    chain: str
    seq: int


class ExportedAnswer(ApiAnswer):
    """A recorded export. It may contain the records of this chain after `after`, up to `upto`."""

    record: RecordedAnswer
    chain: str
    after: int
    upto: int


class PrunedAnswer(ApiAnswer):
    """What was pruned, or would be: `count` of the records or bodies from `first` to `last`.

    `later`: how many more cannot be pruned yet, because no signed checkpoint covers them or their call is open; `more`:
    whether to send the request again at once.
    """

    what: str
    first: int
    last: int
    count: int
    later: int
    records: Annotated[list[int], Field(description="The records of the pruning; none after a dry run.")]
    more: bool


class RedactedAnswer(ApiAnswer):
    """The calls whose bodies were removed, the records of those bodies, and the records of the removal."""

    calls: list[str]
    bodies: list[int]
    records: list[int]
