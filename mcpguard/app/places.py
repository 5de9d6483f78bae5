"""The paths of files and folders that follow from the settings. Databases are loaded only for whoever asks for one."""

from pathlib import Path
from typing import TYPE_CHECKING

from mcpguard.relay import place
from mcpguard.settings.problems import SettingsError

if TYPE_CHECKING:
    from mcpguard.settings.model import Settings
    from mcpguard.store.engine.backend import Backend
    from mcpguard.store.engine.offline import Place

INSIDE = "audit.anchor_file: the file must be outside the data directory whose integrity it proves; choose another path"


def database(settings: "Settings") -> "Place":
    """Return the path of the database file, or the URL of the database server."""
    if settings.store.url is None:
        return settings.data_dir / "mcpguard.db"
    from mcpguard.store.engine.offline import place_from  # noqa: PLC0415 - see above

    return place_from(settings.store.url.get_secret_value())


def backend(settings: "Settings") -> "Backend":
    """Return the database for writing."""
    from mcpguard.store.engine.postgres import Postgres  # noqa: PLC0415 - see above
    from mcpguard.store.engine.sqlite import SQLite  # noqa: PLC0415 - see above

    where = database(settings)
    if isinstance(where, Path):
        return SQLite(where, settings.store.busy_timeout)
    return Postgres(where, settings.store.busy_timeout)


def signing_key(settings: "Settings") -> Path:
    """Return the file with the key that signs checkpoints."""
    return settings.audit.key_file or settings.data_dir / "audit.key"


def anchor_file(settings: "Settings") -> Path | None:
    """Return the file for external anchors. Raises SettingsError where it lies beside the data that it protects."""
    path = settings.audit.anchor_file
    if path is not None and (path.is_relative_to(settings.data_dir) or path == signing_key(settings)):
        raise SettingsError((INSIDE,))
    return path


def digest_key(settings: "Settings") -> Path:
    """Return the file with the key of digests."""
    return settings.data_dir / "digest.key"


def seal_key(settings: "Settings") -> Path:
    """Return the file with the key that encrypts literal values of declarations."""
    return settings.data_dir / "seal.key"


def server_logs(settings: "Settings") -> Path:
    """Return the folder with the logs of servers' standard error."""
    return settings.data_dir / "logs"


def server_secrets(settings: "Settings") -> Path:
    """Return the folder with a folder of secret files for each server, which only its own declaration may name."""
    return settings.data_dir / "secrets"


def agent_backups(settings: "Settings") -> Path:
    """Return the folder with the backups of agent programs' files."""
    return settings.data_dir / "connected"


def packages(settings: "Settings") -> Path:
    """Return the folder with installed packages."""
    return settings.data_dir / "packages"


def operator_socket(data_dir: Path) -> Path:
    """Return the operator's socket. Commands find it without the settings, too."""
    return place.operator_socket(data_dir)


def agents_socket(data_dir: Path) -> Path:
    """Return the agents' socket. Relays find it without the settings, so `relay` has the rule."""
    return place.agents_socket(data_dir)
