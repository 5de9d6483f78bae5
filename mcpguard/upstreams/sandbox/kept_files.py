"""Shows a program inside the sandbox as it was read, whatever lies at its path outside.

Rules kept here:
1. A mount over a path in a folder that others can write to is not enough: the kernel removes the mount once an attacker
   gives that name to another file. There, the sandbox rebuilds the folders from the mount down to the file for each
   start, and mounts every other entry in them one by one.
2. This happens where only the sandbox's places are visible. An attacker who meanwhile replaces one of those names with
   a link exposes nothing that was not visible anyway.
3. Mounting time grows with the number of mounts. Where those folders have too many entries, the start is refused.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcpguard.upstreams.sandbox.not_confined import NotConfined
from mcpguard.upstreams.sandbox.places import Bind, Copy, Link, Place

MOST_ENTRIES: Final = 500
"""Measured: half a second; the time grows with the square."""


@dataclass(frozen=True, slots=True)
class KeptPath:
    """The content of a path outside when it was read: the bytes of a file, or the target of a link.

    `exposed` says what others can change so that the path leads elsewhere; empty where they cannot.
    """

    path: Path
    said: bytes | str = field(repr=False)
    exposed: str = ""


def kept_places(kept: Iterable[KeptPath], places: Iterable[Place]) -> Iterator[tuple[KeptPath, Place]]:
    """Yield every path inside at which a kept file would be visible, with the copy or link to show there."""
    binds = [(place.at, place.source.resolve()) for place in places if isinstance(place, Bind)]
    for each in kept:
        for at, source in binds:
            if isinstance(each.said, bytes) and each.path.is_relative_to(source):
                yield each, Copy(at / each.path.relative_to(source), each.said)
            elif isinstance(each.said, str) and source in each.path.parents:
                yield each, Link(at / each.path.relative_to(source), each.said)


def unfold_binds(places: Collection[Place], kept: Mapping[Path, str]) -> list[Place]:
    """Return the places without a mounted folder above any `kept` path: its entries are mounted one by one instead.

    `kept` gives, for each path, what others can change. Raises NotConfined.
    """
    found = {place.at: place for place in places}
    above = {folder for path in kept for folder in path.parents}
    left = MOST_ENTRIES
    for path, exposed in kept.items():
        # From the outermost mount downwards: each mounted folder above the file is replaced by its entries, until the
        # file itself is an entry of a folder that the sandbox makes.
        while (bind := _bound_above(path, found)) is not None:
            del found[bind.at]
            # The server could replace its own program there, which no mount over the file can prevent.
            if bind.writable:
                raise NotConfined(f"its program {path} lies in {bind.at}, to which it may write; mount that read-only")
            for name, to in _entries(bind):
                # The start would take seconds, and whoever fills the folder could delay it as long as they like.
                if not (left := left - 1):
                    raise NotConfined(
                        f"its program {path} cannot be protected: {exposed}, and {bind.at} and the folders above have "
                        f"more than {MOST_ENTRIES} entries"
                    )
                at = bind.at / name
                if at in found or at in kept:
                    continue
                if to is not None and at not in above:
                    found[at] = Link(at, to)
                else:
                    found[at] = Bind(at, bind.source / name, beside=at not in above)
    return list(found.values())


def _bound_above(path: Path, found: Mapping[Path, Place]) -> Bind | None:
    for folder in reversed(path.parents):
        if isinstance(place := found.get(folder), Bind):
            return place
    return None


def _entries(bind: Bind) -> Iterator[tuple[str, str | None]]:
    """Yield the names in the folder, with the target of each link."""
    with os.scandir(bind.source) as entries:
        for each in entries:
            try:
                yield each.name, os.readlink(each.path) if each.is_symlink() else None  # noqa: PTH115 - as it is written
            except FileNotFoundError:
                continue  # removed since the folder was listed
