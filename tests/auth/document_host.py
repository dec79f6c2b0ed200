"""A web host of client metadata documents: real TLS on loopback, under a name of its own."""

import datetime
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from aiohttp.abc import AbstractResolver, ResolveResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from services.auth.oauth.documents import SECONDS
from tests.auth.conftest import free_socket

NAME = "app.client.test"


class Names(AbstractResolver):
    """Every name leads to these addresses, in turn."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = list(addresses)
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        address = self.addresses[min(len(self.asked), len(self.addresses)) - 1]
        found = ResolveResult(
            hostname=host,
            host=address,
            port=port,
            family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            proto=0,
            flags=socket.AI_NUMERICHOST,
        )
        return [found]

    async def close(self) -> None:
        """Nothing to let go of."""


Answer = Callable[[web.Request], Any]


@dataclass
class Host:
    """`answer` makes each answer; `seen` counts requests."""

    port: int
    certificate: Path
    answer: Answer | None = None
    seen: list[str] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The client id whose document this is."""
        return f"https://{NAME}:{self.port}/client.json"

    def document(self, **changes: Any) -> dict[str, Any]:
        """A document that is well."""
        return {
            "client_id": self.id,
            "client_name": "Documented client",
            "redirect_uris": ["https://app.example.com/cb", "http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        } | changes

    def http(self) -> ClientSession:
        """A client that finds and trusts this host."""
        return trusting(self.certificate)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request.path)
        if self.answer is None:
            return web.json_response(self.document())
        found = self.answer(request)
        response: web.StreamResponse = await found if hasattr(found, "__await__") else found
        return response


def trusting(certificate: Path) -> ClientSession:
    """A client to which every name is on this machine, and this certificate good."""
    trust = ssl.create_default_context(cafile=str(certificate))
    connector = TCPConnector(resolver=Names("127.0.0.1"), ssl=trust)
    return ClientSession(connector=connector, timeout=ClientTimeout(total=SECONDS))


@asynccontextmanager
async def document_host(folder: Path) -> AsyncIterator[Host]:
    """Serve until the end."""
    certificate = _certificate(folder)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    sock, port = free_socket()
    host = Host(port, certificate)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", host.respond)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, sock, ssl_context=server).start()
        yield host
    finally:
        await runner.cleanup()


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "host.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path
