"""Where the things are that the settings name."""

from pathlib import Path

from mcpguard.relay import place
from mcpguard.settings.model import Settings
from mcpguard.settings.problems import SettingsError
from mcpguard.store.engine.backend import Backend
from mcpguard.store.engine.offline import Place, place_from
from mcpguard.store.engine.postgres import Postgres
from mcpguard.store.engine.sqlite import SQLite

OPERATOR = "operator.sock"
INSIDE = "audit.anchor_file: the file must lie outside the data directory, which it is to vouch for; name another one"


def database(settings: Settings) -> Place:
    """The database file, or the URL of the server."""
    if settings.store.url is None:
        return settings.data_dir / "mcpguard.db"
    return place_from(settings.store.url.get_secret_value())


def backend(settings: Settings) -> Backend:
    """The database, to be written to."""
    where = database(settings)
    if isinstance(where, Path):
        return SQLite(where, settings.store.busy_timeout)
    return Postgres(where, settings.store.busy_timeout)


def signing_key(settings: Settings) -> Path:
    """The file with the key that signs checkpoints."""
    return settings.audit.key_file or settings.data_dir / "audit.key"


def anchor_file(settings: Settings) -> Path | None:
    """The file that checkpoints are appended to. Raises SettingsError where it lies with what it is to vouch for."""
    path = settings.audit.anchor_file
    if path is not None and (path.is_relative_to(settings.data_dir) or path == signing_key(settings)):
        raise SettingsError((INSIDE,))
    return path


def digest_key(settings: Settings) -> Path:
    """The file with the key of digests."""
    return settings.data_dir / "digest.key"


def seal_key(settings: Settings) -> Path:
    """The file with the key that seals what was written out in declarations."""
    return settings.data_dir / "seal.key"


def server_logs(settings: Settings) -> Path:
    """The folder with what servers write to their standard error."""
    return settings.data_dir / "logs"


def server_secrets(settings: Settings) -> Path:
    """The folder with one for each server: of files that its own declaration may name, and no other's."""
    return settings.data_dir / "secrets"


def connected(settings: Settings) -> Path:
    """The folder with what was done to the files of programs that agents run in."""
    return settings.data_dir / "connected"


def packages(settings: Settings) -> Path:
    """The folder with what was installed for servers that are packages."""
    return settings.data_dir / "packages"


def operator_socket(data_dir: Path) -> Path:
    return place.socket_path(data_dir, OPERATOR)


def agents_socket(data_dir: Path) -> Path:
    """Relays look for it without the settings, so the rule for sockets stands with them."""
    return place.agents_socket(data_dir)
