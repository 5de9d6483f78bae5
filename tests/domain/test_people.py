"""Roles name rights, and nobody has a right that their role does not name."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mcpguard.domain.people import RIGHTS, OperatorToken, Principal, Right, Role, User

NAMES = st.text(max_size=9)
ROLES = st.sampled_from(Role)
PRINCIPALS = st.builds(
    Principal, NAMES, NAMES, ROLES, st.sampled_from(["user", "token"]), session=NAMES, recent=st.booleans()
)
USERS = st.builds(User, NAMES, NAMES, ROLES, st.text(max_size=99), st.integers(), NAMES, st.booleans())


def test_every_role_has_rights_and_each_one_more_than_the_one_before() -> None:
    assert {*RIGHTS} == {*Role}
    for less, more in pairwise([Role.VIEWER, Role.AUDITOR, Role.APPROVER, Role.ADMIN]):
        assert less.rights < more.rights
    assert Role.VIEWER.rights == {Right.LOOK}
    assert [role for role in Role if Right.DECIDE in role.rights] == [Role.APPROVER, Role.ADMIN]
    assert [role for role in Role if Right.ADMINISTER in role.rights] == [Role.ADMIN]


@given(PRINCIPALS, st.sampled_from(Right))
def test_what_somebody_may_follows_from_their_role_alone(principal: Principal, right: Right) -> None:
    assert principal.may(right) == (right in RIGHTS[principal.role])


@given(USERS)
def test_who_is_disabled_administers_nothing_and_a_hash_is_not_shown(user: User) -> None:
    assert user.administers == (user.role is Role.ADMIN and not user.disabled)
    assert "password" not in repr(user)


@given(st.none() | st.integers(0, 100), st.integers(0, 100))
def test_a_token_holds_until_its_time_is_over(expires: int | None, now: int) -> None:
    assert OperatorToken("t", "ci", Role.ADMIN, 0, "ada", expires).holds(now) == (expires is None or now < expires)
