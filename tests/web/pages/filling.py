"""A page as a browser without scripts has it: its forms with what is filled in, and what sending one of them sends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

import anyio
import httpx2

from mcpguard.domain.people import Role
from tests import people
from tests.gate import Gate
from tests.patience import PATIENCE
from tests.world import World

UNDER_WAY = "Inspection in progress"


@dataclass
class Field:
    """One field of a form. `on`: whether it is sent as it stands."""

    name: str
    value: str
    kind: str
    on: bool = True


@dataclass
class Page(HTMLParser):
    """What an answer shows."""

    answer: httpx2.Response
    forms: dict[str, list[Field]] = field(default_factory=dict)
    actions: dict[str, str] = field(default_factory=dict)
    text: str = ""
    _form: str = ""
    _area: Field | None = None
    _select: str = ""
    _owner: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.answer.text)

    @property
    def status(self) -> int:
        return self.answer.status_code

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        owner = said.get("form", self._form)
        match tag:
            case "form":
                self._form = said.get("id") or said.get("action", "")
                self.actions[self._form] = said.get("action", "")
            case "input" if said.get("type") in ("checkbox", "radio"):
                self._put(owner, Field(said.get("name", ""), said.get("value", "on"), said["type"], "checked" in said))
            case "input":
                self._put(owner, Field(said.get("name", ""), said.get("value", ""), said.get("type", "text")))
            case "textarea":
                self._area = Field(said["name"], "", "textarea")
                self._put(owner, self._area)
            case "select":
                self._select, self._owner = said["name"], owner
            case "option":
                chosen = Field(self._select, said.get("value", ""), "option", "selected" in said)
                self._put(self._owner, chosen)
                self._area = None if "value" in said else chosen
            case "button" if "name" in said:
                self._put(owner, Field(said["name"], said.get("value", ""), "button", on=False))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = ""
        if tag in ("textarea", "option"):
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area.value += data
        self.text += data

    def sends(self, form: str, **changed: str | list[str]) -> dict[str, str | list[str]]:
        """What is sent as it stands, but for what is `changed`."""
        found: dict[str, str | list[str]] = {}
        for each in self.forms[form]:
            if each.on and each.name:
                before = found.get(each.name, [])
                found[each.name] = [*([before] if isinstance(before, str) else before), each.value]
        plain = {name: value[0] if len(value) == 1 else value for name, value in found.items()}
        return plain | {name.replace("__", ":"): value for name, value in changed.items()}

    def offers(self, form: str, name: str) -> list[str]:
        """The values of all fields of this name, chosen or not."""
        return [each.value for each in self.forms.get(form, []) if each.name == name]

    def holds(self, form: str, name: str) -> list[str]:
        """Those that are chosen, or typed."""
        return [each.value for each in self.forms[form] if each.name == name and each.on]

    def _put(self, form: str, each: Field) -> None:
        if not form and not each.name:
            return  # never sent: a field for a script
        self.forms.setdefault(form, []).append(each)


@dataclass
class Reviewer:
    """Somebody at the console."""

    http: httpx2.AsyncClient
    headers: Mapping[str, str]
    url: str = ""
    """Of the guard, where `http` does not know it."""

    async def open(self, path: str, **query: str) -> Page:
        return Page(await self.http.get(self.url + path, params=query or None, headers=self.headers))

    async def send(self, page: Page, form: str, **changed: str | list[str]) -> Page:
        """Send a form of a page as a browser does that runs no script, and go where it leads."""
        answer = await self.http.post(
            self.url + page.actions[form], data=page.sends(form, **changed), headers=self.headers
        )
        return await self._followed(answer)

    async def inspected(self, page: Page, form: str = "inspect", **changed: str | list[str]) -> Page:
        """Have a server inspected, and look until that has ended. The page to which that led."""
        page = await self.send(page, form, **changed)
        with anyio.fail_after(PATIENCE):
            while UNDER_WAY in page.text:
                page = await self.follow(page.answer.url.path)
        return page

    async def follow(self, path: str) -> Page:
        """A page, or the one to which it leads."""
        return await self._followed(await self.http.get(self.url + path, headers=self.headers))

    async def _followed(self, answer: httpx2.Response) -> Page:
        while answer.status_code == 303:
            answer = await self.http.get(self.url + answer.headers["location"], headers=self.headers)
        return Page(answer)

    async def post(self, path: str, **sent: str | list[str]) -> Page:
        return Page(await self.http.post(self.url + path, data=sent, headers=self.headers))


async def reviewer(guard: World | Gate, role: Role = Role.APPROVER, name: str = "ada") -> Reviewer:
    """Somebody who has signed in just now."""
    await people.user(guard, name, role)
    shown = people.shows(await people.cookie(guard, name))
    if isinstance(guard, Gate):
        return Reviewer(guard.http, {**people.OURS, **shown, "origin": guard.where.url}, guard.where.url)
    return Reviewer(guard.network, {**people.OURS, **shown})
