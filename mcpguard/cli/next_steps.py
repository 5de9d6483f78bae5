"""`mcpguard` without a command: tells what to do next, from what is there and what waits for somebody."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import typer

from mcpguard.cli.shared.data_folder import data_directory
from mcpguard.cli.shared.guard_client import API, USERS, GuardClient
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.text.visible import visible

_CALLS: Final = f"{API}/records?q=kind%3Aopened&limit=1&order=newest"


class NextStep(NamedTuple):
    """A command, and why it is the next one."""

    command: str
    why: str


BEGIN: Final = (
    NextStep("mcpguard serve", "Start the guard. It prints a link that makes you its first admin."),
    NextStep("mcpguard serve --demo", "The same, with two small servers to try it with; then mcpguard tour."),
    NextStep("mcpguard import", "With the guard running: add the servers that agents here use, in quarantine."),
    NextStep("mcpguard connect", "With the guard running: have Claude Code, Cursor and others use it."),
)
"""For somebody who has never started a guard here."""
START: Final = (
    NextStep("mcpguard serve", "Start the guard."),
    NextStep("mcpguard doctor", "If it does not start: find out why."),
)
"""For somebody whose guard does not run now."""
BRING: Final = (
    NextStep("mcpguard import", "Add the servers that agents here reach directly, in quarantine."),
    NextStep("mcpguard server add NAME -- COMMAND", "Add a server by hand."),
)
"""For a guard without servers."""
LOOK: Final = (
    NextStep("mcpguard status", "Show how the guard is."),
    NextStep("mcpguard audit list", "Show the newest records of the audit log."),
)
"""Where nothing waits."""


def show_next_steps() -> None:
    """Tell what to do next."""
    folder = data_directory(None, None)
    guard = GuardClient(folder)
    if guard.is_running():
        status = guard.get(f"{API}/status")
        has_users, has_calls = _has(guard, USERS, "users"), _has(guard, _CALLS, "records")
        state = f"The guard runs, with {_counted(len(status['servers']), 'server')}. Console: {status['console']}/"
        steps = [*next_steps(status, has_users=has_users, has_calls=has_calls)]
    elif folder.exists() and any(folder.iterdir()):
        state, steps = f"No guard runs now. Its data is in {folder}.", [*START]
    else:
        state, steps = "No guard runs, and none has run here yet.", [*BEGIN]
    _print(state, steps)


def next_steps(status: Any, *, has_users: bool, has_calls: bool) -> Iterator[NextStep]:  # noqa: ANN401 - JSON of our own
    """Yield what to do about a guard that runs, the most urgent first. `status`: as the API has it."""
    if not status["ready"]["ready"]:
        yield NextStep("mcpguard doctor", "No calls can be taken: the audit log cannot be written.")
    if not has_users:
        yield NextStep("mcpguard user setup-link", "Create the first admin, who approves servers in the console.")
    waiting = [*_waiting(status)]
    yield from waiting
    if not status["servers"]:
        yield from BRING
    approved = any(each["standing"] == UpstreamStanding.APPROVED for each in status["servers"])
    if approved and not has_calls:
        yield NextStep("mcpguard connect", "No agent has called a tool yet. Have Claude Code and others use it.")
    elif approved and not waiting:
        yield from LOOK


def _waiting(status: Any) -> Iterator[NextStep]:  # noqa: ANN401 - JSON of our own
    """Yield what waits for a person."""
    if status["held"]:
        yield NextStep("mcpguard held list", f"{_counted(status['held'], 'held call')} to answer.")
    if status["unconfirmed"]:
        yield NextStep("mcpguard config confirm", "Settings that loosen protection wait to be confirmed.")
    new = [each["name"] for each in status["servers"] if each["standing"] == UpstreamStanding.QUARANTINED]
    if new:
        yield NextStep(f"mcpguard server show {new[0]}", f"{_counted(len(new), 'server')} in quarantine, to review.")
    changed = [each for each in status["servers"] if each["standing"] == UpstreamStanding.APPROVED and each["waiting"]]
    if changed:
        number = _counted(sum(each["waiting"] for each in changed), "new or changed tool")
        yield NextStep(f"mcpguard server show {changed[0]['name']}", f"{number} of approved servers, to review.")


def _has(guard: GuardClient, path: str, key: str) -> bool:
    """Tell whether a list has anything; yes where that cannot be told."""
    answer = guard.get_or_none(path)
    return answer is None or bool(answer[key])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _print(state: str, steps: Sequence[NextStep]) -> None:
    typer.echo(visible(state))
    if steps:
        typer.echo("\nNext:")
    width = max((len(step.command) for step in steps), default=0)
    for step in steps:
        typer.echo(visible(f"  {step.command:<{width}}  {step.why}"))
    typer.echo("\nAll commands: mcpguard --help")
