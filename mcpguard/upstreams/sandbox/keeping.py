"""What of a program a sandbox shows as it was read, whatever lies at its path outside.

Rules kept here:
1. What is put over a path in somebody's folder is there only as long as they leave that name alone: the kernel takes it
   away once the name is given to another file. So where others may do that, the folders from what is mounted down to
   the file are the sandbox's own, made anew for each start, and whatever else lies in them is put into them one by one.
2. That is done where nothing but the places that the sandbox shows can be seen. Whoever turns one of those names into a
   link meanwhile shows nothing that could not be seen anyway.
3. Mounting takes the kernel the longer the more there is. Where too much lies in those folders, it is refused.
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
    """What lay at a path outside when it was read: the bytes of a file, or where a link leads.

    `exposed`: what others can change so that something else lies there; empty where they cannot.
    """

    path: Path
    said: bytes | str = field(repr=False)
    exposed: str = ""


def seen_as_kept(kept: Iterable[KeptPath], places: Iterable[Place]) -> Iterator[tuple[KeptPath, Place]]:
    """Wherever one of these would be seen, as it is to be seen there."""
    binds = [(place.at, place.source.resolve()) for place in places if isinstance(place, Bind)]
    for each in kept:
        for at, source in binds:
            if isinstance(each.said, bytes) and each.path.is_relative_to(source):
                yield each, Copy(at / each.path.relative_to(source), each.said)
            elif isinstance(each.said, str) and source in each.path.parents:
                yield each, Link(at / each.path.relative_to(source), each.said)


def opened(places: Collection[Place], kept: Mapping[Path, str]) -> list[Place]:
    """The same without a bound folder above any of the paths that are `kept`: what lies in it is there one by one.

    `kept` says of each path what others can change. Raises NotConfined.
    """
    found = {place.at: place for place in places}
    above = {folder for path in kept for folder in path.parents}
    left = MOST_ENTRIES
    for path, exposed in kept.items():
        while (bind := _bound_above(path, found)) is not None:
            del found[bind.at]
            if bind.writable:
                raise NotConfined(f"its program {path} lies in {bind.at}, where it may write itself")
            for name, to in _entries(bind):
                if not (left := left - 1):
                    raise NotConfined(
                        f"its program {path} cannot be kept as it was looked at: {exposed}, and more than "
                        f"{MOST_ENTRIES} entries lie in {bind.at} and the folders above"
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
    """The names in the folder, of links with where they lead."""
    with os.scandir(bind.source) as entries:
        for each in entries:
            try:
                yield each.name, os.readlink(each.path) if each.is_symlink() else None  # noqa: PTH115 - as it is written
            except FileNotFoundError:
                continue  # it was there a moment ago
