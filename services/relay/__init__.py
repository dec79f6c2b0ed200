"""The relay: what may you call. Clients and console reach servers through it and not otherwise.

Public port (routed by the edge):

    POST GET DELETE  /mcp                      all of the caller's servers, names as `slug__name`
    POST GET DELETE  /mcp?servers=a,b          some of them; with one name: as below
    POST GET DELETE  /mcp/<slug>               one server, its own names, messages untouched
    GET              /.well-known/oauth-protected-resource[/mcp[/<slug>]]      RFC 9728
    GET              /mcp/.well-known/jwks.json                the key behind `Strad-Identity`

Internal port:

    GET              /internal/v1/servers              the person's servers and their state
    POST             /internal/v1/servers/<slug>/rpc   one question to one server
    POST             /internal/v1/entitlements/refresh entitlements have changed; token of its own
    GET              /mcp/.well-known/jwks.json        the same key set, for servers beside us
    GET              /healthz /readyz /metrics

Owns in Redis: `ent:` grants, `limit:relay:` counters, `mcp:` sessions of clients and questions to
them, `up:` sessions with servers and used assertions, `seen:tok:` last uses. Reads: `tok:` `sess:`
`seen:sess:`. Appends to `audit:`.

A request is counted (`limits.py`) and stands in the audit trail (`audit.py`). Its way:
`handlers/mcp.py` finds the view (`views.py`, which asks `gate.py`, the one way to a server) and the
caller's version (`inbound.py`), and hands over to `handlers/modern.py` or `handlers/legacy.py`.
Where caller and server speak one version, `passage.py` carries bytes through
`upstream.py`. Elsewhere the relay answers itself: `bridge.py` for one server, `merge.py` for
several, both by `ask.py`, which speaks to either kind (`modern.py`; `pool.py` over `legacy.py`).
The merged view finds a server by `where.py` and `names.py`, lists by `merged_lists.py`, presents
itself by `introduction.py`, and shows what comes back by `exposed.py`.
What a server tells of changes goes by `listener.py` and `telling.py`.
What a server asks back goes to the caller with its state sealed (`states.py`, and `amend.py` where
bytes are carried), or becomes requests to a caller of an older version (`interview.py`), whose
answers find it by `rendezvous.py`. What a server says of a call meanwhile goes by `progress.py` to
the one caller who asked for it. A stream stays open for as long as its right lasts (`alive.py`;
`news.py` hears what has ended).
"""
