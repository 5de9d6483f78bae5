"""Parses the lines of a bundle's files strictly, because an attacker may have written them."""

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
"""JSON values in one line. A record has some dozens; parsed, a value may take a hundred times the room."""


class RecordLine(NamedTuple):
    """A record from its line. `raw` is None if it was pruned; `said` is empty if its content is not a JSON object."""

    seq: int
    hash: bytes
    previous: bytes | None
    raw: bytes | None
    said: Mapping[str, Any]
    chain: object


def records(source: BundleSource, kept: BundleFile, holding: bytes = b"") -> Iterator[RecordLine]:
    """The records whose lines contain these bytes. Raises UnreadableBundle."""
    found = _lines(source, kept)
    return map(_told, (line for line in found if holding in line) if holding else found)


def bodies(source: BundleSource, kept: BundleFile) -> Iterator[StoredBody]:
    """The bodies of the file. Raises UnreadableBundle."""
    for line in _lines(source, kept):
        match _parsed(line):
            case {"seq": int(seq), "pruned": True, **rest} if not rest:
                yield StoredBody(seq, None, None)
            case {"seq": int(seq), "salt": str(salt), "content": str(content), **rest} if not rest:
                yield StoredBody(seq, _bytes(salt), _bytes(content))
            case _:
                raise UnreadableBundle("a line in it is not a body")


def checkpoints(source: BundleSource, kept: BundleFile) -> Iterator[StoredCheckpoint]:
    """The checkpoints, each with the number that its statement has. Raises UnreadableBundle."""
    for line in _lines(source, kept):
        match _parsed(line):
            case {"content": str(content), "signature": str(signature), **rest} if not rest:
                stated = _bytes(content)
                seq = _parsed(stated).get("seq")
                if type(seq) is not int:
                    raise UnreadableBundle("a line in it is not a checkpoint")
                yield StoredCheckpoint(seq, stated, _bytes(signature))
            case _:
                raise UnreadableBundle("a line in it is not a checkpoint")


def _lines(source: BundleSource, kept: BundleFile) -> Iterator[bytes]:
    """The lines of a file. Compressed data may unpack to any size, so it is limited by what the manifest says."""
    most = kept.plain if kept.packed else max(kept.plain, source.sizes[kept.name])
    return source.lines(kept.name, packed=kept.packed, most=most)


def _told(line: bytes) -> RecordLine:
    # The content is cut out and not parsed and written again: its hash is over these very bytes.
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
            raise UnreadableBundle("a line in it is not a record")
    if not HASH.fullmatch(hash_):
        raise UnreadableBundle("a line in it is not a record")
    return RecordLine(_seq({"seq": seq}), bytes.fromhex(hash_), None, raw, {}, chain)


def _seq(said: Mapping[str, Any]) -> int:
    seq = said.get("seq")
    if type(seq) is not int:
        raise UnreadableBundle("a record in it has no number")
    return seq


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        # Before parsing: a short line of empty arrays takes a hundred times its size in memory.
        refuse_values(line.decode(), MOST_VALUES)
        said = orjson.loads(line)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise UnreadableBundle("a line in it is not a JSON object that mcpguard writes")
    return said


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise UnreadableBundle("a value in it is not base64") from None
