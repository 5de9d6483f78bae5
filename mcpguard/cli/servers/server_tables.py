"""Renders servers and their capabilities as table rows. A server's text is untrusted: `print_table` escapes it."""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any, Final

import typer

from mcpguard.cli.servers.choices import Capability, key_of
from mcpguard.cli.shared.common import moment, warn
from mcpguard.cli.shared.guard_client import GuardClient, server_path
from mcpguard.codec.capability_keys import write_key
from mcpguard.domain.decisions import SERVER_ITSELF
from mcpguard.domain.findings import Severity, is_grave, sentence_parts
from mcpguard.domain.servers.launches import Profile
from mcpguard.domain.servers.needs import Need
from mcpguard.domain.servers.standing import UpstreamStanding
from mcpguard.domain.servers.upstreams import Origin
from mcpguard.text.visible import visible

SHORT: Final = 15
MOST_TITLES: Final = 2
GRAVE: Final = "has grave findings (hard, critical or high); approve only if you have read them"
UNREAD: Final = "is approved with grave findings that nobody confirmed reading"
TASKS: Final = ", needs tasks: every call is refused"
_CHOICES: Final = {
    Need.NETWORK.value: "--sandbox contained",
    Need.WRITING.value: "--mount PATH:rw",
    Need.FILES.value: "--mount PATH",
}
OFFERED: Final = ("capability", "status", "effect", "declared", "description", "findings")
LINE: Final = 110
"""Characters of a description that are shown beside others."""
_SPACES: Final = re.compile(r"[ \t\r\n]+")
CAPABILITY: Final = ("capability", "status", "effect", "declared", "fingerprint", "findings")


def first_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The most important facts about a server: status, launch, sandbox, findings."""
    yield "name", server["name"] + (f" ({server['label']})" if server["label"] != server["name"] else "")
    yield "status", server["standing"] + ("" if server["enabled"] else ", disabled")
    yield "connection", _connection(server)
    yield from inspection_rows(server)
    yield from _launch(server["launch"])
    yield from _confinement(server["confinement"])
    for each in server["requested"]:
        asked = f"{each['label']} ({each['by']}) {moment(each['at'])} UTC"
        yield f"requests {each['about']}", f"{each['said']}, requested by {asked}; not in effect"
    yield "may request", ", ".join(server["may_ask"]) or "nothing"
    yield "risk", risk(server)
    if server["standing"] == UpstreamStanding.QUARANTINED:
        about = [each["kind"][:1].lower() + each["kind"][1:] for each in server["advice"]["about"]]
        yield "recommended", ": ".join(filter(None, (server["advice"]["recommendation"], "; ".join(about))))
    if server["unread_itself"]:
        yield "not read", f"it {UNREAD}: {', '.join(server['unread_itself'])}"
    for finding in server["findings"]:
        yield "finding", f"{finding_line(finding)} at {finding['evidence']['path']}"
        yield from finding_lines(finding)


def further_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The other facts about a server, without its capabilities."""
    for left_out in server["left_out"]:
        yield "left out", left_out
    yield "replies scanned", screening(server)
    if server["prefixes"]:
        yield "readable below", " ".join(server["prefixes"])
    yield "approved", _approved(server)
    yield "added by", " ".join(filter(None, (server["origin"], server["requester"])))
    yield "revision", str(server["revision"])
    yield "fingerprint", server["fingerprint"]
    yield "observed", server["observed"] or "not yet: it was never inspected"
    if server["artifact"]:
        yield "what ran", server["artifact"]


def offered_row(capability: Capability, description: str) -> tuple[str, ...]:
    """A capability in the table of its server, with the beginning of its description."""
    key, standing, effect, declared, _, findings = capability_row(capability)
    return key, standing, effect, declared, on_a_line(description), findings


def on_a_line(text: str) -> str:
    """Foreign text on one line, made visible, and cut with a mark."""
    shown = visible(_SPACES.sub(" ", text).strip())
    return shown if len(shown) <= LINE else f"{shown[:LINE]}…"


def inspection_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Tell whether a server is being inspected, or how its last inspection failed."""
    if server["inspecting"]:
        yield "inspecting", f"since {moment(server['inspecting'])} UTC"
    if (failed := server["failed_inspection"]) is not None:
        yield "last inspection", f"failed {moment(failed['at'])} UTC, for {failed['by']}: {failed['error']}"
        yield from (("it wrote", line) for line in failed["wrote"])


def screening(server: dict[str, Any]) -> str:
    """How a server's replies are scanned."""
    return str(server["screening"]) + ("" if server["screening_decided"] else ", as the setting says")


def capability_row(capability: Capability) -> tuple[str, ...]:
    standing = capability["standing"] + ("" if capability["present"] else ", gone")
    return (
        write_key(key_of(capability)),
        standing + (", needs review" if capability["waits"] else "") + (TASKS if capability["needs_tasks"] else ""),
        effect_of(capability),
        capability["declared"] or "",
        short(capability["fingerprint"]),
        findings(capability),
    )


def effect_of(capability: Capability) -> str:
    """The assigned effect; a suggested one has a question mark."""
    if capability["assigned"]:
        return str(capability["assigned"])
    return f"{capability['suggested']}?" if capability["suggested"] else ""


def short(fingerprint: str | None) -> str:
    """The beginning of a fingerprint, enough to tell two apart; the JSON has all of it."""
    return f"{fingerprint[:SHORT]}…" if fingerprint else "cannot be read"


def risk(of: dict[str, Any]) -> str:
    """The risk of a server or a capability. Of a server that was never inspected, only the launch is known."""
    if not of.get("inspected", True):
        return "not inspected" + (", grave findings in its launch" if of["grave"] else "")
    has_grave = of["grave"] if "grave" in of else grave(of)
    return f"{of['risk']} of 100" + (", grave findings" if has_grave else "")


def finding_line(finding: dict[str, Any]) -> str:
    mark = ", hard" if finding["hard"] else ""
    said = "".join(sentence_parts(finding["title"], finding["about"]))
    return f"{finding['severity']}{mark}: {said} ({finding['rule']})"


def finding_lines(finding: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What helps to judge a finding, each with a word for it: the words at its place, what they decode to, and why."""
    if finding["excerpt"]:
        yield "words", finding["excerpt"]
    for each in finding["decoded"]:
        yield "decoded", f"{each['encoding']}: {each['text']}"
    if finding["why"]:
        yield "why", finding["why"]


def findings(of: dict[str, Any]) -> str:
    """The number of findings, the worst severity, and the titles of the first ones."""
    if not (every := of["findings"]):
        return ""
    titles = list(dict.fromkeys(each["title"] for each in every))
    more = [f"{len(titles) - MOST_TITLES} more"] if len(titles) > MOST_TITLES else []
    worst = max(every, key=lambda each: Severity(each["severity"]).rank)["severity"]
    mark = ", grave" if grave(of) else ""
    return f"{len(every)}, {worst}{mark}: " + "; ".join([*titles[:MOST_TITLES], *more])


def grave(of: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings that a person must confirm to have read."""
    return [each for each in of["findings"] if is_grave(Severity(each["severity"]), hard=each["hard"])]


def grave_rules(of: dict[str, Any]) -> list[str]:
    return sorted({each["rule"] for each in grave(of)})


def warn_of_grave(server: str, capabilities: Iterable[Capability]) -> None:
    """Warn of grave findings, which must not be approved unread."""
    for each in capabilities:
        if grave(each):
            warn(f"{write_key(key_of(each))} {GRAVE}: {_look(server, each)}")


def warn_of_unread(server: dict[str, Any]) -> None:
    """Warn of grave findings that were approved unread: what has them can be called all the same."""
    named = [SERVER_ITSELF] if server["unread_itself"] else []
    named += [write_key(key_of(each)) for each in server["capabilities"] if each["unread"]]
    for name in named:
        warn(f"{name} {UNREAD}")
    if named:
        only = " ".join(f"--only {shlex.quote(name)}" for name in named)
        said = f"mcpguard server approve {server['name']} {only} --findings-read all --reason TEXT"
        typer.echo(visible(f"If you have read them: {said}. Otherwise: mcpguard tool revoke, or block."), err=True)


def capabilities(count: int) -> str:
    """A number of capabilities in words."""
    return f"{count} {'capability' if count == 1 else 'capabilities'}"


def warn_of_cut_diffs(guard: GuardClient, server: str, capabilities: list[Capability]) -> None:
    """Warn of changes that are too long to be compared here in full."""
    for each in capabilities:
        if each["standing"] == "changed" and each["approved"] and each["fingerprint"]:
            diff = guard.get(server_path(server, "capability", "diff", kind=each["kind"], name=each["name"]))
            warn_if_cut(diff, server, each)


def addition_lines(added: dict[str, Any]) -> Iterator[str]:
    """Yield what a change adds, a line each with its place, or that it adds nothing of the kind."""
    if not added["found"]:
        yield f"the change {added['summary']}"
    for each in added["found"]:
        named = f": {each['detail']}" if each["detail"] else ""
        yield f"added: {each['title']}{named} at {each['evidence']['path']}"
    if added["more"]:
        yield f"added: {added['more']} more"


def warn_if_cut(diff: dict[str, Any], server: str, capability: Capability) -> None:
    if not diff["complete"]:
        look = _look(server, capability)
        warn(f"{write_key(key_of(capability))} has more changes than are shown here; read the whole definition: {look}")


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
    chosen = f" (set by a reviewer; declared: {how['declared']})" if how["chosen"] else ""
    yield "sandbox", f"{how['profile']}: {how['means']}{chosen}"
    yield from (("sees", mount) for mount in how["mounts"])
    yield from (("probably needs", f"{each['need']}: {each['seen']}; {each['remedy']}") for each in how["needs"])


def warn_of_confinement(server: dict[str, Any]) -> None:
    """Warn of what a server can reach, and of what it needs and cannot."""
    how, name = server["confinement"], server["name"]
    if how is None:
        return
    if how["profile"] == Profile.NONE:
        warn(f"{name} runs WITHOUT A SANDBOX, with all rights of the guard's own account")
    if how["impossible"]:
        warn(f"no sandbox works on this host ({how['impossible']}), so {name} cannot run as declared")
    for path in how["unseen"]:
        warn(f"{name} does not see {path} in its sandbox: if it needs to, {to_mount(server)}")
    for each in how["needs"]:
        warn(f"{name} probably needs what its sandbox denies ({each['need']}): {each['seen']}; {each['remedy']}")
    if options := " ".join(dict.fromkeys(_CHOICES[each["need"]] for each in how["needs"] if each["need"] in _CHOICES)):
        chosen = f"mcpguard server approve {name} {options} --reason TEXT"
        typer.echo(visible(f"When you approve it, allow what it needs and nothing else: {chosen}"), err=True)


def to_mount(server: dict[str, Any]) -> str:
    """The command that lets a server see another folder. It repeats the present ones, as it replaces them."""
    if server["origin"] == Origin.FILE:
        return f"name a folder in the mounts of {server['label']} in the configuration file"
    kept = "".join(f"--mount {shlex.quote(mount)} " for mount in server["confinement"]["mounts"])
    return f"mcpguard server patch {server['name']} {kept}--mount FOLDER"


def _given(each: dict[str, Any]) -> str:
    return f"{each['name']}={'⟨literal value, masked⟩' if each['value'] is None else each['value']}"


def _approved(server: dict[str, Any]) -> str:
    approved = server["approved"]
    if approved is None:
        return "no"
    if approved["launch"] != server["fingerprint"]:
        return "for another launch than this one"
    if approved["observed"] != server["observed"]:
        return "for another server than was observed last"
    return "exactly this one"
