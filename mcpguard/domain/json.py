"""A JSON object as it is read and written, where only its own names are known."""

from typing import Any

Json = dict[str, Any]
SettingValue = str | int | float | bool | list[str] | None
"""The value of a setting in JSON."""
