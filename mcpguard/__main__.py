"""`python -m mcpguard`, and the command `mcpguard`."""

import gc
import os
import sys


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == ["stdio"]:
        _stdio(words[1:])
    _load_lightly(words)
    gc.disable()  # nothing that is imported is garbage, and looking for some is a fifth of the start
    from mcpguard.cli.main import command_line  # noqa: PLC0415 - takes longer than a relay may take to start

    command = command_line(words, os.environ)
    gc.freeze()  # nor will it be later
    gc.enable()
    command(prog_name="mcpguard")


def _load_lightly(words: list[str]) -> None:
    """Keep libraries from loading what no guard uses: plugins of pydantic, and for the log the tracebacks of rich."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    if words[:1] == ["serve"] and "structlog" not in sys.modules:
        sys.modules["rich"] = None  # type: ignore[assignment]  # whoever imports it is told that it is not there
        try:
            import structlog  # noqa: F401, PLC0415 - the others find it loaded
        finally:
            del sys.modules["rich"]


def _stdio(words: list[str]) -> None:
    """Become a relay, unless there is something to explain first."""
    from mcpguard.cli.agents.quick_start import parse_relay_command  # noqa: PLC0415
    from mcpguard.relay.relay import relay  # noqa: PLC0415

    asked = parse_relay_command(words)
    if asked is not None:
        sys.exit(relay(asked, os.environ))


if __name__ == "__main__":
    main()
