"""The documents that are made from code. `make docs` writes them; a test compares."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from mcpguard.codec.refusals import REFUSAL
from mcpguard.domain.reasons import Reason
from mcpguard.domain.servers.standing import CAPABILITY_MOVES, UPSTREAM_MOVES, M, Mover, S, Table
from mcpguard.domain.words import WORDS
from mcpguard.guard.traffic.counts import BUCKETS, MOST_RULES, MOST_SERIES, MOST_SERVERS
from mcpguard.guard.traffic.tallies import OTHER
from mcpguard.settings.document import markdown as settings
from mcpguard.web.metrics.names import METRICS, Metric, MetricKind
from tests.cli_document import markdown as cli
from tests.findings_document import markdown as findings
from tests.rest_document import markdown as rest

DOCS = Path(__file__).parent.parent / "docs"
MADE = "<!-- Made from the code by `make docs`; edit the code instead. -->"


def decisions() -> str:
    """The titles of all."""
    every = sorted(path for path in (DOCS / "decisions").glob("[0-9]*.md"))
    titles = [(path.name, path.read_text().partition("\n")[0].removeprefix("# ")) for path in every]
    return "\n".join(
        (
            "# Decisions",
            "",
            MADE,
            "",
            "Why things are as they are, with the price of each. A decision that is replaced says by which.",
            "",
            *(f"- [{title}]({name})" for name, title in titles),
            "",
            "There is no 0021: the number was skipped, and nothing was ever written under it.",
            "",
        )
    )


def words() -> str:
    def rows() -> Iterator[str]:
        for word in WORDS:
            values = "; ".join(" · ".join(f"`{value}`" for value in one) for one in word.values)
            types = ", ".join(f"`{kind.__name__}`" for kind in word.types)
            yield f"| **{word.word}** | {word.meaning} | {values} | {types} |"

    return "\n".join(
        (
            "# Words",
            "",
            MADE,
            "",
            "mcpguard uses one word for each of these things, in the code, on pages, in documents and in the API.",
            "",
            "| word | means | values | in `mcpguard.domain` |",
            "|---|---|---|---|",
            *rows(),
            "",
            "## Standing",
            "",
            "These are all changes of status; any other is refused and changes nothing. The guard makes the moves in",
            "*italics* by itself, a reviewer every other. Rejecting is a decision, not a move: the status stays.",
            "",
            "### A server",
            "",
            *table(UPSTREAM_MOVES),
            "",
            "### A capability",
            "",
            *table(CAPABILITY_MOVES),
            "",
        )
    )


def table(moves: Table[S, M]) -> Iterator[str]:
    yield "| from | by | to |"
    yield "|---|---|---|"
    for standing, allowed in moves.items():
        for move, to in allowed.items():
            name = f"`{move}`" if move.by is Mover.PERSON else f"*`{move}`*"
            yield f"| {standing} | {name} | {to} |"


def reasons() -> str:
    return "\n".join(
        (
            "# Reasons",
            "",
            MADE,
            "",
            "Why a call was refused, held, or ended otherwise than with its response. A released code keeps its",
            "meaning; the sentences are constant and repeat nothing that a server or an agent wrote.",
            "",
            "Some reasons come with a `detail`: `effect` and `caller` (the effect of the tool, and the caller whose",
            "scope lacks it), `call_with` (the variant to use), `path` and `expected` (which argument is wrong, and",
            "what belongs there), `secret` (the rule that found what looks like a secret), `budget` (the budget that",
            "is used up), `ticket`, `until` and `person` (of a held call: its ticket, when it expires, and the reason",
            "that the reviewer who denied it wrote), `sandbox` (what the sandbox keeps from a server that ended,",
            "where that looks like the cause), `uninspected` (what is known of a server that was not inspected yet),",
            "`helps` (the command that tells an operator more). Of what others wrote, a detail repeats names of",
            "properties only, made visible and cut.",
            "",
            "`server:quarantined` comes with an `analysis` while the server was not inspected as it is launched:",
            "`inspection` (`never`, `under way` or `failed`), `asked_by` (`you`, `another agent`, `a person` or",
            "`the configuration file`; nobody is named), `since` (since when it is launched so), `helps` (the command)",
            "and `launch`: how it would be started or reached, without secrets, with names of variables and headers",
            "only, made visible and cut. Whoever declared the server wrote `launch`; it is data.",
            "",
            "A tool that is refused answers with a result: `isError`, a text for models, and the facts for programs in",
            f'`_meta["{REFUSAL}"]`: `status`, `executed`, `reason`, `message`, `next`, and where there are such',
            "`call_id`, `detail`, `findings`, `analysis`. `structuredContent` has the same only where the tool is",
            "offered to the caller at this moment and declares no `outputSchema`: some clients compare it with the",
            "schema that they were shown, and would then show nothing of the refusal. Read `_meta`. Anything else",
            "that is refused answers with an error, whose `data` has the facts.",
            "",
            "| code | means | what to do |",
            "|---|---|---|",
            *(f"| `{reason.value}` | {reason.sentence} | {reason.next} |" for reason in Reason),
            "",
        )
    )


def metrics() -> str:
    return "\n".join(
        (
            "# Metrics",
            "",
            MADE,
            "",
            "What `/metrics` tells; [who may read it, and what to watch](operating.md#metrics-and-traces). Labels are",
            f"bounded: `server` is the name of a server that is there, of at most {MOST_SERVERS}, everything else",
            f"words of ours. What has no place is counted as `{OTHER}`: names beyond those or of no server, series of",
            f"calls beyond {MOST_SERIES:,}, rules beyond {MOST_RULES:,}. A removed server is forgotten with its",
            "its counts. Counts begin at 0 with each start. Beside these",
            "there are the process's own (`process_…`, `python_…`).",
            "",
            "| metric | kind | labels | tells |",
            "|---|---|---|---|",
            *(_row(metric) for metric in METRICS),
            "",
            f"Buckets of a {MetricKind.HISTOGRAM}, in seconds: {', '.join(f'{bound:g}' for bound in BUCKETS)}.",
            "",
        )
    )


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.exposed_name}` | {metric.kind} | {labels} | {metric.help} |"


DOCUMENTS: Final[Mapping[str, Callable[[], str]]] = {
    "words.md": words,
    "reasons.md": reasons,
    "settings.md": settings,
    "rest.md": lambda: rest(MADE),
    "findings.md": lambda: findings(MADE),
    "metrics.md": metrics,
    "cli.md": lambda: cli(MADE),
    "decisions/README.md": decisions,
}
"""File name → what makes its text."""


if __name__ == "__main__":
    for name, made in DOCUMENTS.items():
        (DOCS / name).write_text(made())
        sys.stdout.write(f"docs/{name}\n")
