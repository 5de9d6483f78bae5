#!/bin/sh
# From a checkout to a guarded call of a real server from npm, and to the proof of what was recorded of it. Six commands,
# each shown with the seconds that it took. Ends with 0 only if the server answered the call and the audit log is whole.
#
#     docs/walk.sh
#
# The guard has a data directory and a port of its own for that, and is stopped at the end: nothing of yours is touched.
# It takes what `make run` takes, npx (Node.js), and on Linux bubblewrap. WALK_PACKAGE names another version to install.
set -u
cd "$(dirname "$0")/.." || exit 2

package=${WALK_PACKAGE:-@modelcontextprotocol/server-everything}
folder=$(mktemp -d) || exit 2
guard=
done=0

for name in $(env | sed -n 's/^\(MCPGUARD_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
export MCPGUARD_DATA_DIR="$folder/data" MCPGUARD_LISTEN=127.0.0.1:0 XDG_CONFIG_HOME="$folder/config"

stop() {
    trap - EXIT INT TERM
    if [ -n "$guard" ]; then
        kill "$guard" 2>/dev/null
        wait "$guard" 2>/dev/null
    fi
    if [ "$done" = 6 ]; then
        rm -rf "$folder"
        printf '\nThe server answered through the guard, and the audit log is whole: 6 commands, %s s.\n' "$(($(date +%s) - started))"
        exit 0
    fi
    printf '\nNot finished: command %s of 6 failed. What there is was kept in %s (guard.log, data).\n' "$((done + 1))" "$folder" >&2
    exit 1
}

show() {
    printf '\n%s. $ %s\n' "$((done + 1))" "$1"
    began=$(date +%s)
}

took() {
    printf '   %s s\n' "$(($(date +%s) - began))"
    done=$((done + 1))
}

# What is shown is what is run, with what it says indented.
run() {
    show "$1"
    (eval "$1") >"$folder/said" 2>&1 </dev/null
    code=$?
    sed 's/^/   /' "$folder/said"
    [ "$code" = 0 ] || stop
}

command -v npx >/dev/null || {
    echo "walk: there is no npx, with which the server comes from npm; install Node.js (Debian: apt install npm)" >&2
    rm -rf "$folder"
    exit 2
}
started=$(date +%s)
trap stop EXIT INT TERM

show "make run &"
${MAKE:-make} run >"$folder/guard.log" 2>&1 </dev/null &
guard=$!
until grep -q '^Stop it with ' "$folder/guard.log"; do
    kill -0 "$guard" 2>/dev/null || {
        sed 's/^/   /' "$folder/guard.log"
        guard=
        stop
    }
    sleep 0.2
done
sed -n 's/^  \(console\|data directory\|sandbox\) /   &/p' "$folder/guard.log"
took

run ".venv/bin/mcpguard server add everything -- npx -y $package"
took
run ".venv/bin/mcpguard server inspect everything"
took
run ".venv/bin/mcpguard server approve everything --only echo --effect echo=read --reason 'read what it says of itself'"
took
run ".venv/bin/mcpguard call read everything:echo --args '{\"message\": \"hello\"}' --reason 'to see whether it answers'"
grep -q '^Echo: hello$' "$folder/said" || stop
took

checkpoint=$folder/checkpoint.json
run ".venv/bin/mcpguard audit checkpoint > $checkpoint && .venv/bin/mcpguard audit verify --checkpoint $checkpoint"
took
