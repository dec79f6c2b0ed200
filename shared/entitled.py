"""Who may sign in and use which server, as `strad.yaml` says it: one answer for every service."""

import hashlib
import json
from collections import defaultdict

from shared.contracts.config import AllowedPeople, Config
from shared.contracts.identity import Person
from shared.contracts.machines import Machine


def servers_of(config: Config, email: str) -> frozenset[str]:
    """The slugs that the person with this verified e-mail may use; empty when there are none."""
    address, groups = email.lower(), groups_of(config, email)
    return frozenset(
        server.slug
        for server in config.servers
        if server.access.everyone
        or address in server.access.people
        or not groups.isdisjoint(server.access.groups)
    )


def groups_of(config: Config, email: str) -> frozenset[str]:
    """The names of the groups that this person is in."""
    address = email.lower()
    return frozenset(name for name, members in config.groups.items() if address in members)


def may_sign_in(rules: AllowedPeople, person: Person) -> bool:
    """Whether the person's organisation or address is named.

    Never by the end of the e-mail address: a private account can carry an address in a domain
    whose organisation did not give it out.
    """
    return person.organisation in rules.domains or person.email in rules.people


class Admission:
    """Who may be signed in at all: a person whom `provider.allow` no longer names is nobody, and so
    is a machine that `oauth.machines` no longer names.

    `config`: the one in force, replaced when the file changes.
    """

    def __init__(self, config: Config) -> None:
        self.config = config

    def admits(self, person: Person) -> bool:
        """See `may_sign_in`; of a machine, whether it is named."""
        if person.machine is not None:
            return self.machine(person) is not None
        return may_sign_in(self.config.provider.allow, person)

    def machine(self, person: Person) -> Machine | None:
        """The entry of a machine; None also for a person."""
        if person.machine is None:
            return None
        return self.config.oauth.machine(person.machine)

    def administers(self, person: Person) -> bool:
        """Whether `administrators` names the person."""
        return person.email in self.config.administrators


class Directory:
    """The same answers from an index, for whoever is asked all the time.

    `digest`: of everything that an answer depends on.
    """

    def __init__(self, config: Config) -> None:
        self._everyone = frozenset(s.slug for s in config.servers if s.access.everyone)
        of_group: defaultdict[str, set[str]] = defaultdict(set)
        of_person: defaultdict[str, set[str]] = defaultdict(set)
        for server in config.servers:
            for group in server.access.groups:
                of_group[group].add(server.slug)
            for person in server.access.people:
                of_person[person].add(server.slug)
        self._of_group = {name: frozenset(slugs) for name, slugs in of_group.items()}
        self._of_person = {name: frozenset(slugs) for name, slugs in of_person.items()}
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for name, members in config.groups.items():
            if name in self._of_group:
                for member in set(members):
                    groups[member].append(name)
        self._groups = {person: tuple(names) for person, names in groups.items()}
        self._machines = {one.client_id: frozenset(one.servers) for one in config.oauth.machines}
        self.digest = _digest(config)

    def of(self, person: Person) -> frozenset[str]:
        """The slugs that a person or machine may use. A machine has what its own entry names."""
        if person.machine is not None:
            return self._machines.get(person.machine, frozenset())
        return self.servers_of(person.email)

    def servers_of(self, email: str) -> frozenset[str]:
        """See `servers_of`."""
        address = email.lower()
        own = self._of_person.get(address, frozenset())
        grouped = (self._of_group[name] for name in self._groups.get(address, ()))
        return self._everyone.union(own, *grouped)


def _digest(config: Config) -> str:
    access = {server.slug: server.access.model_dump() for server in config.servers}
    machines = {one.client_id: one.servers for one in config.oauth.machines}
    text = json.dumps([config.groups, access, machines], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
