"""The types of a JSON object of which only the member names are known, and of a setting's value."""

from typing import Any

Json = dict[str, Any]
SettingValue = str | int | float | bool | list[str] | None
"""The value of a setting in JSON."""
