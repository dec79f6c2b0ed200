"""Whatever comes as an assertion: nothing breaks, and only what a machine has signed counts."""

import base64
import json
import math
import time
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc.jwk import ECKey

from services.auth.oauth.machines import MachineClient
from services.auth.oauth.server import Answer, Asked, Loaded, Rules, Server
from shared.contracts.machines import Machine
from shared.machine_proofs import Proof
from tests.auth.machine import ASSERTION, EC_KEY, ROBOT

ISSUER, NOW = "https://strad.test", time.time()
RULES = Rules(issuer=ISSUER, resource=f"{ISSUER}/mcp", access=600)
PUBLIC = ECKey.import_key(EC_KEY.as_dict(private=False))
CLIENT = MachineClient(
    Machine.model_validate(ROBOT), Proof(keys=((PUBLIC, ("ES256",)),)), lambda text: text
)
HEADERS = ("alg", "kid", "crit", "b64", "jwk", "jku", "typ", "cty", "x5c")
CLAIMS = ("iss", "sub", "aud", "exp", "jti", "nbf", "iat")
GOOD = {"iss": "robot", "sub": "robot", "aud": ISSUER, "exp": int(NOW) + 100, "jti": "x"}

known = st.sampled_from(["robot", "ec", "ES256", "none", "HS256", ISSUER, int(NOW) + 100])
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | known
names = st.sampled_from([*HEADERS, *CLAIMS]) | st.text(max_size=3)
anything = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
    max_leaves=10,
)


def encoded(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def asked_with(assertion: str) -> tuple[Server, Answer]:
    form = {
        "grant_type": "client_credentials",
        "resource": RULES.resource,
        "client_assertion_type": ASSERTION,
        "client_assertion": assertion,
    }
    server = Server(RULES, Loaded(machines={"robot": CLIENT}), NOW)
    return server, server.create_token_response(Asked("POST", "/oauth/token", form))


@settings(deadline=None)
@given(anything, anything, st.binary(max_size=10))
def test_what_nobody_has_signed_is_refused(header: Any, claims: Any, signature: bytes) -> None:
    for text in (f"{encoded(header)}.{encoded(claims)}.{encoded(signature)}", str(header)):
        server, answer = asked_with(text)
        assert answer.status in {400, 401}
        assert (server.issued, server.assertion, server.told) == (None, None, "")


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(HEADERS[1:]), anything, max_size=3),
    st.dictionaries(st.sampled_from(CLAIMS), anything, max_size=4),
)
def test_what_is_signed_counts_when_every_claim_is_right(
    header: dict[str, Any], changes: dict[str, Any]
) -> None:
    claims: dict[str, Any] = GOOD | changes
    text = f"{encoded({'alg': 'ES256'} | header)}.{encoded(claims)}"
    assert EC_KEY.private_key is not None
    numbers = decode_dss_signature(EC_KEY.private_key.sign(text.encode(), ECDSA(SHA256())))
    signature = b"".join(number.to_bytes(32, "big") for number in numbers)
    server, answer = asked_with(f"{text}.{encoded(signature)}")
    if answer.status != 200:
        assert server.issued is None
        return
    assert claims["iss"] == claims["sub"] == "robot"
    assert claims["aud"] in (ISSUER, [ISSUER])
    assert NOW - 30 < claims["exp"] <= NOW + 630
    assert server.assertion == ("robot", claims["jti"], math.ceil(claims["exp"]))
    assert header.get("kid") in (None, "ec")
