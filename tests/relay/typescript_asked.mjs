// The TypeScript SDK's client, asked back: `typescript_asked.mjs URL MODE PREFIX`, token in $TOKEN.
// Calls tools that ask, and prints as JSON what came of each.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, mode, prefix] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.TOKEN}` };
const client = new Client(
  { name: "test", version: "1" },
  {
    capabilities: { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} },
    versionNegotiation: { mode: mode === "legacy" ? mode : { pin: mode } },
  },
);
client.setRequestHandler("elicitation/create", ({ params }) => {
  if (params.mode === "url") return { action: "accept" };
  const [field] = params.requestedSchema.required;
  return { action: "accept", content: { [field]: `my ${field}` } };
});
client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///home" }] }));
client.setRequestHandler("sampling/createMessage", () => ({
  role: "assistant",
  model: "m",
  content: { type: "text", text: "blue" },
}));
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const said = {};
for (const tool of ["order", "dress", "wait", "forget", "think", "look"]) {
  const result = await client.callTool({ name: `${prefix}${tool}`, arguments: {} });
  said[tool] = result.content[0].text;
}
await client.close();
console.log(JSON.stringify(said));
