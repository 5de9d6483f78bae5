"""A layer: what one place (command line, environment, file) says about the settings, and what is wrong with it.

A layer holds values as they were written; whether they are in range is asked once, of the merged whole (`load`).
Secrets are wrapped the moment they are taken in, so that no representation of a layer can show one.
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
    """The form of the configuration file, as far as it is ours. Built from layers only, never from `os.environ`."""

    mcpguard: Settings


class SettingsLayer(PydanticBaseSettingsSource):
    """One place's say."""

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
        return {"mcpguard": nested(self.values)}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Part of the base class's protocol; a layer hands over everything at once."""
        raise NotImplementedError(field_name)

    def __repr__(self) -> str:
        return f"{self.__name__}({', '.join(self.values)})"


def nested(values: Mapping[str, object]) -> dict[str, Any]:
    """Turn dotted keys into nested objects."""
    root: dict[str, Any] = {}
    for key, value in values.items():
        *path, name = key.split(".")
        inner = root
        for part in path:
            inner = inner.setdefault(part, {})
        inner[name] = value
    return root
