"""Every header, cookie and path that services share, in one place."""

from enum import StrEnum
from typing import Final


class Service(StrEnum):
    """The three services; also their Redis user names and their names in assertions."""

    AUTH = "auth"
    RELAY = "relay"
    APPHOST = "apphost"


class Surface(StrEnum):
    """Where a person or client acts from. The relay decides by it, the audit tells it."""

    CLIENT = "client"  # an MCP client at /mcp
    CONSOLE = "console"  # the console's own reading: listings, pages
    APP = "app"  # a server's page, through the bridge
    OPEN = "open"  # the host's automatic opening call
    RUN = "run"  # the person's press on the host's Run button


# `__Host-`: Secure, no Domain, Path=/ . A sibling host can neither read nor plant it.
SESSION_COOKIE: Final = "__Host-strad"
SIGN_IN_COOKIE: Final = "__Host-strad-tx"
LINK_COOKIE: Final = "__Host-strad-link"

ASSERTION_HEADER: Final = "Strad-Assertion"
IDENTITY_HEADER: Final = "Strad-Identity"
REQUEST_ID_HEADER: Final = "Strad-Request-Id"

TOKEN_PREFIX: Final = "strad_pat_"  # noqa: S105 - a public marker, not a secret
ACCESS_TOKEN_PREFIX: Final = "strad_oat_"  # noqa: S105 - issued by OAuth, for minutes
REFRESH_TOKEN_PREFIX: Final = "strad_ort_"  # noqa: S105

APP_MIME_TYPE: Final = "text/html;profile=mcp-app"
UI_EXTENSION: Final = "io.modelcontextprotocol/ui"
UI_SCHEME: Final = "ui://"

# public paths
SIGN_IN_PATH: Final = "/auth/sign-in"
CALLBACK_PATH: Final = "/auth/callback"
SIGN_OUT_PATH: Final = "/auth/sign-out"
TOKENS_PATH: Final = "/auth/tokens"
SESSIONS_PATH: Final = "/auth/sessions"
PEOPLE_PATH: Final = "/auth/people"
CLIENTS_PATH: Final = "/auth/clients"
LINKS_PATH: Final = "/auth/links"
AUTHORIZE_PATH: Final = "/oauth/authorize"
TOKEN_PATH: Final = "/oauth/token"  # noqa: S105
REGISTER_PATH: Final = "/oauth/register"
REVOKE_PATH: Final = "/oauth/revoke"
AUTHORIZATION_SERVER_METADATA_PATH: Final = "/.well-known/oauth-authorization-server"
AUTH_STATIC_PATH: Final = "/auth/static"
STATIC_PATH: Final = "/static"
APPS_PATH: Final = "/apps"
MCP_PATH: Final = "/mcp"
RESOURCE_METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
JWKS_PATH: Final = "/mcp/.well-known/jwks.json"

# internal paths (second port, never routed by the edge)
INTERNAL_SERVERS_PATH: Final = "/internal/v1/servers"
INTERNAL_REFRESH_PATH: Final = "/internal/v1/entitlements/refresh"
INTERNAL_RPC_PATH: Final = "/internal/v1/servers/{slug}/rpc"
HEALTH_PATH: Final = "/healthz"
READY_PATH: Final = "/readyz"
METRICS_PATH: Final = "/metrics"
