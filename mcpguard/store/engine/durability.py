"""Durability levels: the failures that a commit must survive."""

from enum import IntEnum


class Durability(IntEnum):
    """Durability of a commit, in ascending order: a batch gets the highest of its jobs."""

    COMMITTED = 0
    """Survives any end of the process. A power failure may lose the newest records."""

    SYNCED = 1
    """Is on the disk before anyone is told."""
