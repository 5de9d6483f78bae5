"""Pages as tests read them."""

import html
import re

import httpx2

from mcpguard.domain.people import Role
from tests import people
from tests.gate import Gate
from tests.world import World

Sends = dict[str, str]


async def somebody(guard: Gate, role: Role = Role.APPROVER, name: str = "ada") -> Sends:
    """What the browser of somebody sends who has signed in just now."""
    await guard.now.guard.users.add(name, role, people.PASSWORD, people.BY)
    shown = (await guard.now.guard.signing_in.with_password(name, people.PASSWORD, people.PEER, "")).shown
    return {"origin": guard.where.url, "sec-fetch-site": "same-origin", **people.shows(shown)}


def heading(answer: httpx2.Response) -> str:
    (found,) = re.findall(r"<h1[^>]*>(.*?)</h1>", answer.text, re.DOTALL)
    return text(found)


def alert(answer: httpx2.Response) -> str:
    """What the page says is wrong, if it does."""
    found = re.search(r'role="alert"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    return text(found[1]) if found else ""


def told(answer: httpx2.Response) -> str:
    """What the page says was done, if it does."""
    found = re.search(r'role="status"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
    return text(found[1]) if found else ""


def hidden(answer: httpx2.Response, name: str) -> str:
    """What the first form carries under this name."""
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', answer.text)
    assert found is not None, answer.text
    return html.unescape(found[1])


def text(markup: str) -> str:
    """What is read of it."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


async def page(guard: World, by: dict[str, str], path: str, status: int = 200) -> str:
    """What is there for whoever sends this."""
    answer = await guard.network.get(path, headers=by)
    assert answer.status_code == status, answer.text
    return answer.text
