"""A digest of the detectors of this version: of whatever decides what is found in a definition, except the definition
itself and the tools that there are beside it.

It is taken of files and not of a number that somebody would have to remember to raise. It covers more than it must, as
the only price of that is a second look.
"""

import os
import sys
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
RESTS_ON: Final = ("codec", "domain", "guard/servers", "inspection", "policy", "text")
"""Folders whose code or words findings depend on. A test compares them with what inspection imports."""
_LIBRARIES: Final = ("google-re2", "jsonschema-rs", "orjson")


@cache
def detector_version() -> bytes:
    """Return the digest for this process. It takes some milliseconds the first time."""
    return digest_of(ROOT, (sys.version, *(f"{name} {version(name)}" for name in _LIBRARIES)))


def digest_of(root: Path, others: Iterable[str] = ()) -> bytes:
    """Return a digest of these folders of a package, and of other facts. Without files it equals no other digest."""
    files = sorted(
        (path.relative_to(root).as_posix(), path)
        for folder in RESTS_ON
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    if not files:
        return os.urandom(sha256().digest_size)
    each = (f"{name} {sha256(path.read_bytes()).hexdigest()}" for name, path in files)
    return sha256("\0".join((*each, *others)).encode()).digest()
