"""The manifest of a bundle, and the signature over it.

Rules kept here:
1. A manifest is one canonical JSON object; the same content in any other form is rejected.
2. It lists every file of the bundle with its size and its SHA-256. No name leads outside of the bundle, and a file that
   is not listed does not belong to it.
3. There is one file for each content: of two files with the same content, a verifier and a reader could use different
   ones.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from cryptography.exceptions import InvalidSignature

from mcpguard.codec.exact import exact_json
from mcpguard.codec.strict import StrictError, parse
from mcpguard.domain.errors import Unreadable
from mcpguard.ledger.export.formats import WORDS
from mcpguard.ledger.keys import SigningKey, public_from

VERSION: Final = 1
TAG: Final = b"mcpguard/bundle/1\0"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"
README: Final = "README.txt"
CHECKPOINTS: Final = "checkpoints.jsonl"
LARGEST: Final = 64 * 1024
MOST_FILES: Final = 16
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
HASH: Final = re.compile(r"[0-9a-f]{64}")
_TOLD: Final = {*(("records", word) for word in WORDS), ("bodies", ""), ("checkpoints", ""), ("readme", "")}
"""The contents that a file may have, each with its form."""
_MEMBERS: Final = {
    "v", "chain", "after", "upto", "before", "first", "last", "records", "pruned", "selection", "bodies", "exported",
    "made_at", "version", "key", "files",
}  # fmt: skip


class BadManifest(ValueError):
    """This is not a manifest. Says why, and repeats nothing of it."""


@dataclass(frozen=True, slots=True)
class End:
    """A record, by its number and its hash."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class BundleFile:
    """A file of a bundle. `what`: `records`, `checkpoints`, `bodies` or `readme`; `form`: that of records; `plain`: its
    size when it is unpacked."""

    name: str
    what: str
    form: str
    packed: bool
    bytes: int
    plain: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was exported: the records of one chain, after one number and up to another, that match `selection`.

    `before`: the hash of the record `after`; `exported`: the record about this export, if a guard made one.
    """

    chain: str
    after: int
    upto: int
    before: str | None
    first: End | None
    last: End | None
    records: int
    pruned: int
    selection: str
    bodies: bool
    exported: tuple[str, int] | None
    made_at: int
    version: str
    key: str
    files: tuple[BundleFile, ...]

    def content(self) -> bytes:
        return exact_json(
            {
                "v": VERSION,
                "chain": self.chain,
                "after": self.after,
                "upto": self.upto,
                "before": self.before,
                "first": _end(self.first),
                "last": _end(self.last),
                "records": self.records,
                "pruned": self.pruned,
                "selection": self.selection,
                "bodies": self.bodies,
                "exported": self.exported and {"chain": self.exported[0], "seq": self.exported[1]},
                "made_at": self.made_at,
                "version": self.version,
                "key": self.key,
                "files": [{name: getattr(each, name) for name in BundleFile.__slots__} for each in self.files],
            }
        )

    @classmethod
    def read(cls, content: bytes) -> Self:
        """Parse a manifest. Raises BadManifest."""
        try:
            said = _object(parse(content, max_bytes=LARGEST), _MEMBERS)
            # The signature is over bytes: two texts with one meaning could be shown to two readers.
            if exact_json(said) != content:
                raise BadManifest("it is not written in the canonical form")
        except (StrictError, Unreadable):
            raise BadManifest("it is not strict JSON") from None
        if said["v"] != VERSION:
            raise BadManifest("its version is not known to this program")
        return cls(
            chain=_text(said["chain"]),
            after=_number(said["after"]),
            upto=_number(said["upto"]),
            before=None if said["before"] is None else _hash(said["before"]),
            first=_read_end(said["first"]),
            last=_read_end(said["last"]),
            records=_number(said["records"]),
            pruned=_number(said["pruned"]),
            selection=_text(said["selection"]),
            bodies=_flag(said["bodies"]),
            exported=_exported(said["exported"]),
            made_at=_number(said["made_at"]),
            version=_text(said["version"]),
            key=_key(said["key"]),
            files=_files(said["files"], bodies=_flag(said["bodies"])),
        )


def sign(content: bytes, key: SigningKey) -> bytes:
    """The content of the signature file."""
    return base64.b64encode(key.sign(TAG + content)) + b"\n"


def is_signed(content: bytes, signature: bytes, key: str) -> bool:
    """Tell whether this public key signed exactly these bytes."""
    try:
        public_from(key).verify(base64.b64decode(signature.removesuffix(b"\n"), validate=True), TAG + content)
    except (ValueError, InvalidSignature):
        return False
    return True


def _end(end: End | None) -> dict[str, object] | None:
    return None if end is None else {"seq": end.seq, "hash": end.hash}


def _read_end(said: object) -> End | None:
    if said is None:
        return None
    end = _object(said, {"seq", "hash"})
    return End(_number(end["seq"]), _hash(end["hash"]))


def _exported(said: object) -> tuple[str, int] | None:
    if said is None:
        return None
    record = _object(said, {"chain", "seq"})
    return _text(record["chain"]), _number(record["seq"])


def _files(said: object, *, bodies: bool) -> tuple[BundleFile, ...]:
    if not isinstance(said, list) or len(said) > MOST_FILES:
        raise BadManifest(f"its files are not a list of at most {MOST_FILES}")
    found = tuple(_file(_object(each, {*BundleFile.__slots__})) for each in said)
    names = [each.name for each in found]
    # A file named twice could be verified in one place and read in the other.
    if len({*names}) != len(names) or {*names} & {MANIFEST, SIGNATURE}:
        raise BadManifest("it names a file twice, or itself")
    told = [(each.what, each.form) for each in found]
    if len({*told}) != len(told) or not _TOLD.issuperset(told):
        raise BadManifest("two of its files have the same content, or one has a content that no file of a bundle has")
    if ("checkpoints", "") not in told or (("bodies", "") in told) is not bodies:
        raise BadManifest("it names no file of checkpoints, or contradicts its files about bodies")
    return found


def _file(said: Mapping[str, Any]) -> BundleFile:
    name = _text(said["name"])
    if not NAME.fullmatch(name):
        raise BadManifest("a file name in it is not allowed: it could lead outside the bundle")
    return BundleFile(
        name,
        _text(said["what"]),
        _text(said["form"]),
        _flag(said["packed"]),
        _number(said["bytes"]),
        _number(said["plain"]),
        _hash(said["sha256"]),
    )


def _object(said: object, members: set[str]) -> Mapping[str, Any]:
    if not isinstance(said, dict) or said.keys() != members:
        raise BadManifest("it does not have the members of a manifest")
    return said


def _text(said: object) -> str:
    if not isinstance(said, str):
        raise BadManifest("a value in it should be text")
    return said


def _number(said: object) -> int:
    if type(said) is not int or not 0 <= said < 2**63:
        raise BadManifest("a value in it should be a number")
    return said


def _flag(said: object) -> bool:
    if not isinstance(said, bool):
        raise BadManifest("a value in it should be true or false")
    return said


def _hash(said: object) -> str:
    if not isinstance(said, str) or not HASH.fullmatch(said):
        raise BadManifest("a value in it should be a hash")
    return said


def _key(said: object) -> str:
    try:
        public_from(_text(said))
    except ValueError:
        raise BadManifest("a value in it should be a public key") from None
    return str(said)
