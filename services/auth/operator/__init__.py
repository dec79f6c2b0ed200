"""What an operator does about people on the command line, with auth's own keys.

Each command is written into the audit trail before it takes effect, by `operator`.
"""
