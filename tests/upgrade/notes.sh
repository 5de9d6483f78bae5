#!/bin/sh
# An MCP server in nothing but a shell, so that it is the same program on every machine: it reads, saves and shares notes.
tools='[{"name":"read_note","description":"Read one note.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}},"annotations":{"readOnlyHint":true}},
{"name":"save_note","description":"Save one note.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},"text":{"type":"string"}}},"annotations":{"destructiveHint":false}},
{"name":"share_note","description":"Share one note.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}},"annotations":{"destructiveHint":false}}]'
tools=$(printf %s "$tools" | tr -d '\n')

say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
text() { say "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }

while IFS= read -r line; do
    case $line in *'"id":'*) ;; *) continue ;; esac
    id=$(printf %s "$line" | sed 's/.*"id": *\([^,}]*\).*/\1/')
    case $line in
        *'"method":"initialize"'*)
            say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
        *'"method":"ping"'*) say '"result":{}' ;;
        *'"method":"tools/list"'*) say "\"result\":{\"tools\":$tools}" ;;
        *'"name":"read_note"'*) text 'Milk, bread, and a call to Ada.' ;;
        *'"name":"save_note"'*) text 'It is saved.' ;;
        *'"name":"share_note"'*) text 'It is shared.' ;;
        *) say '"error":{"code":-32601,"message":"Method not found"}' ;;
    esac
done
