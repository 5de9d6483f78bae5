"""The facts about each setting: its key, its environment variable, when a change takes effect.

The models are the only source: everything is read from their annotations, so a setting is loaded, shown and documented
as it is declared. No value of a secret is read here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final, get_args, get_origin

from pydantic import BaseModel, GetJsonSchemaHandler, SecretStr
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from mcpguard.domain.json import SettingValue
from mcpguard.settings.problems import ENV_PREFIX


class Applies(StrEnum):
    """When a changed value takes effect. The `Annotated` of every setting has one."""

    LIVE = "live"
    RESTART = "restart"

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {"x-applies": self.value}


Live: Final = Applies.LIVE
Restart: Final = Applies.RESTART


@dataclass(frozen=True, slots=True)
class TrustMark:
    """Marks a setting that carries trust: a value looser than the one that was confirmed last needs confirmation.

    `agreed`: returns what the confirmed value and another one both allow (`trust`).
    """

    agreed: Callable[[SettingValue, SettingValue], SettingValue]

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {"x-trust": True}


@dataclass(frozen=True, slots=True)
class DefaultIs:
    """Describes a default that differs from host to host or follows from another setting."""

    words: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """One setting."""

    key: str
    field: FieldInfo

    @property
    def env(self) -> str:
        return ENV_PREFIX + self.key.replace(".", "__").upper()

    @property
    def env_file(self) -> str | None:
        """The environment variable that names a file with the value; None unless the setting is a secret."""
        return f"{self.env}_FILE" if self.secret else None

    @property
    def applies(self) -> tuple[Applies, ...]:
        """The `Applies` of the setting; a test ensures that there is exactly one."""
        return tuple(each for each in self.field.metadata if isinstance(each, Applies))

    @property
    def trust(self) -> TrustMark | None:
        return next((each for each in self.field.metadata if isinstance(each, TrustMark)), None)

    @property
    def default_words(self) -> str | None:
        return next((each.words for each in self.field.metadata if isinstance(each, DefaultIs)), None)

    @property
    def secret(self) -> bool:
        annotation = self.field.annotation
        return SecretStr in (annotation, *get_args(annotation))

    @property
    def many(self) -> bool:
        return get_origin(self.field.annotation) is tuple


def walk(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo, type[BaseModel] | None]]:
    """Yield every field in order with its dotted key, and its model if the field is a group."""
    for name, field in model.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseModel):
            yield prefix + name, field, group
            yield from walk(group, f"{prefix}{name}.")
        else:
            yield prefix + name, field, None


@cache
def leaves(model: type[BaseModel]) -> Mapping[str, Leaf]:
    return MappingProxyType({key: Leaf(key, field) for key, field, group in walk(model) if group is None})


@cache
def groups(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    return MappingProxyType({key: field for key, field, group in walk(model) if group is not None})


def public_values(settings: BaseModel) -> dict[str, SettingValue]:
    """Return every setting's value as JSON has it; of a secret only whether it is set."""
    return {key: _public(leaf, attrgetter(key)(settings)) for key, leaf in leaves(type(settings)).items()}


def trust_marks(model: type[BaseModel]) -> Mapping[str, TrustMark]:
    """Return the trust mark of each setting that carries trust."""
    return {key: leaf.trust for key, leaf in leaves(model).items() if leaf.trust is not None}


def _public(leaf: Leaf, value: object) -> SettingValue:
    if leaf.secret:
        return "not set" if value is None else "set"
    match value:
        case Path():
            return str(value)
        case tuple():
            return [str(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise TypeError(f"{leaf.key} holds a {type(value).__name__}, which no setting may")
