"""A server that comes as a package of npm, and tells its version."""

from tests.simulators.registry import Registry, file, npm_package

WEATHER = """#!/usr/bin/env node
const answers = {
  initialize: () => ({ serverInfo: { name: "weather", version: "1" }, capabilities: { tools: {} },
                       protocolVersion: "2025-06-18" }),
  "tools/list": () => ({ tools: [{ name: "weather", inputSchema: { type: "object" },
                                   annotations: { readOnlyHint: true } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "VERSION" }] }),
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const reply = answers[method] ? { result: answers[method]() } : { error: { code: -32601, message: "unknown" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }) + "\\n");
});
"""


def publish_weather(there: Registry, version: str = "1.0.0") -> None:
    """Publish a version, which is the newest from then on."""
    program = file("package/weather.js", WEATHER.replace("VERSION", version), 0o755)
    there.add_npm("weather", npm_package("weather", program, version=version, bin="weather.js"), version)
