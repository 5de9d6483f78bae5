"""Passes secrets to a process through unnamed files, which only that process inherits open.

Every account of the host can read a command line, so a secret must never be one of its words.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SecretArgument:
    """Stands for an argument, which becomes the number of a descriptor from which the content can be read."""

    content: bytes = field(repr=False)


Word = str | SecretArgument


@contextmanager
def open_arguments(words: Sequence[Word]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Yield the command as the program gets it and the descriptors to pass on, which are closed after the block."""
    with ExitStack() as stack:
        given, descriptors = list[str](), list[int]()
        for word in words:
            if isinstance(word, SecretArgument):
                descriptor = _readable(word.content)
                stack.callback(os.close, descriptor)
                descriptors.append(descriptor)
                given.append(str(descriptor))
            else:
                given.append(word)
        yield given, tuple(descriptors)


def _readable(content: bytes) -> int:
    if sys.platform != "linux":
        raise OSError("files without a name exist on Linux only")
    # In memory and without a name: a temporary file could be found by others, and would stay after a crash.
    descriptor = os.memfd_create("handed")
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    # The position is shared with the child, which would otherwise start reading at the end.
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
