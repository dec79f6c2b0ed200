"""Frozen models and the names on the wire. No I/O, no dependency on anything else of ours."""
