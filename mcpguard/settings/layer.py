"""A layer: the settings from one source (command line, environment or file), and the problems found in them.

A layer has the values as they were written; their ranges are checked once, after merging (`load`). Secrets are wrapped
as soon as they are read, so that no representation of a layer shows one.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from mcpguard.settings.fields import leaves
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingOrigin

LEAVES = leaves(Settings)


class Root(BaseSettings):
    """The settings part of the configuration file. Built from layers only, never from `os.environ`."""

    mcpguard: Settings


class SettingsLayer(PydanticBaseSettingsSource):
    """The settings from one source."""

    def __init__(self, name: str) -> None:
        super().__init__(Root)
        self.__name__ = name  # pydantic-settings tells sources apart by it
        self.values: dict[str, object] = {}
        self.origins: dict[str, SettingOrigin] = {}
        self.problems: list[str] = []

    def put(self, key: str, value: object, origin: SettingOrigin) -> None:
        leaf = LEAVES[key]
        self.values[key] = SecretStr(value) if leaf.secret and isinstance(value, str) else value
        self.origins[key] = origin

    def __call__(self) -> dict[str, Any]:
        return {"mcpguard": nest_keys(self.values)}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Required by the base class, and never called: a layer returns all values at once."""
        raise NotImplementedError(field_name)

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(self.values)})"


def nest_keys(values: Mapping[str, object]) -> dict[str, Any]:
    """Turn dotted keys into nested dictionaries."""
    root: dict[str, Any] = {}
    for key, value in values.items():
        *path, name = key.split(".")
        inner = root
        for part in path:
            inner = inner.setdefault(part, {})
        inner[name] = value
    return root
