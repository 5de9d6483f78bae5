"""The settings as a page shows them: by group, with their sentences, and which ones are changed."""

from dataclasses import dataclass
from pathlib import Path

from mcpguard.domain.json import SettingValue
from mcpguard.settings.fields import Leaf, groups, leaves, public_values
from mcpguard.settings.model import Settings


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting and its value in force. `chosen` tells whether it differs from the default."""

    leaf: Leaf
    value: SettingValue
    chosen: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A group by its name, empty for settings without a group."""

    name: str
    about: str
    rows: tuple[ShownSetting, ...]

    @property
    def chosen_count(self) -> int:
        """Return how many settings differ from their defaults."""
        return sum(row.chosen for row in self.rows)


def sections(settings: Settings, *, full: bool) -> list[Section]:
    """Return all groups. Paths of the guard's files are shown to readers with `full` rights."""
    values, known = public_values(settings), leaves(Settings)
    about = {"": "", **{key: field.description or "" for key, field in groups(Settings).items()}}

    def shown(leaf: Leaf) -> ShownSetting:
        value = values[leaf.key]
        names_files = leaf.default_words is not None or leaf.key == "upstreams.secret_folders"
        told = value if full or not names_files or not value else "set"
        return ShownSetting(leaf, told, _chosen(leaf, value))

    def rows(group: str) -> tuple[ShownSetting, ...]:
        return tuple(shown(leaf) for key, leaf in known.items() if key.rpartition(".")[0] == group)

    return [Section(group, text, rows(group)) for group, text in about.items()]


def _chosen(leaf: Leaf, value: SettingValue) -> bool:
    if leaf.default_words is not None:
        return False
    usual = leaf.field.default
    return bool(value != ([*usual] if isinstance(usual, tuple) else str(usual) if isinstance(usual, Path) else usual))
