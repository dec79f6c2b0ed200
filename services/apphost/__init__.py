"""apphost: how a server's page is shown. The console, its frames, and the bridge's routes.

Routes (public port)
    GET  /                              signed in  the person's servers and their pages
    GET  /apps/{slug}                   signed in  the host page; another site's link asks first
    GET  /apps/{slug}/frame             signed in  a server's page, sandboxed; never a redirect
    POST /apps/{slug}/tools/call        signed in  one call of the page, or of the host for it
    POST /apps/{slug}/tools/list        signed in  the tools that the page may call
    POST /apps/{slug}/resources/list    signed in  what this server offers to read
    POST /apps/{slug}/resources/read    signed in  one of these
    GET  /static/{name}                 public     stylesheet, mark, copy button
    GET  /static/host/{version}/{name}  public     the host page's own modules, as written

Owns in Redis: `frame:` (what a page asks: how much), `seen:sess:` (when a session was last used).

A request passes host check, guard and identity (`shared.web.app`). What a person may use is decided
by the relay alone: every question goes there with a signed assertion (`relay_client`), and unknown
and not entitled come back as the same 404. `discovery` finds a server's pages, `page` checks what
a server sent, `csp` and `document` wrap it. The browser's side is `web/`.
"""
