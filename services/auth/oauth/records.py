"""What is kept of OAuth: clients, codes, and what a person has allowed a client."""

from pydantic import Field

from shared.contracts.identity import Frozen, Person

CODE_SECONDS = 60
REPLAY_SECONDS = 600  # so long a code that comes again is known, and ends what it has given


class Client(Frozen):
    """A public client. `document`: its id is the address of a document that describes it.

    `refreshes`: it says that it uses refresh tokens.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    refreshes: bool
    document: bool = False


class Code(Frozen):
    """An authorization code, bound to all that was asked (RFC 6749 §4.1, RFC 7636, RFC 8707)."""

    client: Client
    redirect_uri: str
    resource: str
    challenge: str
    allowed: str
    expires: float


class Allowed(Frozen):
    """What one person has allowed one client: the family of all its tokens.

    `servers` None: every server of that person, later ones too. `used`: when it last got a token;
    None: never yet. `expires`: the end of all of it, whatever is refreshed.
    """

    id: str
    person: Person
    client: Client
    redirect_uri: str
    servers: tuple[str, ...] | None
    read_only: bool
    created: int
    expires: int
    used: int | None = None


class Refresh(Frozen):
    """A refresh token. Good once."""

    allowed: str = Field(min_length=1)
    client: str
    resource: str
