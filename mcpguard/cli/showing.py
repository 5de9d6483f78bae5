"""Servers and their capabilities as rows of tables. What a server says is foreign: `print_table` makes it visible."""

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import typer

from mcpguard.cli.choosing import Capability, key_of
from mcpguard.cli.common import Output, print_json
from mcpguard.cli.operator import Operator, server_path
from mcpguard.codec.keyed import written
from mcpguard.text.visible import visible

SHORT: Final = 15
CAPABILITY: Final = ("capability", "standing", "effect", "declared", "fingerprint", "findings")


def server_rows(server: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is known of a server, but for its capabilities."""
    yield "name", server["name"] + (f" ({server['label']})" if server["label"] != server["name"] else "")
    yield "standing", server["standing"] + ("" if server["enabled"] else ", disabled")
    yield "connection", _connection(server)
    yield from _launch(server["launch"])
    yield "may ask for", ", ".join(server["may_ask"]) or "nothing"
    if server["prefixes"]:
        yield "readable below", " ".join(server["prefixes"])
    yield "fingerprint", server["fingerprint"]
    yield "observed", server["observed"] or "not yet: it was never inspected"
    yield "approved", _approved(server)
    yield "declared by", " ".join(filter(None, (server["origin"], server["requester"])))
    yield "revision", str(server["revision"])
    for finding in server["findings"]:
        yield "finding", found(finding)
    for left_out in server["left_out"]:
        yield "left out", left_out


def capability_row(capability: Capability) -> tuple[str, ...]:
    standing = capability["standing"] + ("" if capability["present"] else ", gone")
    return (
        written(key_of(capability)),
        standing + (", waits" if capability["waits"] else ""),
        effect_of(capability),
        capability["declared"] or "",
        short(capability["fingerprint"]),
        ", ".join(found(each) for each in capability["findings"]),
    )


def effect_of(capability: Capability) -> str:
    """The assigned effect; what we suggest otherwise, with a question mark."""
    if capability["assigned"]:
        return str(capability["assigned"])
    return f"{capability['suggested']}?" if capability["suggested"] else ""


def short(fingerprint: str | None) -> str:
    """Enough of it to tell two apart at a glance; the whole one is in the JSON."""
    return f"{fingerprint[:SHORT]}…" if fingerprint else "cannot be read"


def found(finding: dict[str, Any]) -> str:
    return f"{finding['severity']}: {finding['title']}"


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
        kind, name = key_of(capability)
        look = f"mcpguard tool show {shlex.quote(f'{server}:{name}')} --kind {kind}"
        warn(f"{kind}:{name} differs in more than is compared here; read the whole definition: {look}")


def _connection(server: dict[str, Any]) -> str:
    since = f"since {moment(server['since'])} UTC" if server["since"] else ""
    speaks = f"{server['transport']} {server['protocol']}".strip()
    again = f"next attempt {moment(server['next_try'])} UTC" if server["next_try"] else ""
    said = (" ".join(filter(None, (server["state"], since))), speaks, server["server"], server["error"], again)
    return " · ".join(filter(None, said))


def _launch(launch: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "url" in launch:
        yield "url", launch["url"]
        yield from (("header", _given(each)) for each in launch["headers"])
        return
    yield "command", shlex.join((launch["command"], *launch["arguments"]))
    if launch["folder"]:
        yield "folder", launch["folder"]
    for each in launch["environment"]:
        yield "variable", _given(each) + (" (decides what code runs)" if each["code"] else "")


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
