"""Whether an event is valid OCSF, by the compiled schema (`ocsf_schema/`). Shares nothing with what writes the events.

Rules kept here:
1. What the schema does not know is an error: an attribute, a value of an enum, a profile, a class.
2. An attribute of a profile is known only in an event that declares the profile.
3. Stricter than the schema: no null, no deprecated attribute, and whatever is `Other` says what it is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

SCHEMA: Final = Path(__file__).parent / "ocsf_schema" / "schema.json"
LONG: Final = 2**63
OTHER: Final = "Other"
"""What the schema calls what it has no word for."""
Json = Mapping[str, Any]
_KINDS: Final = {"string_t": str, "integer_t": int, "long_t": int, "boolean_t": bool, "float_t": float}


@cache
def schema() -> Json:
    read: Json = json.loads(SCHEMA.read_text())
    return read


def problems(event: object) -> list[str]:
    """Everything that is wrong with an event; nothing where it is valid."""
    if not isinstance(event, dict):
        return ["an event is an object"]
    classes = {each["uid"]: each for each in schema()["classes"].values()}
    uid = event.get("class_uid")
    if type(uid) is not int or uid not in classes:
        return [f"class_uid: {uid!r} is no class"]
    return [*_of_event(event, classes[uid])]


def _of_event(event: Json, class_: Json) -> Iterator[str]:
    metadata = event.get("metadata")
    profiles = metadata.get("profiles", []) if isinstance(metadata, dict) else []
    profiles = [each for each in profiles if isinstance(each, str)] if isinstance(profiles, list) else []
    yield from (
        f"metadata.profiles: {each!r} is none of the class" for each in profiles if each not in class_["profiles"]
    )
    yield from _of_thing(event, class_, frozenset(profiles), "")
    if isinstance(metadata, dict) and metadata.get("version") != schema()["about"]["version"]:
        yield "metadata.version: not the version of the schema"
    activity = event.get("activity_id")
    if type(activity) is int and event.get("type_uid") != class_["uid"] * 100 + activity:
        yield "type_uid: is not class_uid * 100 + activity_id"
    if event.get("category_uid") != class_["category_uid"]:
        yield "category_uid: is not the category of the class"


def _of_thing(value: Json, thing: Json, profiles: frozenset[str], path: str) -> Iterator[str]:
    """Of an event, or of an object in it."""
    known = {name: each for name, each in thing["attributes"].items() if _is_known(each, profiles)}
    yield from (f"{path}{name}: unknown" for name in value if name not in known)
    for name, attribute in known.items():
        if name not in value:
            if attribute["requirement"] == "required":
                yield f"{path}{name}: required"
            continue
        yield from _of_attribute(value[name], attribute, profiles, f"{path}{name}")
        yield from _sibling(value, name, attribute, path)
    constraints = thing.get("constraints", {})
    if (some := constraints.get("at_least_one")) and not any(name in value for name in some):
        yield f"{path}: at least one of {', '.join(some)}"
    if (one := constraints.get("just_one")) and sum(name in value for name in one) != 1:
        yield f"{path}: just one of {', '.join(one)}"


def _is_known(attribute: Json, profiles: frozenset[str]) -> bool:
    return not attribute.get("profiles") or bool(profiles & set(attribute["profiles"]))


def _of_attribute(value: object, attribute: Json, profiles: frozenset[str], path: str) -> Iterator[str]:
    if "@deprecated" in attribute:
        yield f"{path}: deprecated"
    if not attribute.get("is_array"):
        yield from _of_value(value, attribute, profiles, path)
    elif not isinstance(value, list):
        yield f"{path}: not an array"
    else:
        for number, each in enumerate(value):
            yield from _of_value(each, attribute, profiles, f"{path}[{number}]")


def _of_value(value: object, attribute: Json, profiles: frozenset[str], path: str) -> Iterator[str]:
    if attribute["type"] == "json_t":
        if value is None:
            yield f"{path}: not a json_t"
        return
    if attribute["type"] == "object_t":
        yield from _of_object(value, attribute["object_type"], profiles, path)
        return
    wrong = [*_of_type(value, attribute["type"], path)]
    yield from wrong
    if not wrong and "enum" in attribute and str(value) not in attribute["enum"]:
        yield f"{path}: {value!r} is none of the enum"


def _of_object(value: object, type_: str, profiles: frozenset[str], path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: not an object"
    elif type_ != "object":  # which is any object
        yield from _of_thing(value, schema()["objects"][type_], profiles, path + ".")


def _of_type(value: object, type_: str, path: str) -> Iterator[str]:
    """The named type, then what it is made of."""
    known = schema()["types"][type_]
    base = known.get("type", type_)
    if type(value) is not _KINDS[base] and not (base == "float_t" and type(value) is int):
        yield f"{path}: not a {type_}"
        return
    if isinstance(value, int) and not -LONG <= value < LONG:
        yield f"{path}: more than 64 bits"
    if "range" in known and isinstance(value, int) and not known["range"][0] <= value <= known["range"][1]:
        yield f"{path}: outside the range of {type_}"
    if isinstance(value, str):
        if len(value) > known.get("max_len", len(value)):
            yield f"{path}: longer than a {type_}"
        if "regex" in known and not re.search(known["regex"], value):
            yield f"{path}: not of the form of a {type_}"
    if base != type_:
        yield from _of_type(value, base, path)


def _sibling(value: Json, name: str, attribute: Json, path: str) -> Iterator[str]:
    """The word beside a number: the caption of the enum, or what it is that the enum has no word for."""
    sibling, id_ = attribute.get("sibling"), str(value[name])
    captions = attribute.get("enum", {})
    if sibling is None or id_ not in captions:
        return
    caption, word = captions[id_]["caption"], value.get(sibling)
    if caption == OTHER:
        if word is None or word == caption:
            yield f"{path}{sibling}: {name} is Other, and this does not say what"
    elif word is not None and word != caption:
        yield f"{path}{sibling}: is not {caption!r}, as {name} says"
