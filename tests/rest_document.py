"""docs/rest.md: what everybody has to know of the API, and then every route of it (`tests.documents`)."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from textwrap import dedent

from mcpguard.web.api.openapi import document
from mcpguard.web.api.reference import RouteGroup, RouteMember, groups
from tests.web.rest import bare

BEFORE = dedent("""\
    Served below `/api/v1`: on the network, and at the operator's socket for the commands of `mcpguard`. The same as
    an OpenAPI 3.1 document is at `/api/v1/openapi.json`, and as a page at `/api/v1/docs`; everybody may read those
    two.

    **Who.** On the network a request shows an operator's token (`Authorization: Bearer mcpo_…`, made by `mcpguard
    operator add`), or comes from the browser of somebody who has signed in. Nobody is 401, who lacks the right is
    403, and an agent's token is worth nothing. Rights are those of the role: `look` is everybody's, `audit` an
    auditor's, `decide` an approver's, `administer` an admin's. Who has signed in and wants to let more happen than
    before has to have given the password a moment ago (`people.recent_seconds`; else 403, `password-needed`); an
    operator's token never does, unless `authority.tokens` is `full`. At the operator's socket the account of the
    guard may do everything, and only tighten where `authority.shell` says so.

    **Browsers.** Whatever comes from another site's page is 403; so is a cookie on a request that changes something
    and does not say where it comes from. There are no CORS headers.

    **Form.** Bodies are JSON with one meaning, sent as `application/json` and not compressed. Paths need no escape,
    so one that has any is 404. `HEAD` is `GET` without the body. No answer is to be stored on the way.

    **Decisions** about what is there rest on what was seen: `If-Match` carries the `ETag` with which a server or a
    capability was shown. Missing it is 428; another one than stands now is 412, and then nothing has changed. The
    tag stands for what can be decided about, not for the connection. Fingerprints in a body (`seen`) are compared
    besides (409). At the operator's socket `If-Match` may be left out.

    **Lists** come in pages: `limit`, and `next` of one page as the `cursor` of the following one; null where there
    is none. What comes or goes meanwhile shifts nothing.

    **Errors** are problems (RFC 9457), `application/problem+json`: `type` (`urn:mcpguard:…`), `title`, `status`,
    `detail`, and with some `moved` or `problems`. No value that was sent is repeated. Besides those that stand with
    each route there are 404 and 405 for what there is not.

    **Calls** (`POST /api/v1/call`) are made in the name of a caller, within its scope and budgets, and are recorded
    with who made them. Nobody can be asked anything meanwhile, and nobody hears of progress. The answer is 200 also
    where the call was refused: `status` says what became of it. A whole reply is given at once. A resource is read
    if it is listed or lies under an approved prefix; what only a template covers is not.
    """)


def markdown(made: str) -> str:
    """`made`: where it comes from."""
    return "\n".join(
        ("# The REST API", "", made, "", BEFORE, *chain.from_iterable(map(_subject, groups(document(bare())))))
    )


def _subject(group: RouteGroup) -> Iterator[str]:
    yield from (f"## {group.name.capitalize()}", "")
    for route in group.routes:
        right = f"`{route.right}`" if route.right else "none; everybody may read it"
        yield from (f"### `{route.method} {route.path}`", "", route.said, "")
        yield from (f"Right: {right}. Problems: {route.refusals}.", "")
        for title, members in (("parameter", route.parameters), ("in the body", route.body)):
            yield from _listed(title, members)
        if route.example is not None:
            yield from ("```json", json.dumps(route.example, indent=2, ensure_ascii=False), "```", "")
        for answer in route.answers:
            if answer.status < "400":
                yield from _listed(f"in the answer, {answer.status} ({answer.said})", answer.members)


def _listed(title: str, members: Sequence[RouteMember]) -> Iterator[str]:
    if not members:
        return
    yield from (f"| {title} | | |", "|---|---|---|")
    for one in members:
        form = one.form if one.needed else f"{one.form}, optional"
        yield f"| `{one.name}` | {form} | {one.said} |"
    yield ""
