"""App servers that others published: listed, opened, drawn and called through strad.

They are npm packages of the MCP Apps project, at the versions that package.json pins. None of them
knows anything of strad, none marks a tool as read-only, and none speaks the newest protocol.
"""
