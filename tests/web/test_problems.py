"""Every error that is raised on purpose reaches a program with its status, its sentence and what goes with it."""

import importlib
import json
import pkgutil
from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI

import mcpguard.guard
from mcpguard.domain import decisions, errors, people
from mcpguard.domain.errors import GuardError
from mcpguard.web.api.bodies import ApprovingBody
from mcpguard.web.gate.access import OPEN
from mcpguard.web.gate.problem import MEDIA_TYPE
from mcpguard.web.gate.problems import MOST_PROBLEMS, PROBLEMS, tell_problems
from mcpguard.web.gate.strict_routes import LARGE, MOST_VALUES, StrictRoute

pytestmark = pytest.mark.anyio

PRINT = "v1:" + "0" * 64
NOT_FOR_DOORS = {"EntryMisused", "NotStarted", "Overtaken"}
"""Our own mistakes, which are nobody's to hear, and what is caught on the way."""


WORDS = [
    "bad-filter",
    "caller-unknown",
    "declared-elsewhere",
    "forbidden",
    "illegal-move",
    "invalid-name",
    "label-taken",
    "ledger-unavailable",
    "moved",
    "name-taken",
    "needs-consent",
    "nobody-known",
    "not-declared",
    "not-named",
    "not-proven",
    "password-needed",
    "record-unknown",
    "right-lacking",
    "stale",
    "store-unavailable",
    "too-many-tries",
    "undecidable",
    "unknown",
    "unreadable",
    "unrecordable",
    "unsound",
    "user-taken",
    "user-unknown",
]


def raised() -> list[GuardError]:
    """One of each that is in the table."""
    given: dict[type[GuardError], tuple[object, ...]] = {
        decisions.Stale: (("a moved", "b moved"),),
        decisions.NotDeclared: (("command is empty",),),
        people.TooManyTries: (3,),
    }
    return [kind(*given.get(kind, ("a sentence",))) for kind in PROBLEMS]


def descendants(kind: type[GuardError]) -> Iterator[type[GuardError]]:
    for each in kind.__subclasses__():
        yield each
        yield from descendants(each)


async def answered(error: Exception) -> httpx2.Response:
    """What a program hears of an error that a route raises."""
    app = FastAPI()
    tell_problems(app)

    @app.get("/")
    async def fails() -> None:
        raise error

    return await asked(app, "GET", "/")


async def asked(app: FastAPI, method: str, path: str, **more: object) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://operator") as client:
        return await client.request(method, path, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("error", raised(), ids=lambda error: type(error).__name__)
async def test_it_is_told_with_its_status_and_its_sentence(error: GuardError) -> None:
    answer = await answered(error)
    word, status, title = PROBLEMS[type(error)]
    assert answer.status_code == status
    assert answer.headers["content-type"] == MEDIA_TYPE
    said = answer.json()
    assert said["type"] == f"urn:mcpguard:{word}"
    assert (said["title"], said["status"], said["detail"]) == (title, status, str(error))
    assert said.get("moved") == (["a moved", "b moved"] if isinstance(error, decisions.Stale) else None)
    assert said.get("problems") == (["command is empty"] if isinstance(error, decisions.NotDeclared) else None)


def test_the_statuses_are_the_ones_that_were_agreed() -> None:
    agreed = {
        400: {"BadFilter"},
        412: {"Moved"},
        428: {"NotNamed"},
        404: {"Unknown", "CallerUnknown", "UserUnknown", "RecordUnknown"},
        409: {"Stale", "IllegalMove", "NameTaken", "LabelTaken", "UserTaken", "Unsound"},
        429: {"TooManyTries"},
        422: {"Undecidable", "NotDeclared", "NeedsConsent", "InvalidName", "Unreadable", "Unrecordable"},
        401: {"NobodyKnown", "NotProven"},
        403: {"Forbidden", "DeclaredElsewhere", "PasswordNeeded", "RightLacking"},
        503: {"LedgerUnavailable", "StoreUnavailable"},
    }
    assert {
        status: {kind.__name__ for kind, answered_as in PROBLEMS.items() if answered_as.status == status}
        for status in agreed
    } == agreed
    assert {each.status for each in PROBLEMS.values()} == agreed.keys()


def test_the_words_are_those_that_programs_know() -> None:
    """Whatever the classes are called, and no two errors have one."""
    words = [each.word for each in PROBLEMS.values()]
    assert sorted(words) == WORDS


def test_every_error_of_the_domain_and_of_the_guard_is_in_the_table() -> None:
    """By itself, or by what it is a kind of; and no two of them have one name, of which one would be forgotten."""
    for module in pkgutil.walk_packages(mcpguard.guard.__path__, "mcpguard.guard."):
        importlib.import_module(module.name)
    ours = (errors.__name__, decisions.__name__, people.__name__, "mcpguard.guard.")
    kinds = [kind for kind in descendants(GuardError) if kind.__module__.startswith(ours)]
    names = [kind.__name__ for kind in kinds]
    assert len(names) == len({*names})
    assert {kind.__name__ for kind in kinds if not {*kind.__mro__} & PROBLEMS.keys()} <= NOT_FOR_DOORS


async def test_what_is_a_kind_of_something_is_told_as_that() -> None:
    class NeverSeen(decisions.Undecidable):
        pass

    answer = await answered(NeverSeen("nobody has seen it"))
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:mcpguard:undecidable")
    assert answer.json()["detail"] == "nobody has seen it"


async def test_what_nobody_foresaw_tells_nothing() -> None:
    with pytest.raises(errors.EntryMisused):
        await answered(errors.EntryMisused("a secret of ours"))


# What does not have its form.

SEEN: dict[str, object] = {
    "launch": PRINT,
    "observed": None,
    "capabilities": {"tool:echo": PRINT, "resource:a:b": None},
}
WHOLE: dict[str, object] = {"why": "reviewed", "seen": SEEN}


async def approving(body: object) -> httpx2.Response:
    app = FastAPI()
    tell_problems(app)
    app.router.route_class = StrictRoute

    @app.post("/", dependencies=[OPEN])
    async def approve(body: ApprovingBody) -> str:
        return repr(body.approval)

    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await asked(app, "POST", "/", content=content, headers={"content-type": "application/json"})


async def test_a_whole_body_is_understood() -> None:
    assert (await approving(WHOLE)).status_code == 200


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"why": ""}, "body.why: "),
        ({"why": " \n\t "}, "body.why: "),
        ({"why": "x" * (decisions.LONGEST_WHY + 1)}, "body.why: "),
        ({"why": 7}, "body.why: "),
        ({"force": True}, "body.force: "),
        ({"only": "tool:echo"}, "body.only: "),
        ({"effects": {"echo": "harmless"}}, "body.effects.echo: "),
        ({"may_ask": ["secrets"]}, "body.may_ask.0: "),
        ({"seen": {**SEEN, "launch": "v1:0"}}, "body.seen.launch: "),
        ({"seen": {**SEEN, "launch": PRINT + "\n"}}, "body.seen.launch: "),
        ({"seen": {"launch": PRINT, "capabilities": {}}}, "body.seen.observed: "),
        ({"seen": None}, "body.seen: "),
    ],
    ids=repr,
)
async def test_a_body_without_its_form_is_told_by_the_place(wrong: dict[str, object], place: str) -> None:
    answer = await approving(WHOLE | wrong)
    assert (answer.status_code, answer.headers["content-type"]) == (422, MEDIA_TYPE)
    (problem,) = answer.json()["problems"]
    assert problem.startswith(place)
    assert answer.json()["detail"] == problem
    assert "error" not in problem.lower()


@pytest.mark.parametrize(
    "wrong",
    [
        {"seen": {"launch": PRINT, "observed": None, "capabilities": {"echo": PRINT}}},
        {"only": ["tool:echo", "echo"]},
    ],
    ids=repr,
)
async def test_a_capability_without_its_kind_is_refused(wrong: dict[str, object]) -> None:
    answer = await approving(WHOLE | wrong)
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:mcpguard:invalid-name")


async def test_the_longest_reason_is_taken() -> None:
    assert (await approving(WHOLE | {"why": "x" * decisions.LONGEST_WHY})).status_code == 200


async def test_a_body_of_which_everything_is_wrong_is_told_in_part() -> None:
    answer = await approving(WHOLE | {f"x{number}": 1 for number in range(MOST_PROBLEMS + 3)})
    assert answer.json()["problems"][-1] == "and 3 more"
    assert len(answer.json()["problems"]) == MOST_PROBLEMS + 1


async def test_no_value_is_repeated_and_no_name_is_hostile() -> None:
    answer = await approving(WHOLE | {"why": "hunter2" * 1000, "\u202e\x1b[2J": "hunter2", "y" * 1000: 1})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text
    assert "⟨U+202E⟩⟨U+001B⟩[2J" in answer.json()["detail"]
    assert "y" * 100 not in answer.text


@pytest.mark.parametrize(
    "body", [b"{", b'{"why": "a", "why": "b"}', b'{"why": NaN}', b'{"why": "\\ud800"}', b"\xff", b"[" * 1000]
)
async def test_a_body_that_means_nothing_or_two_things_is_refused(body: bytes) -> None:
    answer = await approving(body)
    assert (answer.status_code, answer.headers["content-type"]) == (400, MEDIA_TYPE)
    assert answer.json()["detail"].startswith("the body is not strict JSON: ")


async def test_a_body_of_values_without_end_is_refused_before_it_is_read() -> None:
    answer = await approving(b'{"why": "a", "x": [' + b"1," * MOST_VALUES + b"1]}")
    assert (answer.status_code, answer.headers["content-type"]) == (400, MEDIA_TYPE)
    assert answer.json()["detail"] == f"the body is not strict JSON: more than {MOST_VALUES} values"
    assert (await approving(b'{"why": "' + b"a" * 2 * LARGE + b'"}')).status_code == 422, (
        "a large one is only read aside"
    )
