"""What became dearer than the figures that are kept, and cheaper, in plain words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan

from tests.benchmarks.quick.figures import Figure
from tests.benchmarks.report import Row


@dataclass(frozen=True, slots=True)
class Change:
    """A figure beside the one that is kept. `allowed`: the share by which it may grow."""

    figure: Figure
    kept: float
    allowed: float

    @property
    def growth(self) -> float:
        return self.figure.value / self.kept - 1

    @property
    def is_dearer(self) -> bool:
        return self.growth > self.allowed

    @property
    def is_cheaper(self) -> bool:
        """Tells whether it would be dearer the other way round."""
        return self.kept / self.figure.value - 1 > self.allowed

    def sentence(self) -> str:
        value = f"{self.figure.value:.3g}, kept {self.kept:.3g} ({self.growth:+.0%}, allowed {self.allowed:+.0%})"
        return f"  {self.figure.name}: {value}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """All figures of a run beside those that are kept. `unknown` are not kept, `missing` were not measured."""

    changes: Sequence[Change]
    unknown: Sequence[Figure]
    missing: Sequence[str]

    @property
    def dearer(self) -> list[Change]:
        return [change for change in self.changes if change.is_dearer]

    @property
    def fails(self) -> bool:
        """Tells whether anything became dearer, or could not be compared because it was not measured."""
        return bool(self.dearer or self.missing)

    def rows(self) -> Iterator[Row]:
        for change in self.changes:
            growth, allowed = (round(share * 100) for share in (change.growth, change.allowed))
            yield _row(change.figure, change.kept, growth, allowed)
        for figure in self.unknown:
            yield _row(figure, nan, nan, nan)

    def words(self) -> Iterator[str]:
        if self.dearer:
            yield f"{len(self.dearer)} of {len(self.changes)} figures became dearer by more than is allowed:"
            yield from (change.sentence() for change in self.dearer)
        elif self.changes:
            yield f"Nothing became dearer by more than is allowed; {len(self.changes)} figures were compared."
        else:
            yield "Nothing was compared."
        if cheaper := [change for change in self.changes if change.is_cheaper]:
            yield "Cheaper than the figures that are kept (if the change that was made is why, keep the new ones):"
            yield from (change.sentence() for change in cheaper)
        if self.unknown:
            yield f"Not kept yet: {', '.join(figure.name for figure in self.unknown)}."
        if self.missing:
            yield f"Kept, but not measured: {', '.join(self.missing)}."


def _row(figure: Figure, kept: float, growth: float, allowed: float) -> Row:
    return Row({"figure": figure.name}, {"kept": kept, "now": figure.value, "change_%": growth, "allowed_%": allowed})


def compare(figures: Sequence[Figure], kept: Mapping[str, float], tolerance: float) -> Comparison:
    """Lay figures beside those that are kept. `tolerance` is the share by which processor time may grow."""
    changes = [
        Change(figure, kept[figure.name], tolerance * figure.leeway) for figure in figures if figure.name in kept
    ]
    unknown = [figure for figure in figures if figure.name not in kept]
    measured = {figure.name for figure in figures}
    return Comparison(changes, unknown, [name for name in kept if name not in measured])
