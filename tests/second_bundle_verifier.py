"""A second verifier of bundles, written from docs/export.md alone; it shares no code with the guard.

It keeps whole files in memory, and gives up where ours goes on to say more: what the two must agree on is whether a
bundle is whole.
"""

import base64
import json
import re
import sys
import tarfile
import zlib
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MEMBERS = {"v", "chain", "after", "upto", "selection", "before", "first", "last", "records", "pruned", "bodies",
           "exported", "made_at", "version", "key", "files"}  # fmt: skip
FILE = {"name": str, "what": str, "form": str, "packed": bool, "bytes": int, "plain": int, "sha256": str}
TOLD = {("records", "jsonl"), ("records", "csv"), ("records", "ocsf"), ("bodies", ""), ("checkpoints", ""),
        ("readme", "")}  # fmt: skip
CHECKPOINT = {"v": int, "chain": str, "seq": int, "hash": str, "at": int, "why": str, "previous": int, "key": str}
LINE = re.compile(rb'\{"hash":"([0-9a-f]{64})",(?:"previous":"([0-9a-f]{64})",)?"record":(\{.*\})\}', re.DOTALL)
HEX = re.compile("[0-9a-f]{64}")
LARGEST = 2**63


class Wrong(Exception):
    """What is wrong with the bundle."""


def must(holds: object, sentence: str) -> None:
    if not holds:
        raise Wrong(sentence)


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def loaded(text: bytes, what: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        raise Wrong(f"{what} is no JSON") from None


def number(value: object) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def signed(key: str, signature: bytes, said: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True)).verify(signature, said)
    except (ValueError, InvalidSignature):
        return False
    return True


def folder(path: Path) -> dict[str, bytes]:
    must(all(each.is_file() and not each.is_symlink() for each in path.iterdir()), "there is more than plain files")
    return {each.name: each.read_bytes() for each in path.iterdir()}


def tar(path: Path) -> dict[str, bytes]:
    data = path.read_bytes()
    found: dict[str, bytes] = {}
    place = 0
    while True:
        head = data[place : place + 512]
        must(len(head) == 512, "the tar is cut")
        if head == bytes(512):
            break
        try:
            info = tarfile.TarInfo.frombuf(head, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeError):
            raise Wrong("a head of the tar is wrong") from None
        must(info.isreg() and info.name not in found and info.size >= 0, "the tar holds more than plain files")
        content = data[place + 512 : place + 512 + info.size]
        must(len(content) == info.size, "the tar is cut")
        found[info.name] = content
        place += 512 + (info.size + 511) // 512 * 512
    must(data[place:] == bytes(1024), "the tar does not end where it should")
    return found


def manifest_of(files: dict[str, bytes], key: str | None) -> dict[str, Any]:
    raw = files.get("manifest.json")
    must(raw is not None and len(raw or b"") <= 65_536, "there is no manifest")
    said = loaded(raw or b"", "the manifest")
    must(isinstance(said, dict) and said.keys() == MEMBERS and canonical(said) == raw, "the manifest has another form")
    must(type(said["v"]) is int and said["v"] == 1 and isinstance(said["key"], str), "the manifest has another form")
    must(all(number(said[name]) for name in ("after", "upto", "records", "pruned", "made_at")), "a number is none")
    must(isinstance(said["chain"], str) and isinstance(said["selection"], str), "the manifest has another form")
    must(isinstance(said["bodies"], bool) and isinstance(said["version"], str), "the manifest has another form")
    must(said["before"] is None or HEX.fullmatch(str(said["before"])), "the manifest has another form")
    for name, members in (("first", {"seq", "hash"}), ("last", {"seq", "hash"}), ("exported", {"seq", "chain"})):
        each = said[name]
        must(each is None or (isinstance(each, dict) and each.keys() == members and number(each["seq"])), name)
    must(isinstance(said["files"], list) and len(said["files"]) <= 16, "its files are no list")
    for each in said["files"]:
        must(isinstance(each, dict) and each.keys() == FILE.keys(), "a file in it has another form")
        must(all(type(each[name]) is kind for name, kind in FILE.items()), "a file in it has another form")
        must(re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,63}", each["name"]), "a file has no name of a file")
    told = [(each["what"], each["form"]) for each in said["files"]]
    must(
        len({*told}) == len(told) and {*told} <= TOLD and ("checkpoints", "") in told, "files tell the same, or nothing"
    )
    must((("bodies", "") in told) == said["bodies"], "there are bodies and it says none, or none and it says some")
    names = [each["name"] for each in said["files"]]
    must(len({*names, "manifest.json", "manifest.sig"}) == len(names) + 2, "a name is there twice")
    try:
        signature = base64.b64decode(files.get("manifest.sig", b"").removesuffix(b"\n"), validate=True)
    except ValueError:
        raise Wrong("the signature is no base64") from None
    must(signed(said["key"], signature, b"mcpguard/bundle/1\0" + (raw or b"")), "the signature is wrong")
    must(key is None or key == said["key"], "the key is another")
    must(files.keys() == {*names, "manifest.json", "manifest.sig"}, "files are missing, or too many")
    for each in said["files"]:
        content = files[each["name"]]
        must((len(content), sha256(content).hexdigest()) == (each["bytes"], each["sha256"]), f"{each['name']} changed")
    return dict(said)


def lines(files: dict[str, bytes], kept: dict[str, Any]) -> list[bytes]:
    data = files[kept["name"]]
    if kept["packed"]:
        plain = b""
        while data:
            gzip = zlib.decompressobj(wbits=31)
            try:
                plain += gzip.decompress(data, kept["plain"] + 1 - len(plain))
            except zlib.error:
                raise Wrong("a file is not compressed") from None
            must(gzip.eof and len(plain) <= kept["plain"], "a file unpacks to more, or is cut")
            data = gzip.unused_data
        data = plain
    must(len(data) <= kept["plain"] and (not data or data.endswith(b"\n")), "a file is too long, or cut")
    return data.split(b"\n")[:-1]


class Record:
    def __init__(self, line: bytes) -> None:
        self.fields: dict[str, Any] = {}
        self.raw: bytes | None = None
        self.previous: bytes | None = None
        if found := LINE.fullmatch(line):
            self.hash, self.raw = bytes.fromhex(found[1].decode()), found[3]
            self.previous = None if found[2] is None else bytes.fromhex(found[2].decode())
            self.fields = loaded(self.raw, "a record")
            must(isinstance(self.fields, dict), "a record is no object")
            self.chain, seq = self.fields.get("chain"), self.fields.get("seq")
        else:
            said = loaded(line, "a line")
            must(isinstance(said, dict), "a line is no object")
            must(said.keys() == {"chain", "hash", "pruned", "seq"} and said["pruned"] is True, "a line is none of ours")
            must(HEX.fullmatch(str(said["hash"])), "a line is none of ours")
            self.chain, seq, self.hash = said["chain"], said["seq"], bytes.fromhex(said["hash"])
        must(type(seq) is int, "a record has no number")
        self.seq = int(seq or 0)


def checkpoints(
    files: dict[str, bytes], manifest: dict[str, Any], known: dict[int, bytes], announced: set[str], key: str | None
) -> list[int]:
    """The numbers that they are of."""
    found: list[int] = []
    kept = [each for each in manifest["files"] if each["what"] == "checkpoints"]
    believed = {key} if key else {manifest["key"], *announced}
    before: int | None = None if manifest["after"] or manifest["selection"] else 0
    for each in kept:
        for line in lines(files, each):
            said = loaded(line, "a checkpoint")
            must(isinstance(said, dict) and said.keys() == {"content", "signature"}, "a checkpoint has another form")
            try:
                content, signature = (base64.b64decode(said[name], validate=True) for name in ("content", "signature"))
            except (ValueError, TypeError):
                raise Wrong("a checkpoint is no base64") from None
            stated = loaded(content, "a checkpoint")
            must(isinstance(stated, dict) and canonical(stated) == content, "a checkpoint has another form")
            must(all(type(stated.get(name)) is kind for name, kind in CHECKPOINT.items()), "a checkpoint has gaps")
            must(signed(stated["key"], signature, b"mcpguard/checkpoint/1\0" + content), "a checkpoint is not signed")
            must(
                stated["chain"] == manifest["chain"] and stated["key"] in believed, "a checkpoint is not to be believed"
            )
            must(before is None or stated["previous"] == before, "a checkpoint is missing")
            before = stated["seq"]
            found.append(before)
            if not manifest["selection"]:
                must(manifest["after"] <= before <= manifest["upto"], "a checkpoint is of no record in it")
            if before in known:
                must(known[before].hex() == stated["hash"], "a checkpoint names another hash")
    return found


def walk(manifest: dict[str, Any], records: list[Record]) -> None:
    """The numbers, the hashes and the entries."""
    last = manifest["after"]
    for record in records:
        must(last < record.seq <= manifest["upto"] and record.chain == manifest["chain"], "a record is out of place")
        last = record.seq
        if record.raw is not None:
            digest = sha256(b"mcpguard/record/1\0" + (record.previous or b"") + record.raw).digest()
            must(record.previous is not None and digest == record.hash, "a record does not have its hash")
    for one, two in pairwise(records):
        must(two.raw is None or two.seq != one.seq + 1 or two.previous == one.hash, "a record does not follow")
    first = records[0] if records else None
    if first and first.seq == manifest["after"] + 1 and first.previous and manifest["before"] is not None:
        must(first.previous.hex() == manifest["before"], "the first does not follow")
    if manifest["selection"]:
        return
    must(
        len(records) == manifest["upto"] - manifest["after"], "records are missing"
    )  # their numbers rise, between the two
    opened: set[object] = set()
    lenient = manifest["after"] > 0
    for record in records:
        kind, entry = record.fields.get("kind"), record.fields.get("entry")
        lenient |= record.raw is None or kind == "lost"
        if kind == "opened":
            must(entry not in opened, "an entry is opened twice")
            opened.add(entry)
        elif kind in ("released", "closed"):
            must(lenient or entry in opened, "an entry is not open")
            if kind == "closed":
                opened.discard(entry)
    prunings(manifest, records)


def prunings(manifest: dict[str, Any], records: list[Record]) -> None:
    said = [each for each in records if each.fields.get("kind") == "pruned"]
    ranges = [each.fields for each in said if each.fields.get("what") == "records"]
    hashes = {each.seq: each.hash for each in records}
    for record in records:
        if record.raw is None:
            must(any(f["first"] <= record.seq <= f["last"] < f["seq"] for f in ranges), "pruned without a record")
    for f in ranges:
        if f["first"] > manifest["after"]:
            total = sha256(b"".join(hashes[seq] for seq in range(f["first"], f["last"] + 1))).hexdigest()
            must(total == f["hashes"], "what was left of pruned records is not what was said")


def bodies(files: dict[str, bytes], manifest: dict[str, Any], records: list[Record]) -> None:
    if not manifest["bodies"]:
        return
    found: dict[int, dict[str, Any]] = {}
    for each in manifest["files"]:
        if each["what"] == "bodies":
            for line in lines(files, each):
                said = loaded(line, "a body")
                must(isinstance(said, dict) and type(said.get("seq")) is int and said["seq"] not in found, "a body")
                must(not found or said["seq"] > max(found), "a body is out of place")
                found[said["seq"]] = said
    pruned = [r.fields for r in records if r.fields.get("kind") == "pruned" and r.fields.get("what") == "bodies"]
    for record in records:
        if not record.fields.get("body_kept"):
            continue
        must(record.seq in found, "a body is missing")
        said = found.pop(record.seq)
        if said.get("pruned") is True:
            covered = any(f["first"] <= record.seq <= f["last"] < f["seq"] for f in pruned)
            must(covered or manifest["selection"], "a body was pruned without a record")
            continue
        try:
            salt, content = (base64.b64decode(said[name], validate=True) for name in ("salt", "content"))
        except (KeyError, ValueError, TypeError):
            raise Wrong("a body has another form") from None
        digest = "sha256:" + sha256(b"mcpguard/body/1\0" + salt + content).hexdigest()
        must((len(salt), len(content)) == (16, record.fields.get("body_size")), "a body has another size")
        must(digest == record.fields.get("body_digest"), "a body has another digest")
    must(not found, "a body belongs to no record")


def held(manifest: dict[str, Any], known: dict[int, bytes], kept: bytes | None) -> None:
    if kept is None:
        return
    stated = json.loads(base64.b64decode(json.loads(kept)["content"]))
    must(stated["chain"] == manifest["chain"], "the checkpoint kept elsewhere is of another chain")
    if manifest["after"] < stated["seq"] <= manifest["upto"] and stated["seq"] in known:
        must(known[stated["seq"]].hex() == stated["hash"], "the checkpoint kept elsewhere names another hash")


def told(files: dict[str, bytes], manifest: dict[str, Any]) -> Iterator[Record]:
    for each in manifest["files"]:
        if each["form"] == "jsonl":
            yield from map(Record, lines(files, each))
            return


def verify(path: Path, key: str | None = None, kept: bytes | None = None) -> str | None:
    """What is wrong with a bundle; None where it is whole."""
    try:
        files = folder(path) if path.is_dir() else tar(path)
        manifest = manifest_of(files, key)
        if not any(each["form"] == "jsonl" for each in manifest["files"]):
            return None
        records = [*told(files, manifest)]
        count = (len(records), sum(each.raw is None for each in records))
        must(count == (manifest["records"], manifest["pruned"]), "there are more records, or less")
        ends: list[dict[str, Any] | None] = [None, None]
        if records:
            ends = [{"seq": each.seq, "hash": each.hash.hex()} for each in (records[0], records[-1])]
        must(ends == [manifest["first"], manifest["last"]], "the first or the last is another")
        walk(manifest, records)
        gone = {str(each.fields.get("previous")) for each in records if each.fields.get("kind") == "rotated"}
        must(manifest["key"] not in gone, "the key was retired before the bundle was made")
        known = {each.seq - 1: each.previous for each in records if each.previous is not None}
        if manifest["before"] is not None:
            known[manifest["after"]] = bytes.fromhex(manifest["before"])
        known |= {each.seq: each.hash for each in records}
        announced = {str(each.fields.get("key")) for each in records if each.fields.get("kind") == "started"}
        signed_at = checkpoints(files, manifest, known, announced, key)
        for each in records:
            last = each.fields.get("last", 0)
            if each.fields.get("kind") == "pruned" and last > manifest["after"] and not manifest["selection"]:
                must(any(last <= seq < each.seq for seq in signed_at), "no checkpoint covers what was pruned")
        bodies(files, manifest, records)
        held(manifest, known, kept)
    except Wrong as wrong:
        return str(wrong)
    return None


if __name__ == "__main__":
    answer = verify(Path(sys.argv[1]), sys.argv[2] if sys.argv[2:] else None)
    sys.stdout.write(f"{answer or 'whole'}\n")
    sys.exit(1 if answer else 0)
