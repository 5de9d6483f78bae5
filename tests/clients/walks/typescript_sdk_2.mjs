// The walk of the TypeScript SDK 2.

import { headers, main, required } from "./walking.mjs";

const { Client, StreamableHTTPClientTransport } = required("client-2");
const { StdioClientTransport } = required("client-2/stdio");

await main(async (place) => {
  const client = new Client({ name: "a walk", version: "1" }, { versionNegotiation: { mode: place.mode } });
  const transport = place.url
    ? new StreamableHTTPClientTransport(new URL(place.url), { requestInit: { headers: headers(place) } })
    : new StdioClientTransport({ command: place.command[0], args: place.command.slice(1), env: place.environ });
  await client.connect(transport);
  return { client, revision: () => client.getNegotiatedProtocolVersion() };
});
