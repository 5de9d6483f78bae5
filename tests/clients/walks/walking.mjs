// What the walks in JavaScript share; walking.py says what a walk is.

import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

/** What a package has, from the folder that the clients are installed in. */
export const required = createRequire(`${process.cwd()}/`);

export const headers = (place) => ({ authorization: `Bearer ${place.token}` });

/** All that is to be seen at one place. */
async function walked(client, place, revision) {
  const said = { revision: revision(), tools: (await client.listTools()).tools.map((tool) => tool.name), calls: [] };
  for (const call of place.calls) said.calls.push(await called(client, call));
  if (place.resource) said.resource = (await client.readResource({ uri: place.resource })).contents[0].text;
  if (place.prompt) {
    const prompt = await client.getPrompt({ name: place.prompt, arguments: { name: "Ada" } });
    said.prompt = prompt.messages[0].content.text;
  }
  return said;
}

async function called(client, { tool, arguments: given }) {
  try {
    const result = await client.callTool({ name: tool, arguments: given });
    const texts = result.content.filter((item) => item.type === "text").map((item) => item.text);
    const refusal = result._meta?.["mcpguard/refusal"] ?? null;
    return { failed: result.isError === true, text: texts.join("\n"), refusal };
  } catch (error) {
    return { failed: true, text: `raised: ${error.message}`, refusal: null };
  }
}

/** `connected` gives a client that is connected to a place, and how to ask which revision it speaks there. */
export async function main(connected) {
  const seen = {};
  for (const place of JSON.parse(await text(process.stdin))) {
    const { client, revision } = await connected(place);
    try {
      seen[place.name] = await walked(client, place, revision);
    } finally {
      await client.close();
    }
  }
  process.stdout.write(JSON.stringify(seen));
}
