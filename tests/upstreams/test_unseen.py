"""What a confined server is told of and would not see is named before it is started."""

import pytest

from mcpguard.domain.servers.launches import Mount, Profile, StdioLaunch
from mcpguard.upstreams.sandbox.bwrap_command import TEMPORARY
from mcpguard.upstreams.sandbox.unmounted_paths import unmounted_paths


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-y", "package", "/home/me/notes"), ("/home/me/notes",)),
        (("--root=/srv/a", "/srv/b", "/srv/b"), ("/srv/a", "/srv/b")),
        (("/data", "/data/in/it", "/database"), ("/database",)),
        (("/usr/share/x", TEMPORARY, "/dev/null", "/bin/sh"), ()),
        ((f"{TEMPORARY}/x", "/etc/passwd"), (f"{TEMPORARY}/x", "/etc/passwd")),
        (("relative/path", "-r", "//host/share", "https://h/p", "/", "a=/b"), ()),
        (("print('''\n/x''')", "/two\nlines"), ()),
    ],
)
def test_arguments_that_name_what_is_not_there(arguments: tuple[str, ...], told: tuple[str, ...]) -> None:
    launch = StdioLaunch("server", arguments, mounts=(Mount("/data"),))
    assert unmounted_paths(launch) == told
    assert unmounted_paths(launch.without_sandbox()) == ()


def test_a_working_directory_has_to_be_mounted_as_well() -> None:
    launch = StdioLaunch("server", folder="/srv/work")
    assert unmounted_paths(launch) == ("/srv/work",)
    assert unmounted_paths(StdioLaunch("server", folder="/srv/work", mounts=(Mount("/srv", writable=True),))) == ()
    assert unmounted_paths(StdioLaunch("server", folder="/srv/work", profile=Profile.NONE)) == ()
