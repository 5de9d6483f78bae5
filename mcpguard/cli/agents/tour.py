"""`mcpguard tour`: an agent at work, played for a person who wants to see every page fill.

Nothing here is played but the agent: the calls are calls, decided and recorded as everybody's. Who it is, a person has
let in for an hour; and what it calls, a person approves, here only after they were asked.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents.agent_client import Agent, answered
from mcpguard.cli.servers.approval_plan import plan
from mcpguard.cli.servers.tool_ready import waited_for
from mcpguard.cli.shared.common import Config, DataDir, this_program
from mcpguard.cli.shared.guard_client import API, CALLERS, SERVERS, Operator, server_path
from mcpguard.domain.capabilities import CapabilityKind
from mcpguard.text.visible import visible

NOTES: Final = "demo-notes"
HOUR: Final = 3600
SECONDS: Final = 330.0
INSPECTING: Final = 120.0
CONNECTING: Final = 60.0
PAUSE: Final = 1.0
LOOK: Final = 0.1
HELD: Final = f"{API}/held"
WHY: Final = "mcpguard tour"


class TourStage:
    """Where the tour is told, step by step."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._steps = 0

    def step(self, sentence: str) -> None:
        self._steps += 1
        typer.echo(f"\n{self._steps}. {sentence}")

    def calls(self, tool: str, **arguments: object) -> Mapping[str, Any]:
        """The agent calls one of the guard's tools. What it is answered."""
        answer = self.begins(tool, **arguments).result()
        self.answered(answer)
        return answer

    def begins(self, tool: str, **arguments: object) -> Future[Mapping[str, Any]]:
        """The agent calls one of the guard's tools, and whoever watches goes on. What it will be answered."""
        typer.echo(f"   agent  {tool} {json.dumps(arguments)}")
        aside = ThreadPoolExecutor(1)
        try:
            return aside.submit(self._asks, tool, arguments)
        finally:
            aside.shutdown(wait=False)

    def calls_again(self, tool: str, **arguments: object) -> None:
        """The same call, made until somebody has decided about it."""
        while (answer := self._asks(tool, arguments)).get("status") == "held":
            time.sleep(PAUSE)
        self.answered(answer)

    def _asks(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        return answered(self._agent.call(tool, arguments))

    def answered(self, answer: Mapping[str, Any]) -> None:
        if "status" in answer and "executed" in answer:
            typer.echo(f"   guard  {answer['status']} ({answer['reason']}): {answer['message']} {answer['next']}")
            typer.echo(f"          executed: {answer['executed']}")
        else:
            typer.echo(f"   guard  {visible(_told(answer))}")


def tour(
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help=f"Have {NOTES} inspected and approved, and the call that waits allowed, without being asked."
        ),
    ] = False,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """See an agent at work: it finds a tool, calls it, is refused, and has to wait for a person.

    It needs a guard that was started with --demo, as make run does. The agent has a token for the demonstration's notes
    until the tour ends. What it does is done, and is in the audit log.
    """
    operator = Operator.of(config, data_dir)
    console = str(operator.get(f"{API}/status")["console"])
    if NOTES not in {each["name"] for each in operator.every(SERVERS, "servers")["servers"]}:
        typer.echo(f"mcpguard: there is no {NOTES} here; start the guard with mcpguard serve --demo", err=True)
        raise typer.Exit(1)
    typer.echo(f"Watch what happens in the console: {console}/audit")
    with _let_in(operator) as (name, token):
        stage = TourStage(Agent(config, data_dir, SECONDS, {"MCPGUARD_TOKEN": token}))
        if _reviewed(operator, stage, console, yes=yes):
            _connected(operator)
            _works(stage)
            _waits(operator, stage, console, name, yes=yes)
            typer.echo(f"\nEvery call is in the audit log, from {console}/audit to {this_program()} audit verify.")
            typer.echo(f"The other server, demo-weather, is not what it seems. Review it: {console}/servers")


@contextmanager
def _let_in(operator: Operator) -> Iterator[tuple[str, str]]:
    """An agent with a name and a token of its own, which are worth nothing when it has left."""
    taken = {each["name"] for each in operator.every(CALLERS, "callers")["callers"]}
    name = next(each for each in ("tour", *(f"tour-{number}" for number in range(2, 1000))) if each not in taken)
    scope = {"servers": [NOTES], "effects": ["read", "write", "destructive"], "expires_in": HOUR}
    caller = operator.send("POST", CALLERS, {"name": name, "why": WHY, **scope})
    try:
        yield name, caller["token"]
    finally:
        operator.send("POST", f"{CALLERS}/{caller['id']}/revoke", {"why": f"{WHY}: it is over"})


def _reviewed(operator: Operator, stage: TourStage, console: str, *, yes: bool) -> bool:
    """Whether agents may use the notes; if not yet, they are shown what they are told, and a person is asked."""
    server = operator.get(server_path(NOTES))
    if server["standing"] == "approved" and server["enabled"]:
        return True
    stage.step(f"{NOTES} is {server['standing']}: nothing an agent wants of it happens.")
    stage.calls("call_tool_read", name=f"{NOTES}:list_notes", intent_reason="to see which there are")
    stage.step("A person decides, never an agent.")
    typer.echo(f"   In the console: {console}/servers/{NOTES} — inspect it, review it, approve it.")
    if server["standing"] != "quarantined" or not (yes or _asked()):
        typer.echo("   Then take the tour again.")
        return False
    said = operator.send("POST", server_path(NOTES, "inspect"), {"consent": False, "give": []}, INSPECTING)
    if said["error"]:
        typer.echo(f"mcpguard: {NOTES} could not be inspected: {visible(said['error'])}", err=True)
        typer.echo(f"Try it yourself, it says what to do: mcpguard server inspect {NOTES}", err=True)
        raise typer.Exit(1)
    planned = plan(operator.get(server_path(NOTES)), None, ())
    done = operator.send("POST", server_path(NOTES, "approve"), {**planned.body(WHY), "prefixes": [], "may_ask": []})
    typer.echo(f"   {NOTES} was inspected, and is approved with {len(done['approved'])} capabilities.")
    return True


def _connected(operator: Operator) -> None:
    """Wait until it is: it is started anew after its approval."""
    [said] = waited_for(operator, [f"{NOTES}:read_note"], CapabilityKind.TOOL, CONNECTING)
    if said["answer"] != "ready":
        typer.echo(f"mcpguard: {NOTES} cannot be called: mcpguard tool ready {NOTES}:read_note says why", err=True)
        raise typer.Exit(1)


def _asked() -> bool:
    if not sys.stdin.isatty():
        return False
    return typer.confirm("   Shall it be inspected and approved now, by you, as it is?")


def _works(stage: TourStage) -> None:
    """What an agent does all day, and what it is refused."""
    stage.step("The agent looks for a tool by what it wants to do.")
    stage.calls("retrieve_tools", query="read a note")
    stage.step("It calls what it found, says what it means to do and why, and is answered by the server.")
    stage.calls(
        "call_tool_read", name=f"{NOTES}:read_note", arguments={"name": "garden"}, intent_reason="to plan the evening"
    )
    stage.step("It says that it only reads, and names a tool that deletes.")
    stage.calls(
        "call_tool_read", name=f"{NOTES}:delete_note", arguments={"name": "shopping"}, intent_reason="to look at it"
    )
    stage.step("It reaches for a server that its token is not for.")
    stage.calls("call_tool_read", name="demo-weather:weather", arguments={"city": "Graz"}, intent_reason="to see")


def _waits(operator: Operator, stage: TourStage, console: str, caller: str, *, yes: bool) -> None:
    """A call that destroys something. While a person watches it is made again until they have answered."""
    stage.step("It says that it means to delete. Such a call may have to wait for a person.")
    wanted: dict[str, Any] = {
        "name": f"{NOTES}:delete_note",
        "arguments": {"name": "shopping"},
        "intent_reason": "it was bought",
    }
    answer = stage.begins("call_tool_destructive", **wanted)
    ticket = _ticket(operator, caller, answer)
    if ticket is not None:
        typer.echo(f"   It waits. Allow it or deny it: {console}/held")
        typer.echo(f"   or in another terminal: {this_program()} held allow {ticket} --reason TEXT")
        if yes:
            operator.send("POST", f"{HELD}/{ticket}/allow", {"why": WHY})
            typer.echo("   You said --yes, so it is allowed.")
    stage.answered(answer.result())
    if answer.result().get("status") != "held":
        return
    if not (yes or sys.stdin.isatty()):
        typer.echo("   The agent would make the same call again. Here nobody watches, so it does not.")
        return
    typer.echo("   The agent makes the same call again until somebody has answered. Ctrl-C ends the tour.")
    stage.calls_again("call_tool_destructive", **wanted)


def _ticket(operator: Operator, caller: str, answer: Future[Mapping[str, Any]]) -> str | None:
    """What the call of this caller is known by while it waits; None where it was answered without."""
    while True:
        answered = answer.done()
        for each in operator.every(HELD, "held")["held"]:
            if each["caller"]["name"] == caller:
                return str(each["id"])
        if answered:
            return None
        time.sleep(LOOK)


def _told(answer: Mapping[str, Any]) -> str:
    """Of what was found, the names; anything else as it is."""
    if "tools" in answer and "total" in answer:
        return ", ".join(f"{each['name']} ({each['call_with']})" for each in answer["tools"]) or "nothing fits"
    return json.dumps(dict(answer), ensure_ascii=False)
