"""docs/cli.md: every command with its arguments and options, as `--help` tells them (`tests.documents`)."""

from collections.abc import Iterator
from textwrap import dedent
from typing import Any

import typer.main

from mcpguard.cli.main import build

BEFORE = dedent("""\
    `mcpguard COMMAND --help` says the same. Data is printed on standard output and everything else on standard error;
    `-o json`, where it is said, is for programs. Exit codes: 0 done, 1 not done, 2 wrong use; `doctor` and `tool ready`
    have their own. Commands that decide go through the operator's socket of the guard that runs, which only its own
    account can use. `--config` and `--data-dir` say which guard is meant, as the [settings](settings.md) of the same
    names do.
""")
EVERYWHERE = frozenset({"--help", "--config", "--data-dir"})


def markdown(made: str) -> str:
    command: Any = typer.main.get_command(build([]))
    return "\n".join(("# Commands", "", made, "", BEFORE, *_index(command), *_each(command, "mcpguard")))


def _index(group: Any) -> Iterator[str]:  # noqa: ANN401 - of typer
    yield "| | |"
    yield "|---|---|"
    for name, command in sorted(group.commands.items()):
        yield f"| [`{name}`](#{_anchor(f'mcpguard {name}')}) | {_first(command)} |"
    yield ""


def _each(group: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - of typer
    for name, command in sorted(group.commands.items()):
        here = f"{path} {name}"
        if hasattr(command, "commands"):
            yield from (f"## {here}", "", _first(command), "")
            yield from _each(command, here)
        else:
            yield from _one(command, here, "##" if path == "mcpguard" else "###")


def _one(command: Any, path: str, level: str) -> Iterator[str]:  # noqa: ANN401 - of typer
    yield f"{level} {path}"
    yield ""
    context = typer.Context(command)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    words = [_argument(each) for each in arguments]
    yield "```"
    yield " ".join((path, *words, "[OPTIONS]"))
    yield "```"
    yield ""
    yield from _paragraphs(command.help or "")
    usual = any("--output" in each.opts and each.metavar is None for each in options)
    everywhere = EVERYWHERE | ({"--output"} if usual else set())
    shown = [each for each in options if not everywhere & {*each.opts}]
    rows = [(words[number], each.help) for number, each in enumerate(arguments) if each.help]
    rows += [(_option(each, context), _said(each)) for each in shown]
    if rows:
        yield "| | |"
        yield "|---|---|"
        for name, what in rows:
            yield f"| `{_cell(name)}` | {_cell(what)} |"
        yield ""
    if usual:
        yield "`-o table|json`"
        yield ""


def _argument(argument: Any) -> str:  # noqa: ANN401 - of typer
    name = argument.metavar or argument.name.upper()
    if argument.required or name.startswith("["):
        return str(name)
    return f"[{name}]"


def _option(option: Any, context: Any) -> str:  # noqa: ANN401 - of typer
    names = ", ".join((*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    return f"{names} {option.metavar or option.display_type(context)}"


def _said(option: Any) -> str:  # noqa: ANN401 - of typer
    default = "" if option.default in (None, False, ()) or option.is_flag else f" Default: `{_plain(option.default)}`."
    required = " Required." if option.required else ""
    return f"{option.help or ''}{required}{default}"


def _plain(value: object) -> str:
    return str(getattr(value, "value", value))


def _first(command: Any) -> str:  # noqa: ANN401 - of typer
    return " ".join((command.help or "").split("\n\n")[0].split())


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        yield " ".join(paragraph.split())
        yield ""


def _anchor(title: str) -> str:
    return title.replace(" ", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
