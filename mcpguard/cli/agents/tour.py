"""`mcpguard tour`: simulates an agent at work, for a user who wants to see every page of the console fill.

Only the agent is simulated: its calls are decided and recorded like any others. Its token is valid for an hour, and the
user is asked before the server that it calls is approved.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Annotated, Any, Final

import typer

from mcpguard.cli.agents.agent_client import Agent, answer_facts
from mcpguard.cli.servers.approval_plan import plan
from mcpguard.cli.servers.tool_ready import waited_for
from mcpguard.cli.shared.common import Config, DataDir, this_program
from mcpguard.cli.shared.guard_client import API, CALLERS, SERVERS, GuardClient, server_path
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
    """Prints the tour, step by step, and makes the calls of its agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._steps = 0

    def step(self, sentence: str) -> None:
        self._steps += 1
        typer.echo(f"\n{self._steps}. {sentence}")

    def call(self, tool: str, **arguments: object) -> Mapping[str, Any]:
        """Have the agent call a tool of the guard; return the answer."""
        answer = self.begin_call(tool, **arguments).result()
        self.show_answer(answer)
        return answer

    def begin_call(self, tool: str, **arguments: object) -> Future[Mapping[str, Any]]:
        """Have the agent call a tool of the guard, without waiting; return the future answer."""
        typer.echo(f"   agent  {tool} {json.dumps(arguments)}")
        aside = ThreadPoolExecutor(1)
        try:
            return aside.submit(self._call, tool, arguments)
        finally:
            aside.shutdown(wait=False)

    def call_until_decided(self, tool: str, **arguments: object) -> None:
        """Have the agent make the same call again until it was decided about."""
        while (answer := self._call(tool, arguments)).get("status") == "held":
            time.sleep(PAUSE)
        self.show_answer(answer)

    def _call(self, tool: str, arguments: Mapping[str, object]) -> Mapping[str, Any]:
        return answer_facts(self._agent.call(tool, arguments))

    def show_answer(self, answer: Mapping[str, Any]) -> None:
        if "status" in answer and "executed" in answer:
            typer.echo(f"   guard  {answer['status']} ({answer['reason']}): {answer['message']} {answer['next']}")
            typer.echo(f"          executed: {answer['executed']}")
        else:
            typer.echo(f"   guard  {visible(_told(answer))}")


def tour(
    yes: Annotated[
        bool,
        typer.Option("--yes", help=f"Inspect and approve {NOTES}, and allow the held call, without asking."),
    ] = False,
    config: Config = None,
    data_dir: DataDir = None,
) -> None:
    """See an agent at work: it finds a tool, calls it, is refused, and is held for approval.

    It needs a guard that was started with --demo, as make run does. The agent has a token for the demonstration's notes
    until the tour ends. Its calls are real, and are in the audit log.
    """
    guard = GuardClient.from_options(config, data_dir)
    console = str(guard.get(f"{API}/status")["console"])
    if NOTES not in {each["name"] for each in guard.get_all(SERVERS, "servers")["servers"]}:
        typer.echo(f"mcpguard: there is no {NOTES} here; start the guard with mcpguard serve --demo", err=True)
        raise typer.Exit(1)
    typer.echo(f"Watch what happens in the console: {console}/audit")
    with _let_in(guard) as (name, token):
        stage = TourStage(Agent(config, data_dir, SECONDS, {"MCPGUARD_TOKEN": token}))
        if _reviewed(guard, stage, console, yes=yes):
            _connected(guard)
            _works(stage)
            _waits(guard, stage, console, name, yes=yes)
            typer.echo(
                f"\nEvery call is in the audit log, see {console}/audit, or verify it: {this_program()} audit verify"
            )
            typer.echo(f"The other server, demo-weather, is not what it seems. Review it: {console}/servers")


@contextmanager
def _let_in(guard: GuardClient) -> Iterator[tuple[str, str]]:
    """A caller for the tour, by name and token. It is revoked at the end."""
    taken = {each["name"] for each in guard.get_all(CALLERS, "callers")["callers"]}
    name = next(each for each in ("tour", *(f"tour-{number}" for number in range(2, 1000))) if each not in taken)
    scope = {"servers": [NOTES], "effects": ["read", "write", "destructive"], "expires_in": HOUR}
    caller = guard.send("POST", CALLERS, {"name": name, "why": WHY, **scope})
    try:
        yield name, caller["token"]
    finally:
        guard.send("POST", f"{CALLERS}/{caller['id']}/revoke", {"why": f"{WHY}: it is over"})


def _reviewed(guard: GuardClient, stage: TourStage, console: str, *, yes: bool) -> bool:
    """Tell whether agents may use the notes. If not yet, shows what agents are told, and asks a person to approve
    them.
    """
    server = guard.get(server_path(NOTES))
    if server["standing"] == "approved" and server["enabled"]:
        return True
    stage.step(f"{NOTES} is {server['standing']}: no agent can use it.")
    stage.call("call_tool_read", name=f"{NOTES}:list_notes", intent_reason="to see which there are")
    stage.step("A user decides, never an agent.")
    typer.echo(f"   In the console: {console}/servers/{NOTES} — inspect it, review it, approve it.")
    if server["standing"] != "quarantined" or not (yes or _asked()):
        typer.echo("   Then take the tour again.")
        return False
    said = guard.send("POST", server_path(NOTES, "inspect"), {"consent": False, "give": []}, INSPECTING)
    if said["error"]:
        typer.echo(f"mcpguard: {NOTES} could not be inspected: {visible(said['error'])}", err=True)
        typer.echo(f"Try it yourself, it says what to do: mcpguard server inspect {NOTES}", err=True)
        raise typer.Exit(1)
    planned = plan(guard.get(server_path(NOTES)), None, ())
    done = guard.send("POST", server_path(NOTES, "approve"), {**planned.body(WHY), "prefixes": [], "may_ask": []})
    typer.echo(f"   {NOTES} was inspected, and is approved with {len(done['approved'])} capabilities.")
    return True


def _connected(guard: GuardClient) -> None:
    """Wait until the server can be called: it is restarted after its approval."""
    [said] = waited_for(guard, [f"{NOTES}:read_note"], CapabilityKind.TOOL, CONNECTING)
    if said["answer"] != "ready":
        typer.echo(f"mcpguard: {NOTES} cannot be called: mcpguard tool ready {NOTES}:read_note says why", err=True)
        raise typer.Exit(1)


def _asked() -> bool:
    if not sys.stdin.isatty():
        return False
    return typer.confirm("   Inspect and approve it now, as you see it?")


def _works(stage: TourStage) -> None:
    """The usual calls of an agent, and what it is refused."""
    stage.step("The agent searches for a tool.")
    stage.call("retrieve_tools", query="read a note")
    stage.step("It calls the tool, declares its intent and its reason, and the server answers.")
    stage.call(
        "call_tool_read", name=f"{NOTES}:read_note", arguments={"name": "garden"}, intent_reason="to plan the evening"
    )
    stage.step("It declares that it only reads, but calls a tool that deletes.")
    stage.call(
        "call_tool_read", name=f"{NOTES}:delete_note", arguments={"name": "shopping"}, intent_reason="to look at it"
    )
    stage.step("It calls a server that is not in the scope of its token.")
    stage.call("call_tool_read", name="demo-weather:weather", arguments={"city": "Graz"}, intent_reason="to see")


def _waits(guard: GuardClient, stage: TourStage, console: str, caller: str, *, yes: bool) -> None:
    """A destructive call. While a person watches, the agent makes it again until it is answered."""
    stage.step("It declares that it deletes. Such a call may be held for approval.")
    wanted: dict[str, Any] = {
        "name": f"{NOTES}:delete_note",
        "arguments": {"name": "shopping"},
        "intent_reason": "it was bought",
    }
    answer = stage.begin_call("call_tool_destructive", **wanted)
    ticket = _ticket(guard, caller, answer)
    if ticket is not None:
        typer.echo(f"   It is held for approval. Allow it or deny it: {console}/held")
        typer.echo(f"   or in another terminal: {this_program()} held allow {ticket} --reason TEXT")
        if yes:
            guard.send("POST", f"{HELD}/{ticket}/allow", {"why": WHY})
            typer.echo("   You said --yes, so it is allowed.")
    stage.show_answer(answer.result())
    if answer.result().get("status") != "held":
        return
    if not (yes or sys.stdin.isatty()):
        typer.echo("   The agent would make the same call again. Without a terminal, it does not.")
        return
    typer.echo("   The agent makes the same call again until it is answered. Ctrl-C ends the tour.")
    stage.call_until_decided("call_tool_destructive", **wanted)


def _ticket(guard: GuardClient, caller: str, answer: Future[Mapping[str, Any]]) -> str | None:
    """The id of the held call of this caller; None if the call was answered without being held."""
    while True:
        answered = answer.done()
        for each in guard.get_all(HELD, "held")["held"]:
            if each["caller"]["name"] == caller:
                return str(each["id"])
        if answered:
            return None
        time.sleep(LOOK)


def _told(answer: Mapping[str, Any]) -> str:
    """A search result as the names of its tools; anything else as JSON."""
    if "tools" in answer and "total" in answer:
        return ", ".join(f"{each['name']} ({each['call_with']})" for each in answer["tools"]) or "no match"
    return json.dumps(dict(answer), ensure_ascii=False)
