"""A hostile MCP server, so that one can watch a host hold.

    POST /mcp       streamable HTTP, both protocol eras
    GET  /healthz   "ok"

    open_escape_room    read only; its page ui://hostile/room tries to break out
    secret_model_only   visibility ["model"]: a page must not be able to call it
    write_note          no readOnlyHint: a host must not run it unasked
    ask_person          asks back (2026-07-28): for a colour, or for a password

The page is written by hand, without the App SDK, in `page/`: `room.html` is the shell, `bridge.js`
speaks JSON-RPC to the host, every `tries_*.js` holds attempts of one kind, and `run.js` makes them
and shows the table. `page.py` joins them into the one document that is served.

Every attempt ends as one of

    refused   the page saw it fail: an exception, a policy violation, or an error of the host
    ESCAPED   the page got what it must not get
    sent      the page cannot tell; whoever watches the network or the host's window can

A page's word about itself proves little. The tests of the host watch the sink (the address in the
page's query as `sink`), the console's routes and the bridge, and the page merely makes its noise.
Results are in `window.results`, on each row as `data-attempt` and `data-outcome`, and the count on
the document element as `data-done`, `data-refused`, `data-escaped` and `data-sent`.
"""
