"""The lines of our own form, read back: strictly, as anybody may have written them."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from mcpguard.codec.strict import refuse_values
from mcpguard.ledger.bundle.manifest import HASH, BundleFile
from mcpguard.ledger.bundle.source import BundleSource, UnreadableBundle
from mcpguard.store.rows.checkpoints import StoredCheckpoint
from mcpguard.store.rows.records import StoredBody

_LINE: Final = re.compile(
    rb'\{"hash":"(?P<hash>[0-9a-f]{64})",(?:"previous":"(?P<previous>[0-9a-f]{64})",)?"record":(?P<raw>\{.*\})\}',
    re.DOTALL,
)

MOST_VALUES: Final = 10_000
"""In one line. A record has some dozens; read, a value may take a hundred times the room of its text."""


class RecordLine(NamedTuple):
    """A record as its line tells it. `raw` is None where it was pruned; `said` is empty where it is none of ours."""

    seq: int
    hash: bytes
    previous: bytes | None
    raw: bytes | None
    said: Mapping[str, Any]
    chain: object


def records(source: BundleSource, kept: BundleFile, holding: bytes = b"") -> Iterator[RecordLine]:
    """Those whose lines hold these bytes. Raises UnreadableBundle."""
    found = _lines(source, kept)
    return map(_told, (line for line in found if holding in line) if holding else found)


def bodies(source: BundleSource, kept: BundleFile) -> Iterator[StoredBody]:
    """Raises UnreadableBundle."""
    for line in _lines(source, kept):
        match _parsed(line):
            case {"seq": int(seq), "pruned": True, **rest} if not rest:
                yield StoredBody(seq, None, None)
            case {"seq": int(seq), "salt": str(salt), "content": str(content), **rest} if not rest:
                yield StoredBody(seq, _bytes(salt), _bytes(content))
            case _:
                raise UnreadableBundle("a line in it tells of no body")


def checkpoints(source: BundleSource, kept: BundleFile) -> Iterator[StoredCheckpoint]:
    """Raises UnreadableBundle. The number is the one that the statement itself says: a line has no other."""
    for line in _lines(source, kept):
        match _parsed(line):
            case {"content": str(content), "signature": str(signature), **rest} if not rest:
                stated = _bytes(content)
                seq = _parsed(stated).get("seq")
                if type(seq) is not int:
                    raise UnreadableBundle("a line in it tells of no checkpoint")
                yield StoredCheckpoint(seq, stated, _bytes(signature))
            case _:
                raise UnreadableBundle("a line in it tells of no checkpoint")


def _lines(source: BundleSource, kept: BundleFile) -> Iterator[bytes]:
    """What is compressed may unpack to anything; all else is as long as it is."""
    most = kept.plain if kept.packed else max(kept.plain, source.sizes[kept.name])
    return source.lines(kept.name, packed=kept.packed, most=most)


def _told(line: bytes) -> RecordLine:
    if found := _LINE.fullmatch(line):
        raw = found["raw"]
        said = _parsed(raw)
        previous = found["previous"] and bytes.fromhex(found["previous"].decode())
        return RecordLine(_seq(said), bytes.fromhex(found["hash"].decode()), previous, raw, said, said.get("chain"))
    match _parsed(line):
        case {"chain": chain, "hash": str(hash_), "pruned": True, "seq": seq, **rest} if not rest:
            raw = None
        case {"chain": chain, "hash": str(hash_), "unreadable": str(content), "seq": seq, **rest} if not rest:
            raw = _bytes(content)
        case _:
            raise UnreadableBundle("a line in it tells of no record")
    if not HASH.fullmatch(hash_):
        raise UnreadableBundle("a line in it tells of no record")
    return RecordLine(_seq({"seq": seq}), bytes.fromhex(hash_), None, raw, {}, chain)


def _seq(said: Mapping[str, Any]) -> int:
    seq = said.get("seq")
    if type(seq) is not int:
        raise UnreadableBundle("a record in it has no number")
    return seq


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        refuse_values(line.decode(), MOST_VALUES)
        said = orjson.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise UnreadableBundle("a line in it is not what we write")
    return said


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise UnreadableBundle("what should be base64 in it is none") from None
