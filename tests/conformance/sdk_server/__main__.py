"""Runs the server on the standard streams, or over streamable HTTP where a port is given."""

import argparse

from tests.conformance.sdk_server import (  # noqa: F401 - importing them adds what they offer to the server
    asking,
    content,
    input_required,
    older,
    tools,
)
from tests.conformance.sdk_server.app import server
from tests.simulators.event_store import RememberedEvents

RETRY_MILLISECONDS = 100
"""When a client whose stream was closed shall come back for the rest."""


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.sdk_server")
    parser.add_argument("--port", type=int, help="serve over streamable HTTP, on this port of 127.0.0.1")
    port: int | None = parser.parse_args().port
    if port is None:
        server.run()
    else:
        server.run("streamable-http", port=port, event_store=RememberedEvents(), retry_interval=RETRY_MILLISECONDS)


if __name__ == "__main__":
    main()
