"""Servers and their capabilities as rows of tables. What a server says is foreign: `print_table` makes it visible."""

import re
import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import typer

from mcpguard.cli.servers.choices import Capability, key_of
from mcpguard.cli.shared.common import Output, print_json
from mcpguard.cli.shared.guard_client import Operator, server_path
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.decisions import ITSELF
from mcpguard.domain.findings import Severity, is_grave
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.servers.needs import Need
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.text.visible import visible

SHORT: Final = 15
MOST_TITLES: Final = 2
SEVERITIES: Final = [*Severity]
GRAVE: Final = "has grave findings (hard, critical or high); approve only if you have read them"
UNREAD: Final = "is approved with grave findings that nobody confirmed reading"
TASKS: Final = ", needs tasks: every call is refused"
_CHOICES: Final = {
    Need.NETWORK.value: "--sandbox contained",
    Need.WRITING.value: "--mount PATH:rw",
    Need.FILES.value: "--mount PATH",
}
OFFERED: Final = ("capability", "standing", "effect", "declared", "what its server says of it", "findings")
LINE: Final = 110
"""Characters of a description that are shown beside others."""
_SPACES: Final = re.compile(r"[ \t\r\n]+")
CAPABILITY: Final = ("capability", "standing", "effect", "declared", "fingerprint", "findings")


def first_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What a person wants to know of a server first: how it stands, what runs, how it is confined, what was found."""
    yield "name", server["name"] + (f" ({server['label']})" if server["label"] != server["name"] else "")
    yield "standing", server["standing"] + ("" if server["enabled"] else ", disabled")
    yield "connection", _connection(server)
    yield from inspection_rows(server)
    yield from _launch(server["launch"])
    yield from _confinement(server["confinement"])
    for each in server["requested"]:
        asked = f"{each['label']} ({each['by']}) {moment(each['at'])} UTC"
        yield f"asks for {each['about']}", f"{each['said']}, a request of {asked}; nothing of it is in force"
    yield "may ask for", ", ".join(server["may_ask"]) or "nothing"
    yield "risk", risk(server)
    if server["unread_itself"]:
        yield "not read", f"it {UNREAD}: {', '.join(server['unread_itself'])}"
    for finding in server["findings"]:
        yield "finding", f"{found(finding)} at {finding['evidence']['path']}"


def further_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What else is known of a server, but for its capabilities."""
    for left_out in server["left_out"]:
        yield "left out", left_out
    yield "replies", screening(server)
    if server["prefixes"]:
        yield "readable below", " ".join(server["prefixes"])
    yield "approved", _approved(server)
    yield "declared by", " ".join(filter(None, (server["origin"], server["requester"])))
    yield "revision", str(server["revision"])
    yield "fingerprint", server["fingerprint"]
    yield "observed", server["observed"] or "not yet: it was never inspected"
    if server["artifact"]:
        yield "what ran", server["artifact"]


def offered_row(capability: Capability, description: str) -> tuple[str, ...]:
    """A capability as a server is looked at; the first line's worth of what its server says of it."""
    key, standing, effect, declared, _, findings = capability_row(capability)
    return key, standing, effect, declared, on_a_line(description), findings


def on_a_line(text: str) -> str:
    """Foreign text on one line, everything in it visible; marked where it goes on."""
    shown = visible(_SPACES.sub(" ", text).strip())
    return shown if len(shown) <= LINE else f"{shown[:LINE]}…"


def inspection_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """That it is being inspected, or how its last inspection failed."""
    if server["inspecting"]:
        yield "inspecting", f"since {moment(server['inspecting'])} UTC"
    if (failed := server["failed_inspection"]) is not None:
        yield "last inspection", f"failed {moment(failed['at'])} UTC, for {failed['by']}: {failed['error']}"
        yield from (("it wrote", line) for line in failed["wrote"])


def screening(server: dict[str, Any]) -> str:
    """How what it says is screened."""
    return str(server["screening"]) + ("" if server["screening_decided"] else ", as the setting says")


def capability_row(capability: Capability) -> tuple[str, ...]:
    standing = capability["standing"] + ("" if capability["present"] else ", gone")
    return (
        write_key(key_of(capability)),
        standing + (", waits" if capability["waits"] else "") + (TASKS if capability["needs_tasks"] else ""),
        effect_of(capability),
        capability["declared"] or "",
        short(capability["fingerprint"]),
        findings(capability),
    )


def effect_of(capability: Capability) -> str:
    """The assigned effect; what we suggest otherwise, with a question mark."""
    if capability["assigned"]:
        return str(capability["assigned"])
    return f"{capability['suggested']}?" if capability["suggested"] else ""


def short(fingerprint: str | None) -> str:
    """Enough of it to tell two apart at a glance; the whole one is in the JSON."""
    return f"{fingerprint[:SHORT]}…" if fingerprint else "cannot be read"


def risk(of: dict[str, Any]) -> str:
    """Of a server or a capability; of what nobody inspected nothing is known but its launch."""
    if not of.get("inspected", True):
        return "not inspected" + (", grave findings in its launch" if of["grave"] else "")
    has_grave = of["grave"] if "grave" in of else grave(of)
    return f"{of['risk']} of 100" + (", grave findings" if has_grave else "")


def found(finding: dict[str, Any]) -> str:
    mark = ", hard" if finding["hard"] else ""
    about = f": {finding['about']}" if finding["about"] else ""
    return f"{finding['severity']}{mark}: {finding['title']}{about} ({finding['rule']})"


def findings(of: dict[str, Any]) -> str:
    """How many there are, how bad the worst is, and what the worst say: enough to see where to look."""
    if not (every := of["findings"]):
        return ""
    titles = list(dict.fromkeys(each["title"] for each in every))
    more = [f"{len(titles) - MOST_TITLES} more"] if len(titles) > MOST_TITLES else []
    worst = max(every, key=lambda each: SEVERITIES.index(each["severity"]))["severity"]
    mark = ", grave" if grave(of) else ""
    return f"{len(every)}, {worst}{mark}: " + "; ".join([*titles[:MOST_TITLES], *more])


def grave(of: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings that a person has to say to have read."""
    return [each for each in of["findings"] if is_grave(Severity(each["severity"]), hard=each["hard"])]


def grave_rules(of: dict[str, Any]) -> list[str]:
    return sorted({each["rule"] for each in grave(of)})


def warn_of_grave(server: str, capabilities: Iterable[Capability]) -> None:
    """Grave findings must not be approved unread."""
    for each in capabilities:
        if grave(each):
            warn(f"{write_key(key_of(each))} {GRAVE}: {_look(server, each)}")


def warn_of_unread(server: dict[str, Any]) -> None:
    """What is approved with grave findings that nobody has read can be called all the same."""
    named = [ITSELF] if server["unread_itself"] else []
    named += [write_key(key_of(each)) for each in server["capabilities"] if each["unread"]]
    for name in named:
        warn(f"{name} {UNREAD}")
    if named:
        only = " ".join(f"--only {shlex.quote(name)}" for name in named)
        said = f"mcpguard server approve {server['name']} {only} --findings-read all --reason TEXT"
        typer.echo(visible(f"If you have read them: {said}. Otherwise: mcpguard tool revoke, or block."), err=True)


def capabilities(count: int) -> str:
    """So many of them."""
    return f"{count} {'capability' if count == 1 else 'capabilities'}"


def moment(microseconds: int | None) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S}" if microseconds else ""


def lines(text: str) -> None:
    """Print foreign text of several lines, to be seen and not obeyed."""
    for line in text.split("\n"):
        typer.echo(visible(line))


def warn(sentence: str) -> None:
    typer.echo(f"warning: {visible(sentence)}", err=True)


def warn_of_cut_diffs(operator: Operator, server: str, capabilities: list[Capability]) -> None:
    """Whoever approves a change must know that they have not seen all of it."""
    for each in capabilities:
        if each["standing"] == "changed" and each["approved"] and each["fingerprint"]:
            diff = operator.get(server_path(server, "capability", "diff", kind=each["kind"], name=each["name"]))
            warn_if_cut(diff, server, each)


def warn_if_cut(diff: dict[str, Any], server: str, capability: Capability) -> None:
    if not diff["complete"]:
        look = _look(server, capability)
        warn(
            f"{write_key(key_of(capability))} differs in more than is compared here; read the whole definition: {look}"
        )


def _look(server: str, capability: Capability) -> str:
    kind, name = key_of(capability)
    return f"mcpguard tool show {shlex.quote(f'{server}:{name}')} --kind {kind}"


def _connection(server: dict[str, Any]) -> str:
    since = f"since {moment(server['since'])} UTC" if server["since"] else ""
    speaks = f"{server['transport']} {server['protocol']}".strip()
    again = f"next attempt {moment(server['next_try'])} UTC" if server["next_try"] else ""
    said = (" ".join(filter(None, (server["state"], since))), speaks, server["server"], server["error"], again)
    return " · ".join(filter(None, said))


def command_line(launch: dict[str, Any]) -> str:
    return shlex.join((launch["command"], *launch["arguments"]))


def _launch(launch: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "url" in launch:
        yield "url", launch["url"]
        yield from (("header", _given(each)) for each in launch["headers"])
        return
    yield "command", command_line(launch)
    if launch["folder"]:
        yield "folder", launch["folder"]
    for each in launch["environment"]:
        yield "variable", _given(each) + (" (decides what code runs)" if each["code"] else "")


def _confinement(how: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    if how is None:
        return
    chosen = f" (a person decided on that; declared: {how['declared']})" if how["chosen"] else ""
    yield "sandbox", f"{how['profile']}: {how['means']}{chosen}"
    yield from (("sees", mount) for mount in how["mounts"])
    yield from (("probably needs", f"{each['need']}: {each['seen']}; {each['remedy']}") for each in how["needs"])


def warn_of_confinement(server: dict[str, Any]) -> None:
    """Whoever lets a server run must know what it can reach, and what it cannot."""
    how, name = server["confinement"], server["name"]
    if how is None:
        return
    if how["profile"] == Profile.NONE:
        warn(f"{name} runs WITHOUT A SANDBOX, with everything that the guard's own account may do")
    if how["impossible"]:
        warn(f"nothing can be confined here ({how['impossible']}), so {name} cannot run as it is declared")
    for path in how["unseen"]:
        warn(f"in its sandbox {name} does not see {path}: if it has to, {to_mount(server)}")
    for each in how["needs"]:
        warn(f"{name} probably needs what its sandbox keeps from it ({each['need']}): {each['seen']}; {each['remedy']}")
    if options := " ".join(dict.fromkeys(_CHOICES[each["need"]] for each in how["needs"] if each["need"] in _CHOICES)):
        chosen = f"mcpguard server approve {name} {options} --reason TEXT"
        typer.echo(visible(f"Choose what it needs, and nothing else, when you approve it: {chosen}"), err=True)


def to_mount(server: dict[str, Any]) -> str:
    """What lets it see another folder. Those that are named are all that it sees, so the others are named again."""
    if server["origin"] == Origin.FILE:
        return f"name a folder in the mounts of {server['label']} in the configuration file"
    kept = "".join(f"--mount {shlex.quote(mount)} " for mount in server["confinement"]["mounts"])
    return f"mcpguard server patch {server['name']} {kept}--mount FOLDER"


def _given(each: dict[str, Any]) -> str:
    return f"{each['name']}={'⟨written out, not shown⟩' if each['value'] is None else each['value']}"


def _approved(server: dict[str, Any]) -> str:
    approved = server["approved"]
    if approved is None:
        return "no"
    if approved["launch"] != server["fingerprint"]:
        return "another launch than this one"
    if approved["observed"] != server["observed"]:
        return "another server than was observed last"
    return "exactly this one"


def say(output: Output, answer: object, sentence: str) -> None:
    """What was done: as the guard answers it, or in a sentence."""
    if output is Output.JSON:
        print_json(answer)
    else:
        typer.echo(visible(sentence))
