"""strad as a whole: real services, a real Redis server, the real edge, one process tree."""
