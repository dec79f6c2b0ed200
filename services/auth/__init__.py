"""auth: who are you. Sign-in with an OpenID provider, sessions, personal access tokens.

Routes (public port)
    GET  /auth/sign-in             public     one button; whoever is signed in already goes on
    GET  /auth/start               public     seals an attempt into a cookie, 303 to the provider
    GET  /auth/callback            public     the provider's answer: a session, or why not
    GET  /auth/link                public     a sign-in link: takes its token out of the address
    POST /auth/link                public     signs in by it, to look only
    POST /auth/sign-out            public     ends this browser's session
    GET  /auth/signed-out          public     the page after that
    POST /auth/back-channel-logout provider   ends sessions of who signed out there
    GET  /auth/tokens              signed in  a person's tokens and the form for a new one
    POST /auth/tokens              signed in  makes one and shows it, this once
    POST /auth/tokens/{id}/revoke  signed in  ends one
    GET  /auth/sessions            signed in  where a person is signed in
    POST /auth/sessions/{id}/end   signed in  ends one of them
    POST /auth/sessions/end-all    signed in  signs out everywhere
    GET  /auth/people              admin      the form for the next one
    POST /auth/people/end          admin      ends all that a person holds
    GET  /auth/static/{name}       public     stylesheet, mark, copy button

Internal port: health, readiness, metrics.

Owns in Redis: `sess:` (sessions), `tok:` (tokens), `of:` (whose they are), `tx:` (used attempts),
`who:` and `known:` (whose an address is), `link:` (sign-in links).

OAuth for MCP clients is in `oauth`, with its own table.

A sign-in: `start` gives the browser an attempt (`attempts`: state, nonce, PKCE verifier, where to
go) sealed in a cookie. `callback` takes it, which works once, and hands the answer to `code_flow`:
`code_exchange` reads it and redeems the code, `id_token` checks what came, `person` applies the
operator's rules. `provider` knows the provider by its own description, fetched when the first
person signs in and kept (`kept`), so that auth starts while the provider is down.
Every way to fail has a name and a page (`refusals`).
"""
