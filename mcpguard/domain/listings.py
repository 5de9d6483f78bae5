"""What a server says that it offers, as it said it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Definition = Mapping[str, Any]
"""One tool, resource, template or prompt: the raw object, every key of it."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything that one connection listed, whole."""

    tools: tuple[Definition, ...] = ()
    resources: tuple[Definition, ...] = ()
    templates: tuple[Definition, ...] = ()
    prompts: tuple[Definition, ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)
    instructions: str | None = None
