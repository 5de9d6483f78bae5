"""Generates docs/settings.md and the JSON Schema of the configuration file from the models alone.

The output is the same on every host. `python -m mcpguard.settings.document` writes the page to standard output.
"""

import sys
from typing import Any, Final

from pydantic.fields import FieldInfo

from mcpguard.settings.entries.servers import MOST_SECONDS, MOST_SERVERS
from mcpguard.settings.fields import Leaf, groups, leaves
from mcpguard.settings.model import Settings
from mcpguard.settings.phrases import default_phrase, kind_phrase

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

A setting is taken from the first of these places that has it:

1. the command line, such as `--listen 127.0.0.1:9090`
2. the environment, such as `MCPGUARD_LISTEN=127.0.0.1:9090`
3. the configuration file
4. the default

`mcpguard config show` prints every setting with its value and its source, `mcpguard config check [FILE]` reports all
errors, and `mcpguard config schema` prints the JSON Schema of the `mcpguard` part of the file.

An unknown setting is an error, wherever it is written, and the message suggests the nearest known one. **live**: a
change takes effect when the running guard gets SIGHUP. **restart**: it takes effect at the next start. **confirmed**:
the setting carries trust. A value that loosens protection takes effect only after it was confirmed with
`mcpguard config confirm` and another start; until then the value that was confirmed last stays in force. The first
start confirms the values that it finds. A value that tightens protection takes effect, and is confirmed, at the next
start.

## The file

One JSON file: the one named by `--config`, else by `MCPGUARD_CONFIG`, else `config.json` in the user's configuration
folder for mcpguard (on Linux `~/.config/mcpguard`) if it exists. Settings are below `mcpguard`, servers below
`mcpServers`, and nothing else in the file is read. The file of an MCP client is therefore valid, unless one of its
keys has the name of a setting or group of settings. Such a key at the top level, or one that is spelt like `mcpguard`,
is an error that says where it belongs: otherwise a limit would be ignored that somebody relies on.

```json
{EXAMPLE}```

The file is UTF-8 and at most 1 MiB. A key that appears twice in one object is an error, as are `NaN` and `Infinity`.

## Servers

`mcpServers`, or `servers`, holds an object with an entry for each server, or a list of entries that have an `id` or a
`name`. The name that agents see is the label in lower case, with `-` for other characters than letters, digits, `-`
and `_`; labels that lead to the same name are all refused. At most {MOST_SERVERS} servers are read.

- `command`, `args`: program and arguments, run without a shell; `command` may also be a list of both
- `env`, `cwd`: environment variables, besides the few that it needs to run at all; its working directory, an absolute
  path
- `framing`: how messages are delimited on its streams: `lines` (the default) or `headers`
- `url`, `headers`: URL of a server that runs already, and headers to send with every request
- `type`: `stdio`, `http` (also `streamable-http`) or `sse`; by default `stdio` for a `command`, `sse` for a `url` that
  ends in `/sse`, and `http` for every other
- `sandbox`, `mounts`: the sandbox of a command (`strict`, the default; `contained`, with network access; or `none`),
  and the folders that it sees, each an absolute path, followed by `:rw` for write access (see
  [operating](operating.md))
- `disabled`, `enabled`: whether the server is disabled
- `timeout`: time limit of a call in seconds, at most {MOST_SECONDS}
- `era`: `auto` (the default), `legacy` or `modern`: the era of the protocol to speak

Synonyms are `transport` and `protocol` (`type`), `httpUrl` and `serverUrl` (`url`), and `working_dir` (`cwd`). Every
other key is ignored with a notice. So are keys that would grant trust, such as `autoApprove`, `trust` or
`quarantined`: nothing in a file approves a server.

Values of `env` and `headers` may hold references, which are resolved when the server is started and never shown:
`${{env:NAME}}` is a variable of mcpguard's own environment, `${{file:/path}}` the content of a file (UTF-8, at most 64
KiB, one newline at its end ignored) below a folder that `upstreams.secret_folders` names, or below the server's own
folder, `secrets/` and its name in the data directory, which no other server can name. In `args` a file may be
referred to as well, as in `--dsn=postgres://app:${{file:/path}}@db/orders`, but not where an argument decides what code
runs; a secret that is written out there, or in a URL, is refused. References stand nowhere else, and the forms of other
programs, such as `${{NAME}}` or `${{input:name}}`, are refused with what to write instead.

An invalid entry leaves out that one server. `mcpguard config check` reports all errors, and `mcpguard config show`
lists the servers with the names of their variables and headers, but without values, arguments and the query of a URL.

## The environment

The name of a variable is `MCPGUARD_` and the key in capitals, with `__` for a dot: `MCPGUARD_STORE__BUSY_TIMEOUT`. A
list is written with commas. Every other name that begins with `MCPGUARD_` is an error, except for `MCPGUARD_CONFIG`,
`MCPGUARD_TOKEN` and `MCPGUARD_TOKEN_FILE`, which are not settings, and the names that Kubernetes sets for a service
called `mcpguard`.

A secret may also be read from a file: `MCPGUARD_STORE__URL_FILE=/run/secrets/database` takes the content of that file
(UTF-8, at most 64 KiB, one newline at its end ignored). Setting both is an error. Secrets are never printed.
"""

_HEAD: Final = (
    "| key | environment | type | default | change | meaning |",
    "|---|---|---|---|---|---|",
)


def markdown() -> str:
    """Return the text of docs/settings.md."""
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
    cells = (f"`{leaf.key}`", names, kind_phrase(leaf), default_phrase(leaf), applies, leaf.field.description or "")
    return "| " + " | ".join(cell.replace("\n", " ").replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.stdout.write(markdown())
