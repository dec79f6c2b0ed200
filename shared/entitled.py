"""Who may use which server, as `strad.yaml` says it: one pure answer for every service."""

from shared.contracts.config import Access, Config


def servers_of(config: Config, email: str) -> frozenset[str]:
    """The slugs that the person with this verified e-mail may use; empty when there are none."""
    address = email.lower()
    groups = {name for name, members in config.groups.items() if address in members}
    return frozenset(
        server.slug for server in config.servers if _may(server.access, address, groups)
    )


def _may(access: Access, address: str, groups: set[str]) -> bool:
    return access.everyone or address in access.people or not groups.isdisjoint(access.groups)
