"""A second verifier of the ledger, written from docs/ledger-format.md alone; it shares no code with the guard."""

import base64
import json
import re
import sqlite3
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

Kind = Literal[
    "edited", "columns edited", "removed", "added", "reordered", "tail cut", "rewritten", "body edited", "body removed",
    "body added", "checkpoint forged", "checkpoint removed", "key forged", "pruned without a record", "inconsistent",
]  # fmt: skip
Fields = dict[str, str | int]
COLUMNS = [
    "at",
    "kind",
    "entry",
    "caller",
    "server",
    "capability",
    "name",
    "effect",
    "verdict",
    "outcome",
    "reason",
    "by",
    "parent",
]
CHECKPOINT = {"v": int, "chain": str, "seq": int, "hash": str, "at": int, "why": str, "previous": int, "key": str}
ACCOUNT = ["what", "first", "last", "count", "why", "by", "via", "process", "words"]
CHAINS = """
SELECT chain FROM records UNION SELECT chain FROM bodies UNION SELECT chain FROM checkpoints
UNION SELECT chain FROM search_blocks UNION SELECT chain FROM search_values"""
ACCOUNTS = (
    "SELECT seq, content FROM records WHERE chain = ? AND typeof(seq) = 'integer' AND instr(content, ?) ORDER BY seq"
)
BLOCKS = "SELECT block, first_at, last_at FROM search_blocks WHERE chain = ?"
VALUES = "SELECT span, field, value, block FROM search_values WHERE chain = ?"
HASH = "SELECT hash FROM records WHERE chain = ? AND seq = ?"
COVERING = "SELECT 1 FROM checkpoints WHERE chain = ? AND seq >= ? AND seq < ?"
INDEXED = ["kind", "caller", "server", "name", "effect", "verdict", "outcome", "reason", "by", "parent"]
SEARCHED = f"""
SELECT seq / 64, at, {", ".join(f'"{field}"' for field in INDEXED)} FROM records
WHERE chain = ? AND content IS NOT NULL AND seq <= ? * 64 + 63"""
STATED = ("at", "after", "previous", "key")
LINE = (b'{"content":"', b'","signature":"', b'"}')
RECORDS = """
SELECT r.seq, r.hash, r.content, b.seq, b.salt, b.content, r.at, r.kind, r.entry, r.caller, r.server, r.capability,
       r.name, r.effect, r.verdict, r.outcome, r.reason, r."by", r.parent
FROM records r LEFT JOIN bodies b ON b.chain = r.chain AND b.seq = r.seq
WHERE r.chain = ? ORDER BY r.seq"""
CHECKPOINTS = """
SELECT c.seq, c.content, c.signature, r.hash
FROM checkpoints c LEFT JOIN records r ON r.chain = c.chain AND r.seq = c.seq
WHERE c.chain = ? ORDER BY c.seq"""
ORPHANS = """
SELECT b.seq FROM bodies b
WHERE b.chain = ? AND NOT EXISTS (SELECT 1 FROM records r WHERE r.chain = b.chain AND r.seq = b.seq)"""


@dataclass(frozen=True, slots=True)
class Finding:
    chain: str
    seq: int
    kind: Kind
    sentence: str


def _same(left: object, right: object) -> bool:
    return type(left) is type(right) and left == right


def _parse(raw: object) -> Fields | None:
    """The fields of a flat object in canonical form."""
    if not isinstance(raw, bytes):
        return None
    try:
        fields = json.loads(raw.decode())
        canonical = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or canonical != raw or not all(key.isascii() for key in fields):
        return None
    flat = all(isinstance(v, str) or (isinstance(v, int) and abs(v) < 2**53) for v in fields.values())
    return fields if flat else None


def _keyed(digest: object) -> bool:
    """Whether this is an HMAC as it is written."""
    return type(digest) is str and re.fullmatch("hmac-sha256:[0-9a-f]{64}", digest) is not None


def _signed(content: object, signature: object) -> Fields | None:
    """The fields of a checkpoint that is well formed and signed by the key that it names."""
    fields = _parse(content)
    if fields is None or any(type(fields.get(field)) is not wanted for field, wanted in CHECKPOINT.items()):
        return None
    if fields["v"] != 1 or not isinstance(content, bytes) or not isinstance(signature, bytes):
        return None
    whole = _is_by(fields["key"], signature, b"mcpguard/checkpoint/1\0" + content)
    return fields if whole and int(fields["seq"]) > 0 else None


def _is_by(key: object, signature: bytes, signed: bytes) -> bool:
    try:
        raw = base64.b64decode(str(key), validate=True)
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, signed)
    except (ValueError, InvalidSignature):
        return False
    return base64.b64encode(raw).decode() == key


def _kept(text: bytes) -> list[Fields | None]:
    """The checkpoints that were kept elsewhere, in one file; None for what is none."""
    alone = _elsewhere(text)
    if alone is not None:
        return [alone]
    lines = [line.rstrip(b"\r\0") for line in text.split(b"\n")]
    return [_elsewhere(line) for line in lines if line and not _cut_off(line)] or [None]


def _cut_off(line: bytes) -> bool:
    """Whether it is the beginning of a line of an anchor file, and no whole one."""
    content, signature, end = LINE
    if len(line) < len(content):
        return content.startswith(line)
    value = re.compile(rb"[A-Za-z0-9+/=]*")
    if not line.startswith(content):
        return False
    rest = value.sub(b"", line[len(content) :], count=1)
    if len(rest) < len(signature):
        return signature.startswith(rest)
    rest = value.sub(b"", rest[len(signature) :], count=1) if rest.startswith(signature) else b"?"
    return rest in {b"", end[:1]}


def _elsewhere(text: bytes) -> Fields | None:
    """The fields of a checkpoint that was kept elsewhere."""
    try:
        kept = json.loads(text)
        return _signed(*(base64.b64decode(kept[field], validate=True) for field in ("content", "signature")))
    except (ValueError, RecursionError, TypeError, KeyError):
        return None


class _Covered:
    """Whether a later record of kind `pruned` accounts for a number; asked with rising numbers."""

    def __init__(self, ranges: Sequence[tuple[int, int, int]]) -> None:
        self._ranges = deque(sorted(ranges))
        self._reach = 0
        self.by = 0

    def __contains__(self, seq: int) -> bool:
        while self._ranges and self._ranges[0][0] <= seq:
            _, end, self.by = self._ranges.popleft()
            self._reach = max(self._reach, end)
        return seq <= self._reach


class _Chain:
    def __init__(
        self, db: sqlite3.Connection, name: str, findings: list[Finding], anchors: list[Fields], keys: set[str]
    ) -> None:
        self.db, self.name, self.findings, self.anchors = db, name, findings, anchors
        self.keys: set[object] = {*keys, *(anchor["key"] for anchor in anchors)}
        self.last = 0
        self.before: bytes | None = bytes(32)  # nothing: the record before is missing
        self.announced: dict[object, int] = {}  # where, 0 for what a pruned record repeats
        self.excused = 0  # what was opened before the record of this number may have been pruned
        self.accounts: list[str] = []
        self.lost = False
        self.open: dict[object, None] = {}
        ranges: dict[object, list[tuple[int, int, int]]] = {"records": [], "bodies": []}
        for seq, content in db.execute(ACCOUNTS, (name, b'"kind":"pruned"')):
            fields = _parse(content) or {}
            if fields.get("kind") == "pruned" and fields.get("what") in ranges and (span := self._span(seq, fields)):
                ranges[fields["what"]].append((*span, seq))
                self.announced |= dict.fromkeys(str(fields.get("keys", "")).split(), 0)
                said = " ".join(f"{key}={fields[key]}" for key in ACCOUNT if key in fields)
                self.accounts.append(f"{name}: record {seq} accounts for what was pruned: {said}")
        self.rotations: dict[int, tuple[object, object]] = {}  # the right ones: old key, new key
        self.came: dict[object, int] = {}
        self.went: dict[object, int] = {}
        for seq, content in db.execute(ACCOUNTS, (name, b'"kind":"rotated"')):
            self.rotation(seq, _parse(content) or {})
        self.joined = {*self.keys}
        for old, new in self.rotations.values():
            self.joined |= {new} if old in self.joined else set()
        for old, new in reversed(self.rotations.values()):
            self.joined |= {old} if new in self.joined else set()
        self.pruned_records, self.pruned_bodies = _Covered(ranges["records"]), _Covered(ranges["bodies"])
        together = sorted(ranges["records"])
        for (_, end, _), (begin, _, seq) in pairwise(together):
            if begin <= end:
                self.find(seq, "inconsistent", f"Record {seq} accounts for {begin}, which another does as well.")

    def find(self, seq: object, kind: Kind, sentence: str) -> None:
        self.findings.append(Finding(self.name, seq if isinstance(seq, int) else 0, kind, sentence))

    def verify(self) -> None:
        for seq, digest, content, *rest in self.db.execute(RECORDS, (self.name,)):
            self.record(seq, digest, content, rest[:3], rest[3:])
        for (seq,) in self.db.execute(ORPHANS, (self.name,)):
            self.find(seq, "body added", f"A body lies at {seq}, where there is no record.")
        before = 0
        for seq, content, signature, digest in self.db.execute(CHECKPOINTS, (self.name,)):
            self.checkpoint(seq, _signed(content, signature), digest, before)
            before = seq if isinstance(seq, int) else before
        for anchor in self.anchors:
            self.anchored(anchor, int(anchor["seq"]))
        if not any(finding.chain == self.name for finding in self.findings):
            self.index()

    def index(self) -> None:
        """Compare the index of searches with the records."""
        blocks = {row[0]: row[1:] for row in self.db.execute(BLOCKS, (self.name,))}
        values = set(self.db.execute(VALUES, (self.name,)))
        end = max(blocks, default=-1)
        if end * 64 + 63 > self.last:
            self.find(end * 64, "columns edited", f"The index has block {end}, of which records are still to come.")
        times: dict[int, list[int]] = {}
        right = set()
        for block, at, *said in self.db.execute(SEARCHED, (self.name, end)):
            times.setdefault(block, []).append(at)
            right |= {(block // 1024, field, value, block) for field, value in zip(INDEXED, said, strict=True) if value}
        for block in {key[3] for key in values ^ right}:
            self.find(block * 64, "columns edited", f"The index does not name the values of block {block}.")
        if blocks != {block: (min(ats), max(ats)) for block, ats in times.items()}:
            self.find(0, "columns edited", "The index does not have the times of every block.")

    def record(self, seq: object, digest: object, content: object, body: list[object], columns: list[object]) -> None:
        if not isinstance(seq, int) or seq <= self.last:
            self.find(seq, "added", f"Record {seq!r} lies outside the numbers 1, 2, 3 …")
            return
        if seq > self.last + 1:
            self.find(self.last + 1, "removed", f"Records {self.last + 1} to {seq - 1} are missing.")
            self.before = None
        after = digest if isinstance(digest, bytes) and len(digest) == 32 else None
        if after is None:
            self.find(seq, "edited", f"The hash of record {seq} is not 32 bytes.")
        if content is None:
            self.pruned(seq, body, columns)
        else:
            self.kept(seq, digest, content, body, columns)
        self.last, self.before = seq, after

    def pruned(self, seq: int, body: list[object], columns: list[object]) -> None:
        if seq not in self.pruned_records:
            self.find(seq, "pruned without a record", f"No later record accounts for the pruning of record {seq}.")
        else:
            self.excused = max(self.excused, self.pruned_records.by)
        if any(value is not None for value in columns):
            self.find(seq, "columns edited", f"Record {seq} has no content, but has columns.")
        if body != [None, None, None]:
            self.find(seq, "body added", f"Record {seq} is pruned, but its body is not.")

    def kept(self, seq: int, digest: object, content: object, body: list[object], columns: list[object]) -> None:
        raw = content if isinstance(content, bytes) else b""
        edited = self.before is not None and digest != sha256(b"mcpguard/record/1\0" + self.before + raw).digest()
        if edited:
            self.find(seq, "edited", f"Record {seq} does not have the hash of its content and the record before.")
        fields = _parse(content)
        if fields is None:
            if not edited:
                self.find(seq, "inconsistent", f"The content of record {seq} is no flat object in canonical form.")
            return
        if not _same(fields.get("v"), 1) or type(fields.get("at")) is not int or type(fields.get("kind")) is not str:
            self.find(seq, "inconsistent", f"Record {seq} is not of version 1, or says no time or kind.")
        if not _same(fields.get("chain"), self.name) or not _same(fields.get("seq"), seq):
            self.find(seq, "reordered", f"The record at {seq} was written for another place.")
        wrong = [name for name, value in zip(COLUMNS, columns, strict=True) if not _same(value, fields.get(name))]
        if wrong:
            self.find(seq, "columns edited", f"Columns of record {seq} differ from its content: {', '.join(wrong)}.")
        self.body(seq, fields, *body)
        self.told(seq, fields)

    def told(self, seq: int, fields: Fields) -> None:
        self.lost |= fields.get("kind") == "lost"
        if fields.get("kind") in {"pruned", "rotated"} and seq in self.pruned_records:
            self.find(seq, "inconsistent", f"Record {seq} is accounted for as pruned, and such a record never is.")
        if fields.get("kind") == "started":
            self.announced.setdefault(fields.get("key"), seq)
        elif fields.get("kind") == "rotated":
            self.rotated(seq)
        elif fields.get("kind") == "pruned":
            self.account(seq, fields)
        elif fields.get("kind") in {"opened", "released", "closed"}:
            self.entry(seq, fields["kind"], fields.get("entry"))

    def body(self, seq: int, fields: Fields, there: object, salt: object, content: object) -> None:
        size, digest, kept = (fields.get(field) for field in ("body_size", "body_digest", "body_kept"))
        keyed, large = fields.get("body_hmac"), fields.get("body_too_large")
        if not (keyed is None or (kept is True and _keyed(keyed))) or not (
            large is None or (kept is False and large is True)
        ):
            self.find(seq, "inconsistent", f"What record {seq} says of its body does not hold together.")
        if (size, digest, kept) != (None, None, None) and not (
            type(size) is int
            and isinstance(kept, bool)
            and (str(digest).startswith("sha256:") if kept else _keyed(digest))
        ):
            self.find(seq, "inconsistent", f"What record {seq} says of its body does not hold together.")
        if kept is not True:
            if there is not None:
                self.find(seq, "body added", f"A body lies at {seq}, but the record speaks of none.")
        elif there is None:
            self.find(seq, "body removed", f"The body of record {seq} is missing.")
        elif salt is None and content is None:
            if seq not in self.pruned_bodies:
                self.find(seq, "pruned without a record", f"No later record accounts for the pruning of body {seq}.")
        elif not (
            isinstance(salt, bytes)
            and isinstance(content, bytes)
            and (len(salt), len(content)) == (16, size)
            and digest == "sha256:" + sha256(b"mcpguard/body/1\0" + salt + content).hexdigest()
        ):
            self.find(seq, "body edited", f"The body of record {seq} is not the one that the record speaks of.")

    def entry(self, seq: int, kind: object, entry: object) -> None:
        if kind == "opened":
            if entry in self.open:
                self.find(seq, "inconsistent", f"Record {seq} opens an entry that is open.")
            self.open[entry] = None
        elif entry not in self.open and seq >= self.excused and not self.lost:
            self.find(seq, "inconsistent", f"Record {seq} speaks of an entry that is not open.")
        if kind == "closed":
            self.open.pop(entry, None)

    @staticmethod
    def _span(seq: int, fields: Fields) -> tuple[int, int] | None:
        first, last = fields.get("first"), fields.get("last")
        return (first, last) if type(first) is int and type(last) is int and 1 <= first <= last < seq else None

    def account(self, seq: int, fields: Fields) -> None:
        span = self._span(seq, fields)
        if span is None:
            self.find(seq, "inconsistent", f"Record {seq} accounts for no range of records before it.")
            return
        if self.db.execute(COVERING, (self.name, span[1], seq)).fetchone() is None:
            self.find(seq, "inconsistent", f"No checkpoint before record {seq} covers what it accounts for.")
        if fields.get("what") == "records":
            total = sha256()
            query = "SELECT hash FROM records WHERE chain = ? AND seq BETWEEN ? AND ? ORDER BY seq"
            for (digest,) in self.db.execute(query, (self.name, *span)):
                total.update(digest if isinstance(digest, bytes) else b"")
            if fields.get("hashes") != total.hexdigest():
                self.find(span[0], "edited", f"Hashes {span[0]} to {span[1]} are not those that record {seq} names.")

    def rotation(self, seq: int, fields: Fields) -> None:
        """Keep a rotated record that is right."""
        statement = {"v": 1, "chain": self.name, "seq": seq} | {name: fields.get(name) for name in STATED}
        signed = b"mcpguard/key/1\0" + json.dumps(
            statement, sort_keys=True, ensure_ascii=False, separators=(",", ":")
        ).encode(errors="surrogatepass")
        old, new = fields.get("previous"), fields.get("key")
        try:
            proofs = [base64.b64decode(str(fields.get(name)), validate=True) for name in ("proof", "accepted")]
        except ValueError:
            return
        (before,) = (bytes(32),) if seq == 1 else self.db.execute(HASH, (self.name, seq - 1)).fetchone() or (None,)
        if (
            fields.get("kind") == "rotated"
            and (fields.get("chain"), fields.get("seq")) == (self.name, seq)
            and _is_by(old, proofs[0], signed)
            and _is_by(new, proofs[1], signed)
            and (not isinstance(before, bytes) or before.hex() == fields.get("after"))
            and old != new
            and old not in self.went
            and new not in {*self.came, *self.went}
        ):
            self.rotations[seq] = (old, new)
            self.went[old] = self.came[new] = seq

    def rotated(self, seq: int) -> None:
        old, new = self.rotations.get(seq, (None, None))
        if old is None:
            self.find(seq, "key forged", f"What record {seq} says of another key is not right.")
        elif not (old in self.joined if self.keys else self.announced.get(old, seq + 1) <= seq):
            self.find(seq, "key forged", f"Nothing vouches for the key that record {seq} retires.")
        else:
            self.announced.setdefault(new, seq)

    def checkpoint(self, seq: object, fields: Fields | None, digest: object, before: int) -> None:
        if not isinstance(seq, int) or fields is None or (fields["chain"], fields["seq"]) != (self.name, seq):
            self.find(seq, "checkpoint forged", f"The checkpoint at {seq!r} is malformed, misplaced or wrongly signed.")
            return
        if fields["previous"] != before:
            gone = before < int(fields["previous"]) < seq
            kind: Kind = "checkpoint removed" if gone else "checkpoint forged"
            self.find(seq, kind, f"The checkpoint at {seq} follows {fields['previous']}, the store has {before}.")
        if seq > self.last:
            self.find(seq, "tail cut", f"There is a checkpoint at {seq}, but the last record is {self.last}.")
            return
        key = fields["key"]
        if not (key in self.joined if self.keys else self.announced.get(key, seq + 1) <= seq):
            self.find(seq, "checkpoint forged", f"The key of the checkpoint at {seq} is not one to be believed.")
        elif not self.came.get(key, 0) < seq <= self.went.get(key, seq):
            self.find(seq, "checkpoint forged", f"The key of the checkpoint at {seq} does not sign there.")
        if isinstance(digest, bytes) and digest.hex() != fields["hash"]:
            self.find(seq, "rewritten", f"Record {seq} does not have the hash that its checkpoint names.")

    def anchored(self, anchor: Fields, seq: int) -> None:
        query = "SELECT lower(hex(hash)) FROM records WHERE chain = ? AND seq = ?"
        if seq > self.last:
            self.find(seq, "tail cut", f"A checkpoint at {seq} is kept elsewhere, but the last record is {self.last}.")
        elif self.db.execute(query, (self.name, seq)).fetchone() != (anchor["hash"],):
            self.find(seq, "rewritten", f"Record {seq} does not have the hash that is kept elsewhere.")
        query = "SELECT content FROM checkpoints WHERE chain = ? AND seq = ?"
        if _parse((self.db.execute(query, (self.name, seq)).fetchone() or [None])[0]) != anchor:
            self.find(seq, "checkpoint removed", f"The checkpoint at {seq} that is kept elsewhere is not in the store.")


def _examine(path: Path, anchor: bytes | None, keys: set[str]) -> tuple[list[Finding], list[str]]:
    findings: list[Finding] = []
    still_open: list[str] = []
    kept = [] if anchor is None else _kept(anchor)
    elsewhere = [fields for fields in kept if fields is not None]
    if None in kept:
        findings.append(Finding("", 0, "checkpoint forged", "A checkpoint kept elsewhere is malformed."))
    try:
        uri = path.absolute().as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as db:
            db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            db.execute("BEGIN")  # one snapshot
            if db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                findings.append(Finding("", 0, "inconsistent", "SQLite finds the file damaged."))
            listed = {name for (name,) in db.execute("SELECT id FROM chains")}
            names = listed | {name for (name,) in db.execute(CHAINS)}
            kept_of = {str(fields["chain"]) for fields in elsewhere}
            for name in sorted(names if kept_of & names else names | kept_of, key=ascii):
                if name not in listed:
                    findings.append(Finding(str(name), 0, "inconsistent", "The chain is not among the store's chains."))
                if not isinstance(name, str) or any("\ud800" <= letter <= "\udfff" for letter in name):
                    findings.append(Finding(str(name), 0, "inconsistent", "The name of the chain is no text."))
                    continue
                own = [fields for fields in elsewhere if fields["chain"] == name]
                chain = _Chain(db, name, findings, own, keys)
                chain.verify()
                still_open += chain.accounts
                still_open += [f"{name}: entry {entry} is open" for entry in chain.open]
    except (sqlite3.Error, UnicodeError, OverflowError, MemoryError) as error:
        findings.append(Finding("", 0, "inconsistent", f"The store cannot be read to its end: {error}"))
    return findings, still_open


def verify(path: Path, anchor: bytes | None = None, keys: set[str] | None = None) -> list[Finding]:
    """What is wrong with a store, given the text of a checkpoint kept elsewhere, or keys known from elsewhere."""
    return _examine(path, anchor, keys or set())[0]


def main(arguments: list[str]) -> int:
    if len(arguments) not in {1, 2}:
        sys.stdout.write("python tests/second_verifier.py FILE [CHECKPOINT]\n")
        return 1
    findings, still_open = _examine(
        Path(arguments[0]), Path(arguments[1]).read_bytes() if arguments[1:] else None, set()
    )
    lines = [f"{one.chain} {one.seq} {one.kind}: {one.sentence}" for one in findings] + still_open
    sys.stdout.writelines(ascii(line)[1:-1] + "\n" for line in lines)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
