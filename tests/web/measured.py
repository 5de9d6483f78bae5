"""The metrics of a guard, as Prometheus reads them."""

from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from mcpguard.domain.people import Role
from tests.gate import Gate
from tests.people import BY, bears
from tests.world import World

OPEN = "application/openmetrics-text"
PARSERS: dict[str, Callable[[str], Iterable[Family]]] = {
    "text/plain": text_string_to_metric_families,
    OPEN: openmetrics.text_string_to_metric_families,  # refuses whatever the standard does not allow
}
Sample = tuple[str, frozenset[tuple[str, str]]]


class Measured:
    """What Prometheus reads there, and how it has changed."""

    def __init__(self, guard: Gate, token: str) -> None:
        self._guard = guard
        self._token = token
        self.before: dict[Sample, float] = {}

    async def read(self, accept: str = "text/plain") -> dict[Sample, float]:
        headers = {**bears(self._token), "accept": accept}
        answer = await self._guard.http.get(self._guard.where.url + "/metrics", headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith(accept)
        return samples(answer.text, accept)

    async def moved(self, name: str) -> dict[frozenset[tuple[str, str]], float]:
        """What was counted under this name since it was asked last."""
        now = await self.read()
        before, self.before = self.before, now
        changes = {
            labels: value - before.get((each, labels), 0) for (each, labels), value in now.items() if each == name
        }
        return {labels: change for labels, change in changes.items() if change}


def samples(text: str, kind: str) -> dict[Sample, float]:
    found: dict[Sample, float] = {}
    for family in PARSERS[kind](text):
        for sample in family.samples:
            key = (sample.name, frozenset(sample.labels.items()))
            assert key not in found, f"{key} is there twice"
            found[key] = sample.value
    return found


async def measured(guard: Gate) -> Measured:
    """Read by a program with the least role that there is."""
    _, token = await guard.now.guard.operators.add("prometheus", Role.VIEWER, None, BY)
    found = Measured(guard, token)
    await found.moved("")
    return found


def labels(**given: Any) -> frozenset[tuple[str, str]]:  # noqa: ANN401 - words
    return frozenset(given.items())


async def metric(guard: World, name: str) -> float:
    """What a metric is, over all its labels, for a reader that is made for the question."""
    _, token = await guard.now.guard.operators.add(f"reads-{guard.new_id()[-4:]}", Role.VIEWER, None, BY)
    answer = await guard.network.get("/metrics", headers=bears(token))
    return sum(value for (each, _), value in samples(answer.text, "text/plain").items() if each == name)
