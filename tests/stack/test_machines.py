"""Machines connect by themselves, by both official SDKs: an address, a proof, and nobody asked."""

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthTokenError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from tests.conftest import need
from tests.live import LiveStack
from tests.stack.machines import KEY, RSA, SECRET, beside, without
from tests.stack.test_other_clients import NODE, SECONDS
from tests.until import until
from tests.visitor import ask

pytestmark = pytest.mark.stack

SCRIPT = Path(__file__).parent / "typescript_machine.mjs"
PROOFS = ("secret", "ES256", "RS256")


class Kept:
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise AssertionError("a machine registers nowhere")


def machine(
    stack: LiveStack, proof: str, kept: Kept, client_id: str = "report", path: str = "/mcp/catalog"
) -> OAuthClientProvider:
    """The Python SDK's provider for a machine of the stack."""
    url = stack.url + path
    if proof == "secret":
        secret = beside(stack, SECRET)
        return ClientCredentialsOAuthProvider(url, kept, client_id, secret, issuer=stack.url)
    key = beside(stack, KEY if proof == "ES256" else RSA)
    signing = SignedJWTParameters(
        issuer="robot", subject="robot", signing_key=key, signing_algorithm=proof
    )
    made = signing.create_assertion_provider()
    return PrivateKeyJWTOAuthProvider(url, kept, "robot", made, issuer=stack.url)


async def toys(provider: OAuthClientProvider, url: str, prefix: str = "") -> dict[str, Any]:
    """List and call by the SDK's client."""
    async with (
        httpx2.AsyncClient(auth=provider, timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), mode="2026-07-28") as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert f"{prefix}list_toys" in names
        result = await client.call_tool(f"{prefix}list_toys", {"query": ""})
        assert result.structured_content is not None, result
        return dict(result.structured_content)


@pytest.mark.parametrize("proof", PROOFS)
@pytest.mark.parametrize(("path", "prefix"), [("/mcp/catalog", ""), ("/mcp", "catalog__")])
async def test_the_python_client_connects_as_a_machine_and_again_when_its_token_ends(
    fragile: LiveStack, proof: str, path: str, prefix: str
) -> None:
    url, kept = fragile.url + path, Kept()
    provider = machine(fragile, proof, kept, path=path)
    found = await toys(provider, url, prefix)
    assert len(found["toys"]) > 3
    assert found["caller"]["email"] == ""
    first = kept.tokens
    assert first is not None
    assert first.refresh_token is None
    provider.context.token_expiry_time = 1.0  # as if ten minutes had passed
    assert len((await toys(provider, url, prefix))["toys"]) > 3
    assert kept.tokens is not None
    assert kept.tokens.access_token != first.access_token


@pytest.mark.parametrize("proof", PROOFS)
def test_the_typescript_client_connects_as_a_machine_and_again_when_its_token_ends(
    fragile: LiveStack, proof: str, tmp_path: Path
) -> None:
    need(NODE.is_file(), "Node 22 and the packages of package.json: npm ci")
    told = {"SECRET": beside(fragile, SECRET)}
    if proof != "secret":
        told = {"ALG": proof, "KEY": beside(fragile, KEY if proof == "ES256" else RSA)}
    client_id = "report" if proof == "secret" else "robot"
    done = subprocess.run(
        [NODE, SCRIPT, f"{fragile.url}/mcp/catalog", fragile.url, client_id, "list_toys"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **told},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said.pop("called") == said.pop("again") > 3
    assert said == {"tools": 3, "renewed": True, "refresh": False}


async def test_a_machine_without_the_right_proof_gets_nowhere(fragile: LiveStack) -> None:
    url = f"{fragile.url}/mcp/catalog"
    wrong = ClientCredentialsOAuthProvider(url, Kept(), "report", "x" * 40, issuer=fragile.url)
    with pytest.raises(BaseExceptionGroup) as refused:
        await toys(wrong, url)
    assert refused.value.subgroup(OAuthTokenError) is not None
    beyond = f"{fragile.url}/mcp/hostile"
    with pytest.raises(BaseExceptionGroup) as refused:
        await toys(machine(fragile, "secret", Kept(), path="/mcp/hostile"), beyond)
    assert refused.value.subgroup((OAuthTokenError, OAuthFlowError)) is not None


async def test_a_machine_taken_out_of_the_file_is_refused_on_the_next_request(
    fragile: LiveStack,
) -> None:
    url, kept = f"{fragile.url}/mcp/catalog", Kept()
    provider = machine(fragile, "secret", kept, "leaver")
    await toys(provider, url)
    assert kept.tokens is not None
    headers = {"Authorization": f"Bearer {kept.tokens.access_token}"}

    def refused() -> bool:
        return ask(url, "POST", body="{}", headers=headers).status == 401

    assert not refused()
    before = without(fragile, "leaver")
    try:
        assert await asyncio.to_thread(until, refused)
        with pytest.raises(BaseExceptionGroup):
            await toys(provider, url)
        assert len((await toys(machine(fragile, "ES256", Kept()), url))["toys"]) > 3
    finally:
        fragile.settings.config.write_text(before)
