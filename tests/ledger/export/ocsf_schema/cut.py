"""Makes `schema.json` anew from the whole compiled schema: `python cut.py 1.8.0.json`. See README.md.

Rules kept here:
1. What is kept is as it was: attributes, types, requirements, enums, siblings, constraints.
2. What is left out validates nothing: descriptions, references, and what belongs to profiles that we do not use.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

CLASSES: Final = (
    "api_activity",
    "application_lifecycle",
    "authentication",
    "base_event",
    "detection_finding",
    "entity_management",
    "event_log_actvity",  # spelt so in the schema
)
PROFILES: Final = frozenset({"ai_operation", "security_control", "trace"})
LEFT_OUT: Final = frozenset(
    {"annotations", "associations", "description", "group", "observable", "references", "source"}
)
Json = Mapping[str, Any]


def cut(whole: Json) -> dict[str, dict[str, Any]]:
    """Our classes, every object that these can hold, and the types of values."""
    classes = {name: _part(whole["classes"][name]) for name in CLASSES}
    objects: dict[str, Any] = {}
    wanted = _held(classes.values())
    while wanted:
        name = wanted.pop()
        objects[name] = _part(whole["objects"][name])
        wanted |= _held([objects[name]]) - objects.keys()
    types = {name: _plain(each) for name, each in whole["dictionary"]["types"]["attributes"].items()}
    return {"classes": classes, "objects": objects, "types": types, "about": {"version": whole["version"]}}


def _part(thing: Json) -> dict[str, Any]:
    ours = {name: each for name, each in thing["attributes"].items() if _is_ours(each)}
    return {**_plain(thing), "attributes": {name: _plain(each) for name, each in ours.items()}}


def _is_ours(attribute: Json) -> bool:
    """Attributes of no profile are always there."""
    return not attribute.get("profiles") or bool(PROFILES & set(attribute["profiles"]))


def _held(things: Any) -> set[str]:  # noqa: ANN401 - JSON
    return {each["object_type"] for thing in things for each in thing["attributes"].values() if "object_type" in each}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    match value:
        case dict():
            kept = {key: each for key, each in value.items() if key not in LEFT_OUT or not isinstance(each, str | list)}
            return {key: _plain(each) for key, each in kept.items() if key != "attributes"}
        case list():
            return [_plain(each) for each in value]
        case _:
            return value


def written(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for each class, object and type, so that versions can be compared."""
    blocks = []
    for part in sorted(parts):
        lines = [f"  {json.dumps(name)}: {_line(parts[part][name])}" for name in sorted(parts[part])]
        blocks.append(f" {json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _line(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


if __name__ == "__main__":
    here = Path(__file__).parent
    (here / "schema.json").write_text(written(cut(json.loads(Path(sys.argv[1]).read_text()))))
