"""A small local OpenID provider, so that the demo and the tests need no account anywhere.

It signs anybody in as one of a fixed list of demo people, without a password. It is therefore
worth nothing outside one machine, and refuses to serve an issuer that is not a loopback name.

    GET  /                                   what this is
    GET  /.well-known/openid-configuration   discovery (OpenID Connect Discovery 1.0)
    GET  /authorize                          the page with the demo people
    POST /authorize                          a choice, or Cancel: 303 back to the client
    POST /token                              code for tokens; PKCE S256 is enforced
    GET  /jwks                               the RS256 key
    GET  /userinfo                           the claims of the ID token, for the access token
    POST /faults                             only with FAULTS=1: break the next sign-in on purpose
    GET  /healthz                            "ok"

A sign-in: /authorize checks the request and shows the people; the choice becomes a code that is
used once, within 60 s, by the same client, with the same redirect and the right PKCE verifier;
/token answers with an ID token that carries the nonce. `state`, `nonce` and `code_challenge` are
required, which the standard leaves optional: a client that forgets one should find out here.

Start it with `python -m demo.provider`; `settings.py` lists the environment it reads.
"""
