// The TypeScript SDK's client, which knows nothing but an address: `typescript_oauth.mjs URL TOOL [DOCUMENT]`.
// Says `OPEN <address>` when a person is needed, and prints as JSON what came of each step.
import { createServer } from "node:http";
import { once } from "node:events";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";

const [address, tool, document] = process.argv.slice(2);
const url = new URL(address);
const say = (step, value) => console.log(JSON.stringify({ step, value }));

let arrived;
const listener = createServer((request, response) => {
  response.end("You can close this page.");
  arrived?.(new URL(request.url, "http://127.0.0.1").searchParams);
});
listener.listen(0, "127.0.0.1");
await once(listener, "listening");
const redirect = `http://127.0.0.1:${listener.address().port}/callback`;

const kept = {};
let answer;
const provider = {
  redirectUrl: redirect,
  clientMetadataUrl: document,
  clientMetadata: {
    client_name: "TypeScript client",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (value) => { kept.client = value; },
  tokens: () => kept.tokens,
  saveTokens: (value) => { kept.tokens = value; },
  saveCodeVerifier: (value) => { kept.verifier = value; },
  codeVerifier: () => kept.verifier,
  invalidateCredentials: () => { kept.tokens = undefined; },
  redirectToAuthorization: (where) => {
    answer = new Promise((resolve) => { arrived = resolve; });
    console.log(`OPEN ${where}`);
  },
};

const connect = async () => {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(await answer);
    return undefined;
  }
};
const call = async (client) => (await client.callTool({ name: tool, arguments: { query: "" } })).structuredContent;

let client = await connect();
say("before", client === undefined);
client = await connect();
say("called", (await call(client)).toys.length);

const first = kept.tokens;
kept.tokens = { ...first, access_token: `${first.access_token.slice(0, -1)}!` };
say("refreshed", (await call(client)).toys.length);
say("rotated", kept.tokens.refresh_token !== first.refresh_token);

console.log("END IT");
process.stdin.resume();
await once(process.stdin, "data");
try {
  await call(client);
  say("ended", "it still works");
} catch (error) {
  say("ended", error instanceof UnauthorizedError);
}
const refused = await answer;
say("refused", refused.get("error"));
process.exit(0);
