"""The OpenAPI document: what the framework makes of the routes, and what it cannot know of them.

Rules kept here:
1. Every operation names the right it needs, every status it answers, and the headers that go with it.
2. Every error is a problem (RFC 9457).
"""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts

from mcpguard import __version__
from mcpguard.domain.json import Json
from mcpguard.domain.people import Right
from mcpguard.web.gate.access import Needs
from mcpguard.web.gate.cookies import NAME
from mcpguard.web.gate.matching import AS_SEEN, SHOWN
from mcpguard.web.gate.problem import MEDIA_TYPE
from mcpguard.web.gate.strict_routes import PREFIX, StrictRoute

SAID: Final = """What the console can do, for programs. Whoever sends a request shows an operator's token, or is a
person's browser in which they have signed in; an agent's token is worth nothing here. Times are microseconds since 1970
in UTC. Every error is a problem (RFC 9457)."""
SCHEMES: Final = {
    "operatorToken": {
        "type": "http",
        "scheme": "bearer",
        "description": "An operator's token, `mcpo_…`; what it may is its role's.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": NAME,
        "description": (
            "The cookie of somebody who has signed in; over TLS its name begins with `__Host-`. A request that changes "
            "something must say where it comes from (`Origin` or `Sec-Fetch-Site`), as browsers do."
        ),
    },
}
PROBLEM: Final = {
    "type": "object",
    "title": "Problem",
    "description": "What is wrong, for a program. No value that was sent is repeated.",
    "properties": {
        "type": {"type": "string", "description": "What kind of error it is: `urn:mcpguard:…`."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "moved": {"type": "array", "items": {"type": "string"}, "description": "What is not as it was seen."},
        "problems": {"type": "array", "items": {"type": "string"}, "description": "Each by its place."},
    },
    "required": ["type", "title", "status", "detail"],
    "additionalProperties": False,
    "examples": [
        {
            "type": "urn:mcpguard:unknown",
            "title": "There is no such server or capability",
            "status": 404,
            "detail": "There is no such server or capability",
        }
    ],
}
WHEN: Final = {
    400: "The request could mean two things, or cannot be read.",
    401: "Nobody is known by this request.",
    403: "Whoever sent this may not do it, or it comes from a page that is not ours.",
    404: "There is no such thing.",
    409: "Something else stands now than what this rests on, or it came before.",
    412: "The ETag is not that of what stands now.",
    413: "The body is too long.",
    415: "The body is no JSON.",
    421: "The host is not one of this guard's.",
    422: "It does not have its form, or cannot be decided.",
    428: "The ETag of what was seen is missing.",
    429: "Too many tries.",
    503: "Nothing can be recorded or read now.",
}
REF: Final = "#/components/schemas/"
SUFFIX: Final = re.compile(r"(?<=[a-z])(Answer|Body)$")
"""What the names of our classes end in, so that no two classes have one name."""
IF_MATCH: Final = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The `ETag` under which it was shown, in its quotation marks. Not needed at the operator's socket.",
    "schema": {"type": "string", "pattern": '^"[!#-~]{1,200}"$'},
}


def document(app: FastAPI) -> Json:
    """The whole document."""
    made = with_public_names(get_openapi(title="mcpguard", version=__version__, description=SAID, routes=app.routes))
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = PROBLEM
    components["securitySchemes"] = SCHEMES
    needs = {(method.lower(), path): each.right for method, path, each in routed(app)}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            _complete(operation, method, path, needs[method, path])
    return made


def with_public_names(made: Json) -> Json:
    """The document with schemas named as programs know them: `Caller` for the class `CallerAnswer`.

    Raises ValueError if two schemas would be called the same.
    """
    classes = [*made["components"]["schemas"]]
    public = {name: SUFFIX.sub("", name) for name in classes}
    if len({*public.values()}) < len(classes):
        raise ValueError(f"two schemas have one public name, among {sorted(public.values())}")
    references = {f"{REF}{name}": f"{REF}{new}" for name, new in public.items()}

    def renamed(node: object) -> object:
        if isinstance(node, dict):
            return {key: renamed(value) for key, value in node.items()}
        if isinstance(node, list):
            return [renamed(value) for value in node]
        return references.get(node, node) if isinstance(node, str) else node

    schemas = {
        public[name]: {**schema, "title": SUFFIX.sub("", schema["title"])}
        for name, schema in made["components"]["schemas"].items()
    }
    components = {**made["components"], "schemas": schemas}
    return {key: renamed(value) for key, value in {**made, "components": components}.items()}


def routed(app: FastAPI) -> Iterator[tuple[str, str, Needs]]:
    """Every method and path that there is, with what it needs. Raises TypeError for a route that is not of our kind."""
    for found in iter_route_contexts(app.routes):
        route = found.original_route
        if not isinstance(route, StrictRoute):
            raise TypeError(f"{found.path} is no StrictRoute")
        for method in sorted(found.methods or ()):
            yield method, str(found.path_format), route.needs


def _complete(operation: Json, method: str, path: str, right: Right | None) -> None:
    words = operation.get("description", "").split("\n\n")[0].replace("\n", " ")
    operation["summary"] = re.split(r"(?<=[.;:]) ", words)[0].rstrip(".;:")
    operation["operationId"] = "_".join((method, *re.findall(r"[a-z]+", path.removeprefix(PREFIX))))
    operation["security"] = [] if right is None else [{scheme: []} for scheme in SCHEMES]
    operation["x-right"] = right.value if right else None
    rests, shown = (bool(operation.pop(name, False)) for extra in (AS_SEEN, SHOWN) for name in extra)
    parameters = operation.setdefault("parameters", [])
    if rests:
        parameters.append(IF_MATCH)
    answers = operation["responses"]
    for status, answer in list(answers.items()):
        if status == "422":
            del answers[status]
        else:
            answer["description"] = HTTPStatus(int(status)).phrase
            answer["headers"] = _headers(shown=shown)
    for status in sorted(_statuses(operation, method, path, right, rests=rests)):
        answers[str(status)] = {
            "description": WHEN[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}},
        }


def _headers(*, shown: bool) -> Mapping[str, Json]:
    tag = {"ETag": {"schema": {"type": "string"}, "description": "Stands for what can be decided about it."}}
    return tag if shown else {}


def _statuses(operation: Json, method: str, path: str, right: Right | None, *, rests: bool) -> set[int]:
    """Every status of an error that this may be answered with."""
    found = {400, 401, 403, 421}
    if right is not None:
        found |= {503}
    if "{" in path or any(each["name"] == "caller" for each in operation["parameters"]) or method != "get":
        found |= {404}
    if any(each["in"] == "query" for each in operation["parameters"]) or method != "get" or "{" in path:
        found |= {422}
    if method != "get":
        found |= {409, 413}
    if "requestBody" in operation:
        found |= {415}
    if method == "post":
        found |= {429}
    return found | ({412, 428} if rests else set())
