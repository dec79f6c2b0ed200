"""A machine, as far as OAuth goes, and what it can be told to do wrong."""

import base64
from dataclasses import dataclass, field
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey

from shared import ids
from shared.stores.tokens import TokenReader
from tests.auth.conftest import Auth, StartBoth
from tests.auth.oauth_client import Answered, OAuthClient

SECRET = "s3cret-of-the-report-machine-0123456789"
VARIABLES = {"REPORT_SECRET": SECRET, "DESK_SECRET": SECRET[::-1]}
EC_KEY = ECKey.generate_key("P-256", {"kid": "ec"})
RSA_KEY = RSAKey.generate_key(2048, {"kid": "rsa"})
JWKS = {"keys": [EC_KEY.as_dict(private=False), RSA_KEY.as_dict(private=False)]}
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

REPORT = {
    "client_id": "report",
    "name": "Nightly report",
    "secret": {"env": "REPORT_SECRET"},
    "servers": ["toys", "news"],
    "read_only": True,
}
ROBOT = {"client_id": "robot", "name": "Build robot", "jwks": JWKS, "servers": ["toys"]}
DESK = {
    "client_id": "desk",
    "name": "Help desk",
    "secret": {"env": "DESK_SECRET"},
    "login_links": True,
}


async def with_machines(start_both: StartBoth, *machines: dict[str, Any], **more: Any) -> Auth:
    """auth that knows these machines, or all three."""
    listed = list(machines) or [REPORT, ROBOT, DESK]
    return await start_both(oauth={"machines": listed}, variables=VARIABLES, **more)


def basic(client_id: str, secret: str) -> dict[str, str]:
    """Who it is, in a header."""
    text = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {text}"}


@dataclass
class MachineClient:
    """One machine. `key`: what it signs with; without one it has a secret."""

    auth: Auth
    id: str = "report"
    secret: str = SECRET
    key: Key | None = None
    alg: str = "ES256"
    header: dict[str, Any] = field(default_factory=dict)

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Of an assertion. None takes a claim away."""
        now = int(self.auth.clock())
        claims: dict[str, Any] = {
            "iss": self.id,
            "sub": self.id,
            "aud": self.auth.url,
            "iat": now,
            "exp": now + 300,
            "jti": ids.new_id(),
        }
        return {name: one for name, one in (claims | changes).items() if one is not None}

    def assertion(self, **changes: Any) -> str:
        """A new one."""
        assert self.key is not None
        header = {"alg": self.alg} | self.header
        return jwt.encode(header, self.claims(**changes), self.key, algorithms=[self.alg])

    def proof(self) -> tuple[dict[str, str | None], dict[str, str]]:
        """Fields and headers."""
        if self.key is None:
            return {}, basic(self.id, self.secret)
        return {"client_assertion_type": ASSERTION, "client_assertion": self.assertion()}, {}

    async def token(self, **changes: str | None) -> Answered:
        """Ask for one. None takes a field away; an assertion comes in place of all other proof."""
        fields, headers = self.proof()
        if "client_assertion" in changes:
            fields, headers = {"client_assertion_type": ASSERTION}, {}
        form: dict[str, str | None] = {
            "grant_type": "client_credentials",
            "resource": f"{self.auth.url}/mcp",
        }
        client = OAuthClient(self.auth)
        return await client.post("/oauth/token", form | fields | changes, **headers)

    async def give_back(self, token: str) -> Answered:
        """RFC 7009."""
        fields, headers = self.proof()
        form: dict[str, str | None] = {"token": token}
        return await OAuthClient(self.auth).post("/oauth/revoke", form | fields, **headers)

    async def link(self, person: str | None = "ada@strad.test", **changes: str | None) -> Answered:
        """Ask for a sign-in link."""
        fields, headers = self.proof()
        form: dict[str, str | None] = {"person": person} | fields | changes
        return await OAuthClient(self.auth).post("/auth/links", form, **headers)


def robot(auth: Auth, key: Key = EC_KEY, alg: str = "ES256", **header: Any) -> MachineClient:
    """The machine that signs."""
    return MachineClient(auth, id="robot", key=key, alg=alg, header=header)


def desk(auth: Auth) -> MachineClient:
    """The machine that makes links."""
    return MachineClient(auth, id="desk", secret=VARIABLES["DESK_SECRET"])


def tokens(auth: Auth) -> TokenReader:
    """What the relay reads tokens with."""
    return TokenReader(auth.store, auth.seal, auth.clock)
