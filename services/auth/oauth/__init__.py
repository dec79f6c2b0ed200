"""OAuth 2.1 for MCP clients: auth is the authorization server, /mcp at the relay the resource.

Routes (public port)
    GET  /.well-known/oauth-authorization-server  public     RFC 8414; OPTIONS too
    GET  /oauth/authorize                         signed in  the page that asks (`consent`)
    POST /oauth/authorize                         signed in  the person's answer, and the code
    POST /oauth/token                             clients    a token for a code or refresh token;
                                                             or for a machine itself (`machines`)
    POST /oauth/revoke                            clients    RFC 7009
    POST /oauth/register                          clients    RFC 7591
    POST /auth/links                              machines   a sign-in link for a person
    GET  /auth/clients                            signed in  what a person has connected
    POST /auth/clients/{id}/end                   signed in  ends one

Owns in Redis: `oauth:`, `of:oauth:`; and writes access tokens into `tok:`, where the relay reads
them as it reads any token, with its person's grant, in one round trip.

A client is known by its registration or by the document at its id (`known`, `documents`). `server`
and `grants` are Authlib's classes, told what the store knows and asked what to store. `store` keeps
a family for each consent: a code or refresh token that comes twice ends its family.

Machines are in the file and not in the store. `proving` asks Authlib who it is, `assertions` reads
what a machine has signed, `tries` counts.
"""
