"""Maps users and operators' tokens to rows.

Only a digest of a token is stored.
"""

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from mcpguard.domain.people import OperatorToken, Role, User
from mcpguard.store.rows.people_tables import tokens, users


def list_users(connection: Connection) -> list[User]:
    """Return all users, with disabled ones, by name."""
    return [_user(row) for row in connection.execute(select(users).order_by(users.c.name)).mappings()]


def count_users(connection: Connection) -> int:
    """Return the number of all users."""
    return connection.scalar(select(func.count()).select_from(users)) or 0


def is_taken(connection: Connection, name: str) -> bool:
    """Tell whether a user has, or had, this name."""
    return connection.scalar(select(users.c.id).where(users.c.name == name)) is not None


def put(connection: Connection, user: User) -> None:
    """Store a new user. Raises IntegrityError if the id or the name is in use."""
    connection.execute(insert(users), _row(user))


def change(connection: Connection, user: User) -> None:
    """Replace what is stored of a user."""
    connection.execute(update(users).where(users.c.id == user.id).values(_row(user)))


def active_tokens(connection: Connection) -> list[tuple[OperatorToken, bytes]]:
    """Return all tokens that were not revoked, by name, each with its digest."""
    wanted = select(tokens).where(tokens.c.revoked_at.is_(None)).order_by(tokens.c.name)
    return [(_token(row), bytes(row["digest"])) for row in connection.execute(wanted).mappings()]


def token_is_taken(connection: Connection, name: str) -> bool:
    """Tell whether a token that was not revoked has this name."""
    mine = (tokens.c.name == name) & tokens.c.revoked_at.is_(None)
    return connection.scalar(select(tokens.c.id).where(mine)) is not None


def put_token(connection: Connection, token: OperatorToken, digest: bytes) -> None:
    """Store a new token. Raises IntegrityError if its id, name or digest is in use."""
    row = {
        "id": token.id,
        "name": token.name,
        "digest": digest,
        "role": token.role.value,
        "created_at": token.created_at,
        "created_by": token.created_by,
        "expires_at": token.expires_at,
    }
    connection.execute(insert(tokens), row)


def revoke_token(connection: Connection, token: str, at: int, by: str) -> bool:
    """Revoke the token. Returns False if it was not active."""
    mine = (tokens.c.id == token) & tokens.c.revoked_at.is_(None)
    return connection.execute(update(tokens).where(mine).values(revoked_at=at, revoked_by=by)).rowcount == 1


def _row(user: User) -> dict[str, object]:
    return {
        "id": user.id,
        "name": user.name,
        "role": user.role.value,
        "password": user.password,
        "created_at": user.created_at,
        "created_by": user.created_by,
        "disabled": user.disabled,
    }


def _user(row: RowMapping) -> User:
    return User(
        row["id"],
        row["name"],
        Role(row["role"]),
        row["password"],
        row["created_at"],
        row["created_by"],
        row["disabled"],
    )


def _token(row: RowMapping) -> OperatorToken:
    return OperatorToken(
        row["id"], row["name"], Role(row["role"]), row["created_at"], row["created_by"], row["expires_at"]
    )
