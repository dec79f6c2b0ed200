"""`strad`, the operators' command; `__main__.py` has the list of what it does."""
