"""`entitlements:` in `strad.yaml`: who says what people may use, and how long that is believed."""

from enum import StrEnum

from pydantic import Field, field_validator, model_validator

from shared.contracts.fields import Headers, HttpUrl, Moment, Seconds, SecretRef, Strict


class KnownBy(StrEnum):
    """What a decision point knows people by."""

    EMAIL = "email"  # the verified address
    SUB = "sub"  # the OpenID provider's own name for them


class DecisionPoint(Strict):
    """A policy decision point that speaks the OpenID AuthZEN Authorization API 1.0.

    It is asked whether the person (a `user`, with `email`, `issuer`, `sub` and `groups` as
    properties) may `use` each server (an `mcp_server`, named by its slug).
    """

    url: HttpUrl = Field(
        description="its identifier: `/.well-known/authzen-configuration` and"
        " `/access/v1/evaluation` are found from here"
    )
    headers: Headers = Field(
        default_factory=dict, description="credentials sent to it, from secrets"
    )
    known_by: KnownBy = Field(KnownBy.EMAIL, description="what it knows people by")
    timeout: Seconds = Field(2, le=10, description="how long strad waits for all its answers")

    @field_validator("url")
    @classmethod
    def _plain(cls, value: str) -> str:
        if "?" in value:
            raise ValueError("leave out the query")
        return value.rstrip("/")


class Entitlements(Strict):
    """Where entitlements come from, and for how long an answer counts."""

    keep: Seconds = Field(
        5, le=60, description="how long an answer counts; a change in this file counts at once"
    )
    keep_denied: Seconds = Field(2, le=60, description="the same for a no")
    grace: Moment = Field(
        0,
        le=600,
        description="how much longer the last answer counts while its source cannot be reached;"
        " never after the source has said no",
    )
    refresh_token: SecretRef | None = Field(
        None, description="who sends this may tell strad that something has changed"
    )
    decision_point: DecisionPoint | None = Field(
        None, description="left out: `access` of each server says it"
    )

    @model_validator(mode="after")
    def _order(self) -> "Entitlements":
        if self.keep_denied > self.keep:
            raise ValueError("keep_denied must not be longer than keep")
        return self
