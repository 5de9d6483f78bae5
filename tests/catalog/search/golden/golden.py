"""The golden set: `tools.jsonl`, and `queries.jsonl` with what each query is for and of which kind it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and the tools that are right."""

    text: str
    kind: str
    relevant: frozenset[str]


@cache
def servers() -> Mapping[str, list[Mapping[str, Any]]]:
    """The tools of each server."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for line in (FOLDER / "tools.jsonl").read_bytes().splitlines():
        tool = orjson.loads(line)
        found.setdefault(tool["server"], []).append(tool)
    return found


@cache
def queries() -> list[Query]:
    lines = map(orjson.loads, (FOLDER / "queries.jsonl").read_bytes().splitlines())
    return [Query(line["query"], line["kind"], frozenset(line["relevant"])) for line in lines]
