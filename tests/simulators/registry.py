"""A registry of npm and an index of Python packages, with whatever somebody has put there, as hostile as they like."""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

from tests.simulators.web import (
    HttpReply,
    HttpRequest,
    Receive,
    Scope,
    Send,
    begin,
    send_reply,
    served,
    taken,
    until_gone,
)

Entry = tuple[tarfile.TarInfo, bytes]
Answer = Callable[[Send], Awaitable[None]]


class Registry:
    """What is asked for is in `asked`, and in `heard` with all that came along. A path in `hanging` gets no answer, and
    one in `answers` whatever is done there.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.heard: list[HttpRequest] = []
        self.hanging: set[str] = set()
        self.answers: dict[str, Answer] = {}
        self.hung = anyio.Event()
        self.url = ""
        self._files: dict[str, bytes] = {}
        self._npm: dict[str, dict[str, Any]] = {}
        self._python: dict[str, list[str]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await taken(scope, receive)
        self.asked.append(request.path)
        self.heard.append(request)
        if request.path in self.hanging:
            self.hung.set()
            await until_gone(receive)
        elif request.path in self.answers:
            async with anyio.create_task_group() as both:
                both.start_soon(self._until_gone, receive, both.cancel_scope)
                await self.answers[request.path](send)
                both.cancel_scope.cancel()
        else:
            await send_reply(send, self._reply(request.path))

    async def _until_gone(self, receive: Receive, scope: anyio.CancelScope) -> None:
        await until_gone(receive)
        scope.cancel()

    def add_npm(
        self,
        name: str,
        archive: bytes,
        version: str = "1.0.0",
        more: Mapping[str, object] | None = None,
        dist: Mapping[str, object] | None = None,
    ) -> None:
        """`more` is what the registry says of this version besides, `dist` what it says of its archive."""
        path = f"/files/{name}-{version}.tgz"
        self._files[path] = archive
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()
        told = {"tarball": path, "integrity": integrity, **(dist or {})}
        about = {"name": name, "version": version, "dist": told, **(more or {})}
        known = self._npm.setdefault(name, {"name": name, "dist-tags": {}, "versions": {}})
        known["versions"][version] = about
        known["dist-tags"]["latest"] = version

    def add_python(self, project: str, file: str, archive: bytes, href: str = "") -> None:
        """`href` is where the index says that the file is."""
        self._files[f"/files/{file}"] = archive
        self._python.setdefault(project, []).append(f'<a href="{href or f"/files/{file}"}">{file}</a>')

    def _reply(self, path: str) -> HttpReply:
        if path in self._files:
            return HttpReply(body=self._files[path])
        if (name := path.removeprefix("/").replace("%2f", "/")) in self._npm:
            told = json.dumps(self._npm[name]).replace('"tarball": "/', f'"tarball": "{self.url}/')
            return HttpReply(headers={"content-type": "application/json"}, body=told.encode())
        if (project := path.removeprefix("/simple/").rstrip("/")) in self._python:
            links = "".join(self._python[project])
            return HttpReply(headers={"content-type": "text/html"}, body=links.encode())
        return HttpReply(status=404)


def redirect(where: str, status: int = 302) -> Answer:
    async def answer(send: Send) -> None:
        await send_reply(send, HttpReply(status, {"location": where}))

    return answer


def endless(piece: bytes, kind: str = "application/octet-stream") -> Answer:
    """The same again and again, as fast as it is taken."""

    async def answer(send: Send) -> None:
        await begin(send, 200, {"content-type": kind})
        while True:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            await anyio.lowlevel.checkpoint()

    return answer


def in_turn(*replies: HttpReply) -> Answer:
    """One after the other, the last one for ever."""
    left = list(replies)

    async def answer(send: Send) -> None:
        await send_reply(send, left.pop(0) if len(left) > 1 else left[0])

    return answer


@asynccontextmanager
async def registry() -> AsyncIterator[Registry]:
    one = Registry()
    async with served(one) as port:
        one.url = f"http://127.0.0.1:{port}"
        yield one


def file(name: str, text: str = "", mode: int = 0o644) -> Entry:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = mode, len(text.encode())
    return entry, text.encode()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> Entry:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry, b""


def tarball(*entries: Entry) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def npm_package(name: str, *entries: Entry, **about: object) -> bytes:
    told = {"name": name, "version": "1.0.0", "bin": "server.js", **about}
    program = file("package/server.js", "#!/usr/bin/env node\nconsole.log('started')\n", 0o755)
    return tarball(file("package/package.json", json.dumps(told)), program, *entries)


def wheel(project: str, files: Mapping[str, str], script: str = "main") -> bytes:
    """With a module `server` whose function `main` is the program."""
    name, info = project.replace("-", "_"), f"{project.replace('-', '_')}-1.0.0.dist-info"
    all_of_it = {
        "server.py": "def main():\n    print('started')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = server:{script}\n{project} = server:{script}\n",
        **files,
    }
    return zipped([*all_of_it.items(), (f"{info}/RECORD", "".join(f"{each},,\n" for each in all_of_it))])


def zipped(files: Sequence[tuple[str, str]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return packed.getvalue()
