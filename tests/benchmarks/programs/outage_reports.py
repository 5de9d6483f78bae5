"""The data of a task: weekly reports of an operations team, and a graph of who owns which service.

The task is how many minutes of outage each team's services had. The same number of weeks gives the same data.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from mcpguard.codec.messages import dumps

OWNED_BY: Final = "owned_by"
TASK: Final = (
    "Each week's report in {folder} lists the outages of our services. Sum up the minutes of outage of each team, over "
    "all reports; the knowledge graph knows which team owns a service. Answer with a JSON object: team to minutes."
)
_TEAMS: Final = {
    "payments": ("checkout", "billing", "ledger-sync"),
    "identity": ("login", "sessions", "audit-feed"),
    "catalogue": ("search", "pricing", "stock"),
    "delivery": ("labels", "tracking", "returns"),
}
_CAUSES: Final = (
    "the connection pool was used up after the database failed over",
    "a certificate had expired on one of the two balancers",
    "a new index was built while traffic was high",
    "the cache was emptied by a deployment, and every request went to the database",
    "a disk of the message broker was full",
    "a partner's interface answered with errors, which were retried without a pause",
)
_NOTICED: Final = ("by the synthetic check", "by customers", "by the on-call engineer", "by an alert on error rates")
_SAID: Final = (
    "The handover on Monday had no open points.",
    "Two people were away, so that the rota was changed for Wednesday night.",
    "Alerts about slow queries were frequent, but none of them woke anybody up.",
    "The restore test of the backups went through within two hours.",
    "We agreed to look at the retries of the importers next week.",
    "The number of tickets was lower than in the week before.",
)
_PLANNED: Final = (
    "{service}: maintenance of {minutes} min at night, announced, without an outage",
    "{service}: new version, rolled back within {minutes} min, not visible to customers",
    "{service}: certificates renewed",
    "{service}: limits for memory raised after last week's review",
)


@dataclass(frozen=True, slots=True)
class OutageReports:
    """The reports by file name, the graph as the server for memory keeps it, and the answer to the task."""

    texts: Mapping[str, str]
    graph: str
    minutes: Mapping[str, int]


def write_reports(weeks: int) -> OutageReports:
    """Make up so many weeks."""
    chosen = random.Random(weeks)  # noqa: S311 - the same data in every run
    owners = {service: team for team, services in _TEAMS.items() for service in services}
    minutes, texts = dict.fromkeys(_TEAMS, 0), {}
    for number in range(weeks):
        monday = date(2026, 1, 5) + timedelta(weeks=number)
        outages = [(chosen.choice([*owners]), chosen.randint(3, 95)) for _ in range(chosen.randint(4, 8))]
        for service, lasted in outages:
            minutes[owners[service]] += lasted
        texts[f"{monday:%G-W%V}.md"] = "\n".join(_report(monday, outages, chosen)) + "\n"
    return OutageReports(texts, "\n".join(_graph()) + "\n", minutes)


def _report(monday: date, outages: list[tuple[str, int]], chosen: random.Random) -> Iterator[str]:
    yield f"# Operations, week {monday:%G-W%V}"
    yield ""
    yield " ".join(chosen.sample(_SAID, 4))
    yield ""
    yield "## Outages"
    yield ""
    for service, lasted in outages:
        day = monday + timedelta(days=chosen.randrange(7))
        at = f"{day} {chosen.randrange(24):02}:{chosen.randrange(60):02}"
        yield f"- {at} {service}: {lasted} min. Cause: {chosen.choice(_CAUSES)}. Noticed {chosen.choice(_NOTICED)}."
    yield ""
    yield "## Changes"
    yield ""
    for planned in chosen.sample(_PLANNED, 3):
        services = [service for some in _TEAMS.values() for service in some]
        yield "- " + planned.format(service=chosen.choice(services), minutes=chosen.randint(5, 90))


def _graph() -> Iterator[str]:
    """One entity or relation a line."""
    for team, services in _TEAMS.items():
        yield _line(type="entity", name=team, entityType="team", observations=[f"reached at #team-{team}"])
        for number, service in enumerate(services):
            seen = [f"tier {number + 1}", f"runbook: runbooks/{service}.md"]
            yield _line(type="entity", name=service, entityType="service", observations=seen)
    for team, services in _TEAMS.items():
        for service in services:
            yield _line(**{"type": "relation", "from": service, "to": team, "relationType": OWNED_BY})
        others = [each for some in _TEAMS.values() for each in some if each not in services]
        for used in others[:: len(services)]:
            yield _line(**{"type": "relation", "from": services[0], "to": used, "relationType": "depends_on"})


def _line(**said: object) -> str:
    return dumps(said).decode()
