"""`python -m mcpguard`, and the command `mcpguard`."""

import sys

from mcpguard.cli.main import build


def main() -> None:
    build(sys.argv[1:])(prog_name="mcpguard")


if __name__ == "__main__":
    main()
