"""The question before a command changes a file that is not the guard's own."""

import sys

import typer


def is_confirmed(*, yes: bool) -> bool:
    """Tell whether the change is to be made. Exits with 2 if nobody can be asked."""
    if yes:
        return True
    if not sys.stdin.isatty():
        typer.echo(
            "mcpguard: there is no terminal to ask on; --yes makes the change, --dry-run only shows it", err=True
        )
        raise typer.Exit(2)
    return typer.confirm("Make this change?", err=True)
