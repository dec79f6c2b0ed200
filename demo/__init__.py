"""What `make run` and the tests show: two MCP servers with pages, and a local OpenID provider.

Nothing here is imported by the product, and nothing here imports it: a server or a provider that
strad meets in the field shares no code with it either.

    provider/   a sign-in page with two demo people
    catalog/    a toy shop whose page is built on the official App SDK
    hostile/    a server whose page tries to break out and shows how that went
    serve.py    how the two MCP servers listen and end

Each starts alone, as `python -m demo.provider`, `demo.catalog` or `demo.hostile`.
"""
