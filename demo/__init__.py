"""What `make run` and the tests show: two MCP servers with pages, and a local OpenID provider.

Nothing here is imported by the product, and provider and servers import nothing of it: those that
strad meets in the field share no code with it either.

    provider/   a sign-in page with two demo people
    catalog/    a toy shop whose page is built on the official App SDK
    hostile/    a server whose page tries to break out and shows how that went
    serve.py    how the two MCP servers listen and end
    run/        `make run`: all of it and the product itself, as processes of this machine
    strad.yaml  the configuration of that, and of the demo in containers

Each starts alone, as `python -m demo.provider`, `demo.catalog` or `demo.hostile`.
"""
