"""Stands in for the build backend of that name, so that fetching an archive runs no foreign code.

The installer checks the archive's hash, unpacks it, and asks "hatchling" to build. This one puts
the example server, as it is in the archive, into the wheel.
"""
