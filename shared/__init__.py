"""What the services share: contracts first, then decisions and keys, stores, web, the look.

Nothing here imports a service. The direction is held by import-linter (see pyproject.toml):
contracts <- decide, keys <- stores <- web.
"""
