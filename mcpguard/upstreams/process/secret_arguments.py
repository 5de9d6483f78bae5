"""What a process is handed to read: it finds it open, and nobody else does, as it has no name.

A command line can be read by every account of the machine, so what is secret goes to a program this way.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Handed:
    """Stands in the place of an argument, which becomes the number of a descriptor from which this can be read."""

    content: bytes = field(repr=False)


Word = str | Handed


@contextmanager
def opened(words: Sequence[Word]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The command as the program gets it, and the descriptors to pass on. They are closed here when the block ends."""
    with ExitStack() as stack:
        given, descriptors = list[str](), list[int]()
        for word in words:
            if isinstance(word, Handed):
                descriptor = _readable(word.content)
                stack.callback(os.close, descriptor)
                descriptors.append(descriptor)
                given.append(str(descriptor))
            else:
                given.append(word)
        yield given, tuple(descriptors)


def _readable(content: bytes) -> int:
    if sys.platform != "linux":
        raise OSError("only Linux has files without a name")
    descriptor = os.memfd_create("handed")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
