// The walk of the TypeScript SDK 1, in the version that is installed under the name that comes first.

import { headers, main, required } from "./walking.mjs";

const sdk = process.argv[2];
const { Client } = required(`${sdk}/client/index.js`);
const { StdioClientTransport } = required(`${sdk}/client/stdio.js`);
const { StreamableHTTPClientTransport } = required(`${sdk}/client/streamableHttp.js`);

await main(async (place) => {
  const client = new Client({ name: "a walk", version: "1" });
  const transport = place.url
    ? new StreamableHTTPClientTransport(new URL(place.url), { requestInit: { headers: headers(place) } })
    : new StdioClientTransport({ command: place.command[0], args: place.command.slice(1), env: place.environ });
  let spoken = null;
  const set = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    spoken = version;
    set?.(version);
  };
  await client.connect(transport);
  return { client, revision: () => spoken };
});
