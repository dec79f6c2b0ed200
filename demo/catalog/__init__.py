"""A toy shop as an MCP server with its own page, as a team would write one to put behind strad.

    POST /mcp       streamable HTTP, both protocol eras; stateless, JSON answers
    GET  /healthz   "ok"

    show_catalog    read only; the page ui://catalog/view-v1 shows its result
    list_toys       read only; the page calls it to search and to refresh
    set_aside       holds one toy for the caller for half an hour; writes, so no readOnlyHint

Who calls is known only through the identity that strad's relay signs (`identity.py`). The account
decides the language of names, prices and dates; arguments, browser and Accept-Language do not. No
identity means an unknown caller: English, and nothing is set aside. A wrong identity is refused.

The page's sources are in `page/`; `view.html` is the bundle that is served, committed so that
nothing but Python is needed to run this. `node demo/catalog/page/bundle.mjs` makes it again.
"""
