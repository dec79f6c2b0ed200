"""Which secrets a configuration names, where, and who reads them."""

from shared.contracts.config import Config
from shared.contracts.fields import SecretRef
from shared.contracts.wire import Service


def secrets_of(config: Config, service: Service | None = None) -> list[tuple[str, SecretRef]]:
    """The secrets that a configuration names, with their places; only those of one service."""
    found = []
    if service in (None, Service.AUTH):
        found.append(("provider.client_secret", config.provider.client_secret))
        for number, machine in enumerate(config.oauth.machines):
            if machine.secret is not None:
                found.append((f"oauth.machines.{number}.secret", machine.secret))
    if service in (None, Service.RELAY):
        rules = config.entitlements
        if rules.refresh_token is not None:
            found.append(("entitlements.refresh_token", rules.refresh_token))
        if rules.decision_point is not None:
            for name, ref in rules.decision_point.headers.items():
                found.append((f"entitlements.decision_point.headers.{name}", ref))
        for number, server in enumerate(config.servers):
            for name, ref in server.headers.items():
                found.append((f"servers.{number}.headers.{name}", ref))
    return found
