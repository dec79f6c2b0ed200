"""How much one person, and how much everybody together, may ask of servers."""

from pydantic import Field

from shared.contracts.fields import Strict


class LimitRules(Strict):
    """Counted in Redis, for all replicas together. Pages and clients of a person count as one."""

    person: int = Field(1200, ge=1, description="requests a minute of one person")
    server: int = Field(
        12_000, ge=1, description="requests a minute to one server, of all people together"
    )
    open: int = Field(
        500,
        ge=1,
        description="streams and requests of one person, open at a time at one replica",
    )
    sessions: int = Field(
        100,
        ge=1,
        le=1000,
        description="MCP sessions of one person (2025-11-25 and before) that are open at a time;"
        " one more ends the one that was not used for longest",
    )
