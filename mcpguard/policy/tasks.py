"""Recognises tools that can only be called as a task, which mcpguard does not support."""

from collections.abc import Mapping
from typing import Final

from mcpguard.domain.servers.listings import Definition

REQUIRED: Final = "required"


def needs_tasks(definition: Definition) -> bool:
    """Tell whether the definition of a tool says that it can only be called as a task."""
    execution = definition.get("execution")
    return isinstance(execution, Mapping) and execution.get("taskSupport") == REQUIRED
