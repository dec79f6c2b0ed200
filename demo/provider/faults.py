"""Ways to be a bad provider, for tests of the client. Off unless started with FAULTS=1.

`POST /faults` takes a JSON object of these names; each stays until it is set back, or until
`{"reset": true}`. `rotate_key` happens once, at the moment it is asked for.
"""

from dataclasses import dataclass, field, fields
from typing import Any


class UnknownFault(ValueError):
    """No such switch, or a value it does not take."""


def _switch(default: Any, what: str) -> Any:
    return field(default=default, metadata={"what": what})


@dataclass
class Faults:
    """One field a switch; `documented` gives what each of them does."""

    wrong_audience: bool = _switch(False, "ID token: aud and azp name another client")
    wrong_nonce: bool = _switch(False, "ID token: nonce is not the one that was sent")
    wrong_issuer: bool = _switch(False, "ID token: iss is another loopback issuer")
    wrong_at_hash: bool = _switch(False, "ID token: at_hash belongs to another access token")
    unknown_kid: bool = _switch(False, "ID token: the header's kid is not in /jwks")
    alg_none: bool = _switch(False, "ID token: alg none and no signature")
    hs256: bool = _switch(False, "ID token: HS256, keyed with the public key's PEM text")
    expired: bool = _switch(False, "ID token: issued two hours ago, expired one hour ago")
    future: bool = _switch(False, "ID token: issued one hour from now")
    unverified_email: bool = _switch(False, "claims: email_verified is false")
    no_email: bool = _switch(False, "claims: neither email nor email_verified")
    other_domain: bool = _switch(False, "claims: hd and the email's domain are elsewhere.test")
    wrong_answer_issuer: bool = _switch(False, "redirect: iss is another issuer (RFC 9207)")
    discovery_wrong_issuer: bool = _switch(False, "discovery: issuer is not the one asked")
    jwks_down: bool = _switch(False, "/jwks answers 503")
    token_error: str = _switch("", "/token answers 400 with this error; true is invalid_grant")
    slow: float = _switch(0.0, "seconds that discovery, /token, /jwks and /userinfo wait, up to 60")

    def set(self, name: str, value: Any) -> None:
        """Raises UnknownFault, with what would have been right."""
        known = {item.name: item for item in fields(self)}
        if name not in known:
            raise UnknownFault(f"no switch {name!r}; there are {', '.join(known)}")
        if name == "token_error" and isinstance(value, bool):
            value = "invalid_grant" if value else ""
        elif name == "slow" and type(value) in (int, float) and 0 <= value <= 60:
            value = float(value)
        elif name == "slow":
            value = None
        if type(value) is not type(known[name].default):
            kind = type(known[name].default).__name__
            raise UnknownFault(f"{name} takes a {kind}, and seconds are 0 to 60")
        setattr(self, name, value)

    def reset(self) -> None:
        for item in fields(self):
            setattr(self, item.name, item.default)

    def documented(self) -> dict[str, dict[str, Any]]:
        """`{name: {"value": current, "what": one sentence}}`."""
        return {
            item.name: {"value": getattr(self, item.name), "what": item.metadata["what"]}
            for item in fields(self)
        }
