"""The relay: what may you call. Clients and console reach servers through it and not otherwise.

Public port (routed by the edge):

    POST GET DELETE  /mcp                      all of the caller's servers, names as `slug__name`
    POST GET DELETE  /mcp?servers=a,b          some of them; with one name: as below
    POST GET DELETE  /mcp/<slug>               one server, its own names, messages untouched
    GET OPTIONS      /.well-known/oauth-protected-resource[/mcp[/<slug>]]      RFC 9728
    GET              /mcp/.well-known/jwks.json                the keys behind `Strad-Identity`

Internal port:

    GET              /internal/v1/servers              the person's servers and their state
    POST             /internal/v1/servers/<slug>/rpc   one question to one server
    POST             /internal/v1/entitlements/refresh entitlements have changed; token of its own
    GET              /mcp/.well-known/jwks.json        the same key set, for servers beside us
    GET              /healthz /readyz /metrics

Owns in Redis: `ent:` grants, `limit:relay:` counters, `mcp:` sessions of clients, what these
subscribe to and are asked, `up:` sessions with servers and used assertions, `seen:tok:` last uses.
Reads: `tok:` `sess:` `seen:sess:`. Appends to `audit:`.

The way of a request: `handlers/mcp.py` finds the view (`views.py`, which asks `gate.py`, the one
way to a server) and the caller's version, and hands over to `handlers/modern.py` or
`handlers/legacy.py`. Where caller and server speak one version, `passage.py` carries bytes through.
Elsewhere the relay answers itself: `bridge.py` for one server, `merged/merge.py` for several.

    callers/       who calls, in which session; limits; what is read strictly
    entitlements/  who may use which server: sources, kept grants, what ends them
    servers/       speaking to servers of either version: `upstream.py` is the only HTTP to them
    messages/      JSON-RPC and event streams, as bytes and as values
    merged/        several servers as one: names, addresses, lists, cursors
    questions/     what servers ask back, its sealed state, and where answers find their call
    changes/       what a server tells of changes, and what ends an open stream
    audit/         one entry for each request
"""
