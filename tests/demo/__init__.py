"""Tests of the demo: the local OpenID provider and the two demo MCP servers."""
