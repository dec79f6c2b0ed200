"""The authorization code flow as a whole: a browser's question, and who its answer proves."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from multidict import MultiMapping

from services.auth.attempts import Attempt
from services.auth.back_channel import BackChannel
from services.auth.code_exchange import Client, question, read_answer, redeem
from services.auth.id_token import Expected, verified_claims
from services.auth.logout_token import SignedOut, read_logout_token
from services.auth.person import person_of
from services.auth.provider import Provider
from shared.clock import Clock
from shared.contracts import config
from shared.contracts.identity import Person
from shared.entitled import Admission

_MAX_SID = 255
_NEVER = 2**53


@dataclass(frozen=True, slots=True)
class Proof:
    """What an answer proves. `provider_session`: the provider's name for the sign-in there.

    `auth_time`: when the person proved there who they are; None: it does not say.
    """

    person: Person
    provider_session: str | None
    auth_time: int | None


@dataclass(frozen=True, slots=True)
class CodeFlow:
    """One provider and this installation as its client."""

    provider: Provider
    channel: BackChannel
    client: Client
    rules: config.Provider
    clock: Clock
    admission: Admission

    @property
    def provider_name(self) -> str:
        """What to call the provider on a button."""
        if self.rules.name:
            return self.rules.name
        if self.rules.issuer == config.GOOGLE_ISSUER:
            return "Google"
        return urlsplit(self.rules.issuer).hostname or self.rules.issuer

    async def url(self, attempt: Attempt, *, choose_account: bool, fresh: bool) -> str:
        """Where to send the browser. Raises `Refused`."""
        metadata = await self.provider.metadata()
        prompt = metadata.choosing if choose_account else ""
        return metadata.authorization_url(
            question(attempt, self.client, prompt=prompt, fresh=fresh)
        )

    async def prove(self, attempt: Attempt, query: MultiMapping[str]) -> Proof:
        """Who the answer of an attempt proves, after every check. Raises `Refused`."""
        metadata = await self.provider.metadata()
        code = read_answer(query, metadata)
        tokens = await redeem(code, attempt, self.client, metadata, self.channel)
        expected = Expected(
            issuers=self.provider.issuers,
            client_id=self.client.client_id,
            nonce=attempt.nonce,
            access_token=tokens.access_token,
            algorithms=metadata.algorithms,
        )
        claims = await verified_claims(tokens.id_token, self.provider, expected, self.clock())
        rules = self.rules.model_copy(update={"allow": self.admission.config.provider.allow})
        proved = _moment(claims.get("auth_time"), self.clock())
        return Proof(person_of(claims, rules), _text(claims.get("sid")), proved)

    async def signed_out(self, logout_token: str) -> SignedOut:
        """Who the provider says has signed out there. Raises `Refused`."""
        client_id = self.client.client_id
        return await read_logout_token(logout_token, self.provider, client_id, self.clock())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _MAX_SID else None


def _moment(value: object, now: float) -> int | None:
    """A time that is no later than now, or None; one that makes no sense is long ago."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _NEVER:
        return 0
    return int(min(value, now))
