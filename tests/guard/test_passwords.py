"""Passwords: what may be one, what is computed for whom, and how few are computed at once."""

import unicodedata
from pathlib import Path
from typing import Any

import anyio
import pytest
from argon2 import PasswordHasher, extract_parameters
from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.decisions import Undecidable
from mcpguard.domain.people import NotProven, Role, TooManyTries
from mcpguard.guard.people import passwords
from mcpguard.guard.people.common_passwords import COMMON
from mcpguard.guard.people.passwords import (
    LONGEST_BYTES,
    MOST_AT_ONCE,
    MOST_WAITING,
    SHORTEST,
    USUAL,
    Passwords,
    check_new_password,
)
from mcpguard.guard.people.throttle import FREE_BY_NAME
from tests.people import BY, PASSWORD, PEER, user
from tests.world import CHEAP as COST
from tests.world import World, world

pytestmark = pytest.mark.anyio
ACCENTS = "crème brûlée á la carte"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that passwords are held against, as they are. The real function is called all the same."""
    found: list[str] = []
    real = passwords._is_right

    def watched(hasher: PasswordHasher, kept: str, password: bytes) -> bool:
        found.append(kept)
        return real(hasher, kept, password)

    monkeypatch.setattr(passwords, "_is_right", watched)
    return found


@given(st.text(st.characters(codec="utf-8"), min_size=SHORTEST, max_size=200))
def test_whatever_is_long_enough_may_be_a_password(password: str) -> None:
    plain = unicodedata.normalize("NFKC", password)
    if len(plain) >= SHORTEST and len(plain.encode()) <= LONGEST_BYTES and plain.casefold() not in COMMON:
        check_new_password("ada", password)
    else:
        with pytest.raises(Undecidable):
            check_new_password("ada", password)


@pytest.mark.parametrize(
    "password",
    [
        "",
        "x" * (SHORTEST - 1),
        " " * (SHORTEST - 1),
        "x" * (LONGEST_BYTES + 1),
        "é" * (LONGEST_BYTES // 2 + 1),
        "password12345",
        "PASSWORD12345",
        "\ud800" * SHORTEST,
        "augustaadaking",
        "AugustaAdaKing",
    ],
)
def test_what_is_too_short_too_long_or_tried_first_may_not(password: str) -> None:
    with pytest.raises(Undecidable) as told:
        check_new_password("augustaadaking", password)
    assert not password or password not in str(told.value)


def test_what_is_listed_as_common_is_what_would_be_taken_otherwise() -> None:
    assert len(COMMON) > 80
    for password in COMMON:
        assert len(password) >= SHORTEST
        assert password == unicodedata.normalize("NFKC", password).casefold()


async def test_it_is_kept_as_owasp_asks_at_least(guard: World) -> None:
    """As a guard does that is not told otherwise; that one which is served is not, `tests.cli` sees."""
    kept = await Passwords(guard.now.guard.people).hash_new("ada", PASSWORD)
    found = extract_parameters(kept)
    assert found.type.name == "ID"
    assert found.memory_cost >= 19 * 1024
    assert found.time_cost >= 2
    assert found.salt_len >= 16
    assert extract_parameters(USUAL.nobodys()) == found, "nobody's costs as much as anybody's"
    await user(guard)
    assert kept != (await guard.now.guard.users.password("ada", PASSWORD, BY)).password, "salted"
    assert PASSWORD not in repr(guard.now.guard.people.user("ada"))


async def test_as_much_is_computed_for_a_name_that_is_nobodys(guard: World, computed: list[str]) -> None:
    """What differs between names is which hash is taken, and nothing else: no clock is needed to see it."""
    ada = await user(guard)
    bob = await user(guard, "bob", Role.VIEWER)
    await guard.now.guard.users.disable("bob", BY)
    for name, password in (
        ("ada", "not this one"),
        ("bob", PASSWORD),
        ("nobody", PASSWORD),
        ("", ""),
        ("a\0", "\ud800"),
        ("ada", "x" * 5000),
    ):
        with pytest.raises(NotProven):
            await guard.now.guard.signing_in.with_password(name, password, PEER)
    nobodys = COST.nobodys()
    assert computed == [ada.password, bob.password, nobodys, nobodys, nobodys, ada.password]


async def test_the_same_text_from_another_keyboard_is_the_same_password(guard: World) -> None:
    await user(guard, password=ACCENTS)
    for form in ("NFC", "NFD", "NFKD"):
        typed = unicodedata.normalize(form, ACCENTS)
        await guard.now.guard.signing_in.with_password("ada", typed, PEER)
    with pytest.raises(NotProven):
        await guard.now.guard.signing_in.with_password("ada", "creme brulee a la carte", PEER)


@pytest.mark.parametrize(
    "password", ["x" * 12, "x" * LONGEST_BYTES, "seven\0brown\0horses", "  spaces count  ", "日本語" * 5]
)
async def test_what_may_be_a_password_is_one(guard: World, password: str) -> None:
    await user(guard, password=password)
    await guard.now.guard.signing_in.with_password("ada", password, PEER)
    for other in (password[:-1], password + "x", password.strip() + ".", password.split("\0", maxsplit=1)[0] + "."):
        with pytest.raises(NotProven):
            await guard.now.guard.signing_in.with_password("ada", other, PEER)


async def test_what_was_kept_more_cheaply_is_made_anew_at_the_next_sign_in(tmp_path: Path) -> None:
    async with world(tmp_path) as guard:
        await user(guard)
        cheap = CHEAP.hash(PASSWORD)

        def cheapen(connection: Any) -> None:  # noqa: ANN401 - a connection
            connection.exec_driver_sql("UPDATE users SET password = ?", (cheap,))

        await guard.now.store.writer.submit(cheapen)
    async with world(tmp_path) as guard:
        signing_in, people = guard.now.guard.signing_in, guard.now.guard.people
        with pytest.raises(NotProven):
            await signing_in.with_password("ada", "not this one", PEER)
        before = people.user("ada")
        assert before is not None
        assert before.password == cheap
        await signing_in.with_password("ada", PASSWORD, PEER)
    async with world(tmp_path) as guard:
        after = guard.now.guard.people.user("ada")
        assert after is not None
        assert extract_parameters(after.password) == extract_parameters(COST.nobodys())
        await guard.now.guard.signing_in.with_password("ada", PASSWORD, PEER)


async def test_a_password_that_was_changed_meanwhile_lets_nobody_in(
    guard: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old one is found to be right, and before the session begins there is a new one."""
    await user(guard)
    service = guard.now.guard.signing_in._passwords
    real = service.user_of

    async def slow(claim: Any) -> Any:  # noqa: ANN401 - a claim, and whose it is
        found = await real(claim)
        await guard.now.guard.users.password("ada", "nine green hedgehogs", BY)
        return found

    monkeypatch.setattr(service, "user_of", slow)
    with pytest.raises(NotProven):
        await guard.now.guard.signing_in.with_password("ada", PASSWORD, PEER)
    assert not [*guard.now.guard.people.sessions()]
    monkeypatch.undo()
    await guard.now.guard.signing_in.with_password("ada", "nine green hedgehogs", PEER)


async def test_a_crowd_is_sent_away_and_costs_nobody_else(guard: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many are computed at once, so many wait, and the rest is told to come back; what else is asked is answered."""
    service = guard.now.guard.signing_in._passwords
    most, answers = 0, list[str]()
    real = passwords._is_right

    def watched(hasher: PasswordHasher, _: str, password: bytes) -> bool:
        nonlocal most
        most = max(most, service._limiter.borrowed_tokens)
        return real(hasher, CHEAP.hash(b"x"), password)

    monkeypatch.setattr(passwords, "_is_right", watched)

    async def come(number: int) -> None:
        try:
            await guard.now.guard.signing_in.with_password(f"name-{number}", PASSWORD, f"192.0.2.{number}")
        except (NotProven, TooManyTries) as error:
            answers.append(type(error).__name__)

    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(come, number)
        assert (await guard.network.get("/healthz")).status_code == 200
    assert most <= MOST_AT_ONCE
    assert len(answers) == 200
    assert answers.count("NotProven") >= MOST_AT_ONCE + MOST_WAITING
    assert answers.count("TooManyTries") > 0
    assert len(guard.now.guard.signing_in.throttle) == 2 * answers.count("NotProven"), "who was sent away has not tried"


async def test_who_tries_too_often_waits_also_with_the_right_password(guard: World) -> None:
    await user(guard)
    for number in range(FREE_BY_NAME):
        with pytest.raises(NotProven):
            await guard.now.guard.signing_in.with_password("ada", "not this one", f"192.0.2.{number}")
    with pytest.raises(TooManyTries) as told:
        await guard.now.guard.signing_in.with_password("ada", PASSWORD, "198.51.100.1")
    await guard.clock.advance(told.value.seconds)
    await guard.now.guard.signing_in.with_password("ada", PASSWORD, "198.51.100.1")
    await guard.now.guard.signing_in.with_password("ada", PASSWORD, "198.51.100.1")


async def test_another_password_from_the_operator_lets_its_owner_try_at_once(guard: World) -> None:
    await user(guard)
    for number in range(FREE_BY_NAME):
        with pytest.raises(NotProven):
            await guard.now.guard.signing_in.with_password("ada", "not this one", f"192.0.2.{number}")
    await guard.now.guard.users.password("ada", "nine green hedgehogs", BY)
    await guard.now.guard.signing_in.with_password("ada", "nine green hedgehogs", PEER)
