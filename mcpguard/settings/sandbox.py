"""How much a confined server may use. More than was confirmed has to be confirmed, as with all that carries trust."""

from typing import Annotated, Final

from pydantic import Field

from mcpguard.settings.fields import Restart
from mcpguard.settings.group import Group
from mcpguard.settings.trust import at_most

MIB: Final = 1024 * 1024


class SandboxSettings(Group):
    """How much a server that runs confined may use, with all that it starts."""

    processes: Annotated[int, Field(ge=8, le=65_536), at_most(8), Restart] = 256
    """Most processes and threads."""

    memory_bytes: Annotated[int, Field(ge=16 * MIB, le=1024 * 1024 * MIB), at_most(16 * MIB), Restart] = 1024 * MIB
    """Most memory in bytes, of each process and of all of them together; what takes more is killed."""

    scratch_bytes: Annotated[int, Field(ge=MIB, le=1024 * 1024 * MIB), at_most(MIB), Restart] = 64 * MIB
    """Most bytes in its home and `/tmp`, which are in memory and empty at each start."""

    file_bytes: Annotated[int, Field(ge=MIB, le=1024 * 1024 * MIB), at_most(MIB), Restart] = 256 * MIB
    """Largest file in bytes that it may write."""

    open_files: Annotated[int, Field(ge=32, le=1_048_576), at_most(32), Restart] = 1024
    """Most files that each process may have open."""
