"""What strad costs: `make bench`, written into docs/performance.md. Gates nothing.

upstreams.py   the two servers that are called: the SDK's, and one whose answer is constant
forwarder.py   the least that an HTTP hop can do, to compare the relay with
caller.py      raw MCP callers of both eras, and how long their calls take
usage.py       processor time and memory of another process
paths.py       upstreams, forwarder and relay, started; the ways from a caller to a server
rounds.py      every cell in every round, the ways taken in turn; medians
startup.py     how long the whole stack takes to be ready, and its memory
pages.py       what it takes to open a page in the console, and from bare_host.py
bare_host.py   the same page from a static server, under a host page that does the least
identity.py    what it takes to know who asks (`python -m tests.bench.identity`)
people.py      what a large strad.yaml costs, and its grants in Redis
sessions.py    what live sessions cost: memory of the relay and of Redis, a call among many
streams.py     what streams cost on which nothing is said, and how soon all hear of a change
peers/         other relays beside this one
report.py      the parts of the document, and the table of calls
tables.py      the tables of pages, people, sessions and streams
"""
