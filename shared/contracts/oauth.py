"""OAuth for MCP clients: how long what it gives out lasts, and how clients become known."""

from pydantic import Field

from shared.contracts.fields import Seconds, Strict
from shared.contracts.machines import Machine


class OAuthRules(Strict):
    """auth is the authorization server, /mcp the resource."""

    access: Seconds = Field(600, le=600, description="how long an access token lasts")
    refresh: Seconds = Field(
        30 * 86400,
        description="a client that asks for nothing for so long has to be connected again; after"
        " `tokens.longest` it has to in any case",
    )
    registration: bool = Field(True, description="clients may register themselves (RFC 7591)")
    documents: bool = Field(
        True, description="a client's id may be the https address of a document that describes it"
    )
    machines: tuple[Machine, ...] = Field(
        (), description="programs that act for themselves: the client credentials grant"
    )

    def machine(self, client_id: str) -> Machine | None:
        """The machine with this id."""
        return next((one for one in self.machines if one.client_id == client_id), None)
