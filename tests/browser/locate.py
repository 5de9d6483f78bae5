"""Where the browser of the browser tests is; run as a program, it fetches one when there is none."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DOWNLOADS = Path(__file__).parents[2] / ".tools" / "browsers"
LAYOUTS = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
PLAYWRIGHT = (sys.executable, "-m", "playwright")


@functools.cache
def locate() -> Path | None:
    """The first browser that starts: on PATH, else one fetched earlier."""
    # A file is not enough: Ubuntu's chromium-browser may only ask for a snap, and a fetched one may lack libraries.
    return next((browser for browser in _candidates() if _runs(str(browser), "--version")), None)


def _candidates() -> Iterator[Path]:
    for name in NAMES:
        if found := shutil.which(name):
            yield Path(found)
    for layout in LAYOUTS:
        yield from sorted(DOWNLOADS.glob(layout), reverse=True)


def _runs(*command: str) -> bool:
    try:
        subprocess.run(command, capture_output=True, timeout=60, check=True)  # only called from here
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _fetch() -> None:
    environment = os.environ | {"PLAYWRIGHT_BROWSERS_PATH": str(DOWNLOADS)}
    command = [*PLAYWRIGHT, "install", "--no-shell", "chromium"]
    subprocess.run(command, env=environment, stdout=sys.stderr, check=False)  # nothing in it is from outside


def main() -> None:
    """Print the browser's path, fetching one if need be."""
    if not _runs(*PLAYWRIGHT, "--version"):
        sys.exit("Playwright does not start; a bare Debian lacks a library for it (apt-get install libatomic1)")
    if locate() is None:
        _fetch()
        locate.cache_clear()
    browser = locate()
    if browser is None:
        sys.exit("no Chromium that starts, and none could be fetched; install one (Debian: apt-get install chromium)")
    sys.stdout.write(f"{browser}\n")


if __name__ == "__main__":
    main()
