"""Tests of services/auth, over real sockets, before the demo's provider and hostile ones."""
