"""The official conformance package against the SDK's example server: direct, and through the relay.

The relay may not lose a single check. The example server is only in the SDK's source archive, so
it is fetched once, checked against a hash, and kept in `.cache/`.
"""
