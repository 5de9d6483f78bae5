"""Tools that can be called in no other way than as a task, which the guard does not carry."""

from collections.abc import Mapping
from typing import Final

from mcpguard.domain.servers.listings import Definition

REQUIRED: Final = "required"


def needs_tasks(definition: Definition) -> bool:
    """Whether the server says of a tool that it can only be called as a task."""
    execution = definition.get("execution")
    return isinstance(execution, Mapping) and execution.get("taskSupport") == REQUIRED
