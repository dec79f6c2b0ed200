"""The official conformance package against the SDK's example server: direct, and through the relay.

    suite.py           runs the package, reads its verdicts, compares two runs
    example_server.py  the example server, and the one of the SDK before 2026-07-28; they are only
                       in the SDK's source archives, so these are fetched once, checked against the
                       hashes in the locks, and kept in `.cache/`
    unpack/            what unpacks that archive without running code of its build
    front.py           adds the token, which the package cannot send; lets one era through only;
                       asks several replicas in turn
    gaps.py            what does not cross from one era to the other yet
    older_client.py    a client written with the SDK before 2026-07-28
    client_through_relay.py    the SDK's client as the package starts it, with a relay behind it

Between a caller and a server of the same era the relay may not lose a single check.
"""
