"""Somebody at the console in a real browser: how they come in, what they fill in, and what they are told."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
from playwright.sync_api import Browser

from tests.browser.seen import Scheme, Seen
from tests.patience import PATIENCE
from tests.people import PASSWORD
from tests.process import Served
from tests.web.rest import API

COOKIE = "mcpguard_session"


def signed_in(guard: Served, name: str = "ada") -> str:
    """The first admin, made by the link on the terminal: what their browser shows."""
    key = link(guard).partition("key=")[2]
    sent = {"key": key, "name": name, "password": PASSWORD, "again": PASSWORD}
    answer = httpx2.post(f"{guard.url}/setup", data=sent, headers=ours(guard), trust_env=False, timeout=PATIENCE)
    assert answer.status_code == 303, answer.text
    return str(answer.cookies[COOKIE])


def ours(guard: Served) -> dict[str, str]:
    """What a browser sends with a form of ours."""
    return {"origin": guard.url, "sec-fetch-site": "same-origin"}


@contextmanager
def sitting(
    browser: Browser, guard: Served, shown: str, scheme: Scheme = "light", width: int = 1280, *, script: bool = True
) -> Iterator[Seen]:
    """A page of theirs."""
    size = {"width": width, "height": 800}
    with browser.new_context(color_scheme=scheme, viewport=size, java_script_enabled=script) as context:  # type: ignore[arg-type]
        context.add_cookies([{"name": COOKIE, "value": shown, "url": guard.url}])
        seen = Seen(context.new_page())
        if script:
            seen.watch()
        yield seen


def told(guard: Served, method: str, path: str, body: object = None) -> dict[str, Any]:
    """What the guard answers an operator on its own socket."""
    transport = httpx2.HTTPTransport(uds=str(guard.operator))
    with httpx2.Client(transport=transport, base_url="http://operator", timeout=PATIENCE) as client:
        answer = client.request(method, API + path, json=body)
        assert answer.status_code < 300, answer.text
        said: dict[str, Any] = answer.json() if answer.content else {}
        return said


def link(guard: Served) -> str:
    """What the terminal shows for whoever becomes the first admin."""
    return guard.places["first admin"].split()[0]


def fill(seen: Seen, **fields: str) -> None:
    for label, text in fields.items():
        seen.page.get_by_label(label.replace("_", " "), exact=True).fill(text)


def set_up(seen: Seen, guard: Served) -> None:
    """The first admin is made by hand."""
    seen.page.goto(link(guard))
    fill(seen, Name="ada", Password=PASSWORD, Repeat_password=PASSWORD)
    seen.press("Create admin")


def problem(seen: Seen) -> str:
    """What the page says is wrong."""
    return seen.page.get_by_role("alert").inner_text()
