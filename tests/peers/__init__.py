"""Processes that tests and the bench talk to: how they start and end, and a relay on its own."""
