"""One browser for all pages of a module, and a window in it for each test."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.locate import locate
from tests.browser.seen import ARGUMENTS, Scheme, Seen
from tests.patience import PATIENCE
from tests.process import Served, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = locate()
    if found is None:
        pytest.fail("there is no Chromium; `python -m tests.browser.locate` says how to get one")
    expect.set_options(timeout=PATIENCE * 1000)
    os.environ["NODE_DISABLE_COMPILE_CACHE"] = "1"  # Playwright's driver would leave one in the temporary folder
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("running") / "data") as guard:
        yield guard


@pytest.fixture
def look(browser: Browser, scheme: Scheme, width: int) -> Iterator[Seen]:
    with browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}) as context:
        seen = Seen(context.new_page())
        seen.watch()
        yield seen
