"""docs/settings.md and the JSON Schema of the file, both made from the models alone.

What is made is the same on every machine. `python -m mcpguard.settings.document` writes the page to standard output.
"""

import sys
from typing import Any, Final

from pydantic.fields import FieldInfo

from mcpguard.settings.entries.servers import MOST_SECONDS, MOST_SERVERS
from mcpguard.settings.fields import Leaf, groups, leaves
from mcpguard.settings.model import Settings
from mcpguard.settings.phrases import default, kind

EXAMPLE: Final = """\
{
  "mcpServers": {
    "github": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"],
                "env": { "GITHUB_TOKEN": "${env:GITHUB_TOKEN}" } },
    "wiki": { "type": "http", "url": "https://wiki.example/mcp",
              "headers": { "Authorization": "Bearer ${file:/run/secrets/wiki}" }, "timeout": 30 }
  },
  "mcpguard": {
    "listen": "127.0.0.1:9090",
    "log": { "level": "debug" }
  }
}
"""

_INTRODUCTION: Final = f"""\
<!-- Generated from mcpguard/settings/model.py by `make docs`. Edit the model, not this page. -->

# Settings

A setting is taken from the first of these places that gives it:

1. the command line, such as `--listen 127.0.0.1:9090`
2. the environment, such as `MCPGUARD_LISTEN=127.0.0.1:9090`
3. the configuration file
4. the default

`mcpguard config show` prints every setting with its value and the place it came from, `mcpguard config check [FILE]`
reports everything that is wrong, and `mcpguard config schema` prints the JSON Schema of our part of the file.

A setting that does not exist is an error that names the nearest one that does, wherever it was written. **live** means
that a change takes effect when the running guard gets SIGHUP, **restart** that it takes effect at the next start.
**confirmed** means that the setting carries trust: a value that lets more happen than the one that was confirmed last
takes effect only when it was confirmed, by `mcpguard config confirm` and another start. The first start confirms what
it finds, and what lets less happen takes effect and is confirmed at the next start.

## The file

One JSON file: the one named by `--config`, else by `MCPGUARD_CONFIG`, else `config.json` in the user's configuration
folder for mcpguard (on Linux `~/.config/mcpguard`) if it is there. Settings stand below `mcpguard`, servers below
`mcpServers`, and nothing else in the file is read; an MCP client's own file is therefore a valid one, as long as none
of its keys has the name of one of our settings or groups of settings. Such a key at the top, or one that is spelt like
`mcpguard`, is an error that says where it belongs: it would be ignored where somebody relies on it.

```json
{EXAMPLE}```

The file is UTF-8 and at most 1 MiB. A key that appears twice in one object is an error, as are `NaN` and `Infinity`.

## Servers

`mcpServers`, or `servers`, holds an object with an entry for each server, or a list of entries that have an `id` or a
`name`. The name that agents see is the label in lower case, with `-` for other characters than letters, digits, `-`
and `_`; labels that become the same name are all refused. At most {MOST_SERVERS} servers are read.

- `command`, `args`: program and arguments, which no shell reads; `command` may also be a list of both
- `env`, `cwd`: variables for it, besides the few that it needs to run at all; its working directory, a whole path
- `framing`: how messages are told apart on its streams: `lines` (the default) or `headers`
- `url`, `headers`: where a server listens that runs already, and what to send with every request
- `type`: `stdio`, `http` (also `streamable-http`) or `sse`; by default `stdio` for a `command`, `sse` for a `url` that
  ends in `/sse`, and `http` for every other
- `sandbox`, `mounts`: what confines a command (`strict`, the default; `contained`, with network; or `none`), and
  the folders that it sees, each a whole path, with `:rw` behind it where it may write (see [operating](operating.md))
- `disabled`, `enabled`: whether it is left alone
- `timeout`: seconds that a call may take, at most {MOST_SECONDS}
- `era`: `auto` (the default), `legacy` or `modern`: the era of the protocol to speak

Further names for the same are `transport` and `protocol` (`type`), `httpUrl` and `serverUrl` (`url`), and
`working_dir` (`cwd`). Every other key is ignored with a notice. So is every key that grants trust, such as
`autoApprove`, `trust` or `quarantined`: nothing in a file approves a server.

Values of `env` and `headers` may hold references, which are resolved when the server is started and never shown:
`${{env:NAME}}` is a variable of mcpguard's own environment, `${{file:/path}}` the content of a file (UTF-8, at most 64
KiB, one newline at its end ignored) below a folder that `upstreams.secret_folders` names, or below the server's own
folder, `secrets/` and its name in the data directory, which no other server can name. In `args` a file may be
referred to as well, as in `--dsn=postgres://app:${{file:/path}}@db/orders`, but not where an argument decides what code
runs; a secret that is written out there, or in a URL, is refused. References stand nowhere else, and the forms of other
programs, such as `${{NAME}}` or `${{input:name}}`, are refused with what to write instead.

An entry that is wrong keeps out that one server. `mcpguard config check` names everything that is wrong, and `mcpguard
config show` lists the servers with the names of their variables and headers, but without values, arguments and the
query of a URL.

## The environment

The name is `MCPGUARD_` and the key in capitals, with `__` where the key has a dot: `MCPGUARD_STORE__BUSY_TIMEOUT`. A
list is written with commas. Every other name that begins with `MCPGUARD_` is an error, but for `MCPGUARD_CONFIG`,
`MCPGUARD_TOKEN` and `MCPGUARD_TOKEN_FILE`, which are not settings, and the names that Kubernetes makes for a service
called `mcpguard`.

A secret may also be read from a file: `MCPGUARD_STORE__URL_FILE=/run/secrets/database` takes the content of that file
(UTF-8, at most 64 KiB, one newline at its end ignored). Giving both forms is an error. Secrets are never printed.
"""

_HEAD: Final = (
    "| key | environment | type | default | change | meaning |",
    "|---|---|---|---|---|---|",
)


def markdown() -> str:
    """Return docs/settings.md, whole."""
    known = leaves(Settings)
    sections = [_section("General", None, [leaf for key, leaf in known.items() if "." not in key])]
    for name, field in groups(Settings).items():
        sections.append(
            _section(f"`{name}`", field, [leaf for key, leaf in known.items() if key.startswith(f"{name}.")])
        )
    return "\n".join([_INTRODUCTION, *sections])


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file's `mcpguard` object."""
    schema = Settings.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def _section(title: str, group: FieldInfo | None, members: list[Leaf]) -> str:
    about = [group.description or "", ""] if group else []
    return "\n".join([f"## {title}", "", *about, *_HEAD, *map(_row, members), ""])


def _row(leaf: Leaf) -> str:
    names = f"`{leaf.env}`" + (f" or `{leaf.env_file}`" if leaf.env_file else "")
    applies = ", ".join((*leaf.applies, "confirmed") if leaf.trust else leaf.applies)
    cells = (f"`{leaf.key}`", names, kind(leaf), default(leaf), applies, leaf.field.description or "")
    return "| " + " | ".join(cell.replace("\n", " ").replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(markdown())
