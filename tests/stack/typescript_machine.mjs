// The TypeScript SDK's client as a machine: `typescript_machine.mjs URL ISSUER CLIENT_ID TOOL`.
// Proof in $SECRET, or in $KEY (PEM) with $ALG. Prints as JSON what came of each step.
import { Client, ClientCredentialsProvider, PrivateKeyJwtProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, expectedIssuer, clientId, name] = process.argv.slice(2);
const { SECRET, KEY, ALG } = process.env;
const known = { clientId, expectedIssuer };
const authProvider = SECRET
  ? new ClientCredentialsProvider({ ...known, clientSecret: SECRET })
  : new PrivateKeyJwtProvider({ ...known, privateKey: KEY, algorithm: ALG });
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
const { tools } = await client.listTools();
const call = async () => (await client.callTool({ name, arguments: { query: "" } })).structuredContent.toys.length;
const called = await call();
const first = authProvider.tokens();
authProvider.saveTokens({ ...first, access_token: `${first.access_token.slice(0, -1)}!` });
const again = await call();
const renewed = authProvider.tokens().access_token !== first.access_token;
console.log(JSON.stringify({ tools: tools.length, called, again, renewed, refresh: "refresh_token" in first }));
process.exit(0);
