"""Records that outlive a request: a small key-value protocol, two implementations, sealed records.

`kv.py` is the protocol; `redis.py` and `memory.py` implement it and pass one test suite.
`sessions.py` and `tokens.py` seal and index what is kept in it, `audit.py` is the audit trail.
`pipe.py` and `link.py` are the short way to Redis, for what every request asks.
"""
