"""`mcpguard tool ready`: tells whether tools or whole servers can be called now, for cron and CI.

Exit codes: 0 all can be called, 10 retry later, 11 a person has to act first, 12 no such capability. Of several
answers, the worst counts: waiting does not help with an unknown capability, nor a retry with a blocked one.
"""

import sys
import time
from collections.abc import Iterable
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.servers.choices import split_reference
from mcpguard.cli.shared.common import As, Config, DataDir, Output, print_json
from mcpguard.cli.shared.guard_client import GuardAbsent, GuardClient, GuardProblem, print_problem, server_path
from mcpguard.cli.shared.options import Kind
from mcpguard.codec.names import is_server_name, parse_reference
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.domain.errors import InvalidName
from mcpguard.domain.reasons import Reason
from mcpguard.text.visible import visible

EXITS: Final = {"ready": 0, "retry": 10, "blocked": 11, "unknown": 12}
NOT_FOUND: Final = 404
PAUSE: Final = 0.5
"""Seconds between two looks."""
Answer = dict[str, Any]


def _names(given: list[str]) -> list[str]:
    for name in given:
        try:
            if not is_server_name(name):
                parse_reference(name)
        except InvalidName:
            raise typer.BadParameter("give each as SERVER:TOOL or SERVER; mcpguard tool list shows them") from None
    return given


Names = Annotated[
    list[str], typer.Argument(metavar="SERVER:TOOL…", help="Tools, or whole servers as SERVER.", callback=_names)
]
Wait = Annotated[
    float, typer.Option(metavar="SECONDS", min=0, max=86_400, help="How long to try again while the answer is retry.")
]


def ready(
    names: Names,
    kind: Kind = CapabilityKind.TOOL,
    wait: Wait = 0,
    config: Config = None,
    data_dir: DataDir = None,
    output: As = Output.TABLE,
) -> None:
    """Show whether tools can be called now, and if not, why. Exit code 0 ready, 10 retry, 11 blocked, 12 unknown."""
    guard = GuardClient.from_options(config, data_dir)
    answers = waited_for(guard, names, kind, wait)
    if output is Output.JSON:
        print_json(answers)
    else:
        for each in answers:
            _say(each, alone=len(names) == 1)
    raise typer.Exit(max(EXITS[each["answer"]] for each in answers))


def waited_for(guard: GuardClient, names: Iterable[str], kind: CapabilityKind, wait: float) -> list[Answer]:
    """The answers for these names, once none is `retry` or the time is over."""
    deadline = time.monotonic() + wait
    person = sys.stderr.isatty()
    while True:
        answers = [_asked(guard, name, kind) for name in names]
        comes = [each["asked"] for each in answers if each["answer"] == "retry"]
        certain = any(EXITS[each["answer"]] > EXITS["retry"] for each in answers)
        if not comes or certain or time.monotonic() >= deadline:
            if person and wait:
                typer.echo("\r\x1b[K", nl=False, err=True)
            return answers
        if person:
            typer.echo(f"\r\x1b[Kwaiting for {visible(comes[0])} …", nl=False, err=True)
        time.sleep(PAUSE)


def _asked(guard: GuardClient, name: str, kind: CapabilityKind) -> Answer:
    """The answer for one name. Without a guard it is `retry`, as one may start."""
    server, _, tool = name.partition(":")
    try:
        if not tool:
            return _of_server(name, guard.request("GET", server_path(server)))
        _, key = split_reference(name, kind)
        said = guard.request("GET", server_path(server, "capability", "explain", kind=key[0], name=key[1]))
    except GuardAbsent:
        return _answer(name, "retry", "", "No guard is running here.", "Start it: mcpguard serve")
    except GuardProblem as problem:
        if problem.status != NOT_FOUND:
            print_problem(problem)
            raise typer.Exit(1) from None
        return _answer(name, "unknown", "", problem.sentences[0], "")
    return {"asked": name, **said}


def _of_server(name: str, server: Answer) -> Answer:
    if server["standing"] == "blocked":
        reason = Reason.SERVER_BLOCKED
    elif server["standing"] != "approved":
        reason = Reason.SERVER_QUARANTINED
    elif not server["enabled"]:
        reason = Reason.SERVER_DISABLED
    elif server["state"] == "starting":
        return _told(name, "retry", Reason.SERVER_STARTING)
    elif server["state"] != "ready":
        return _told(name, "retry", Reason.SERVER_UNREACHABLE)
    else:
        return {"asked": name, "answer": "ready", "reasons": []}
    return _told(name, "blocked", reason)


def _told(name: str, answer: str, reason: Reason) -> Answer:
    return _answer(name, answer, reason.value, reason.sentence, reason.next)


def _answer(name: str, answer: str, reason: str, message: str, following: str) -> Answer:
    return {"asked": name, "answer": answer, "reasons": [{"reason": reason, "message": message, "next": following}]}


def _say(each: Answer, *, alone: bool) -> None:
    typer.echo(each["answer"] if alone else f"{each['asked']}  {each['answer']}")
    for why in each["reasons"]:
        typer.echo(visible("  " + "  ".join(filter(None, (why["reason"], f"{why['message']} {why['next']}".strip())))))
