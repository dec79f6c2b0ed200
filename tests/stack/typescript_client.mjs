// The TypeScript SDK's client: `typescript_client.mjs URL MODE TOOL ARGUMENTS`, token in $TOKEN.
// Lists and calls, and prints as JSON what came of it.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, mode, tool, args] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.TOKEN}` };
const client = new Client(
  { name: "test", version: "1" },
  { versionNegotiation: { mode: mode === "legacy" ? mode : { pin: mode } } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: JSON.parse(args) });
const version = client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify({ version, tools: tools.map(({ name }) => name), result }));
