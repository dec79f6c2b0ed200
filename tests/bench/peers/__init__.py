"""Other relays beside this one: the same server, the same caller, in turn. `--only peers`.

installed.py            each in an environment of its own, from a lock of its own
fastmcp_proxy.py        FastMCP's proxy: the program
start_fastmcp.py        ... started, with a client for each request or one for all
start_contextforge.py   ContextForge, started and told of the server: as it comes, and tuned
peer.py                 one of them, running
beside.py               all of them and the relay in every round; what is left out, and why
table.py                the tables
"""
