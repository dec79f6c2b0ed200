// npm's oidc-provider: `oidc_provider.mjs PORT REDIRECT_URI LOGOUT_URI`. Whoever signs in as NAME is
// NAME@strad.test, with that address verified; consent is given beforehand.
import Provider from "oidc-provider";

const [port, redirect, logout] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "strad-demo",
      client_secret: "demo-secret",
      redirect_uris: [redirect],
      backchannel_logout_uri: logout,
      backchannel_logout_session_required: true,
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["only for tests"] },
  // its own description leaves this out; it knows no select_account
  discovery: { prompt_values_supported: ["none", "login", "consent"] },
  features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
  // its own refuses addresses of this machine, where strad is in these tests
  fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: id, email: `${id}@strad.test`, email_verified: true }),
  }),
  loadExistingGrant: async (context) => {
    const { client, session } = context.oidc;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope("openid email profile");
    await grant.save();
    return grant;
  },
});
provider.listen(Number(port), "127.0.0.1");
