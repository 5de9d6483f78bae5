"""The file of figures that are kept in the repository, to compare with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from tests.benchmarks.quick.figures import Figure

FILE: Final = Path(__file__).with_name("kept.json")


class NothingKept(Exception):
    """There are no figures that can be compared with. Says why in a sentence."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Figures by their names, and the machine and versions with which they were measured."""

    machine: Mapping[str, str | int | float]
    figures: Mapping[str, float]


def keep(figures: Sequence[Figure], machine: Mapping[str, str | int | float], file: Path = FILE) -> None:
    """Put these in the place of those that were kept."""
    rounded = {figure.name: float(f"{figure.value:.4g}") for figure in figures}
    said = orjson.dumps({"machine": machine, "figures": rounded}, option=orjson.OPT_INDENT_2)
    file.write_bytes(said + b"\n")


def read(file: Path = FILE) -> Kept:
    """The figures that were kept. Raises NothingKept."""
    try:
        said = orjson.loads(file.read_bytes())
        figures = {str(name): float(value) for name, value in said["figures"].items()}
        machine = dict(said["machine"])
    except FileNotFoundError:
        raise NothingKept(f"{file} is not there; --keep writes it.") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NothingKept(f"{file} holds no figures ({error!r}); --keep writes it anew.") from None
    if unusable := [name for name, value in figures.items() if value <= 0]:
        raise NothingKept(f"{file} has figures that nothing can be divided by: {', '.join(unusable)}.")
    return Kept(machine, figures)
