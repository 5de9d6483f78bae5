"""How much of a failure a commit must survive."""

from enum import IntEnum


class Durability(IntEnum):
    """Ordered: a batch gets the highest that any of its jobs asks for."""

    COMMITTED = 0
    """Survives the end of our process, however it ends. A power failure may lose the newest."""

    SYNCED = 1
    """Has reached the disk before anyone is told."""
