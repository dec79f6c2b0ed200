"""What the containers may do, and whom they reach, as the engine and the kernel see it."""

import http.client

import pytest

from shared.contracts.wire import HEALTH_PATH, INTERNAL_SERVERS_PATH, METRICS_PATH
from tests.compose.stack import Stack, networks, processes, publishers

pytestmark = pytest.mark.compose

OURS = ("auth", "relay", "apphost", "provider", "catalog", "hostile")
RUNNING = (*OURS, "edge", "redis")
NO_CAPABILITY = "0" * 16
NET_BIND_SERVICE = f"{1 << 10:016x}"


@pytest.mark.parametrize("service", RUNNING)
def test_no_process_is_root_or_can_become_it(containers: Stack, service: str) -> None:
    status = processes(containers, service)
    assert "0" not in status["Uid"].split()
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["CapEff"] == NO_CAPABILITY
    assert status["CapBnd"] == (NET_BIND_SERVICE if service == "edge" else NO_CAPABILITY)


@pytest.mark.parametrize("service", RUNNING)
def test_the_file_system_is_read_only_and_the_limits_are_set(
    containers: Stack, service: str
) -> None:
    host = containers.containers[service]["HostConfig"]
    assert host["ReadonlyRootfs"]
    assert 0 < host["Memory"] <= 256 << 20
    assert host["MemorySwap"] == host["Memory"]
    assert 0 < host["PidsLimit"] <= 128
    assert not host["Privileged"]


def test_only_the_edge_and_the_demo_provider_have_a_port_on_the_host(containers: Stack) -> None:
    assert publishers(containers) == {"edge": {"127.0.0.1"}, "provider": {"127.0.0.1"}}


@pytest.mark.parametrize("service", ["edge", "provider", "catalog", "hostile"])
def test_redis_is_out_of_reach_for_all_but_the_services(containers: Stack, service: str) -> None:
    redis = containers.address("redis", "store")
    assert containers.reach("relay", redis, 6379) == "reached"
    assert containers.reach(service, redis, 6379) != "reached"
    assert containers.reach(service, "redis", 6379) != "reached"


@pytest.mark.parametrize("service", ["apphost", "redis", "catalog", "hostile"])
def test_who_has_no_business_outside_has_no_way_out(containers: Stack, service: str) -> None:
    provider = containers.address("provider", "out")
    assert containers.reach("auth", provider, containers.provider_port) == "reached"
    assert containers.reach(service, provider, containers.provider_port) != "reached"
    assert not has_default_route(containers, service)


@pytest.mark.parametrize("service", ["auth", "relay"])
def test_auth_and_relay_have_a_way_out(containers: Stack, service: str) -> None:
    assert has_default_route(containers, service)


def has_default_route(containers: Stack, service: str) -> bool:
    """Whether the kernel knows where to send a packet for an unknown address."""
    table = containers.execute(service, "cat", "/proc/net/route").splitlines()[1:]
    return any(line.split()[1] == "00000000" for line in table)


def test_a_demo_server_reaches_neither_auth_nor_apphost(containers: Stack) -> None:
    for service in ("auth", "apphost"):
        for port in (8080, 9090):
            address = containers.address(service, "web")
            assert containers.reach("edge", address, port) == "reached"
            assert containers.reach("hostile", address, port) != "reached"


def test_a_demo_server_is_refused_at_the_internal_interface_of_the_relay(
    containers: Stack,
) -> None:
    ask = (
        "import urllib.error as e, urllib.request as r, sys\n"
        "try: print(r.urlopen(sys.argv[1], timeout=5).status)\n"
        "except e.HTTPError as error: print(error.code)"
    )
    relay = "http://relay:9090"
    paths = {INTERNAL_SERVERS_PATH: "401", METRICS_PATH: "401", HEALTH_PATH: "200"}
    for path, status in paths.items():
        assert containers.execute("hostile", "python", "-c", ask, relay + path).strip() == status


@pytest.mark.parametrize(
    "path",
    [
        *("/internal/v1/servers", "/metrics", "/healthz", "/readyz"),
        *("//internal/v1/servers", "/INTERNAL/v1/servers", "/%69nternal/v1/servers"),
        *("/mcp/../internal/v1/servers", "/mcp/..%2finternal/v1/servers", "/auth/../metrics"),
        *("/mcp//metrics", "/mcp/metrics", "/auth/metrics", "http://relay:9090/metrics"),
    ],
)
def test_no_path_through_the_edge_leads_to_an_internal_port(containers: Stack, path: str) -> None:
    for host in (f"127.0.0.1:{containers.port}", "relay:9090", "127.0.0.1:9090"):
        connection = http.client.HTTPConnection("127.0.0.1", containers.port, timeout=10)
        try:
            connection.putrequest("GET", path, skip_host=True)
            connection.putheader("Host", host)
            connection.endheaders()
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        assert 400 <= answer.status < 500, host


def test_each_volume_of_secrets_is_mounted_in_its_own_service_only(containers: Stack) -> None:
    holders: dict[str, set[tuple[str, bool]]] = {}
    for service, container in containers.containers.items():
        for mount in container["Mounts"]:
            if mount["Type"] == "volume" and mount["Name"].endswith("-keys"):
                name = mount["Name"].removeprefix(f"{containers.project}_")
                holders.setdefault(name, set()).add((service, mount["RW"]))
    assert holders == {
        f"{service}-keys": {("keys", True), (service, False)}
        for service in ("auth", "relay", "apphost", "redis")
    } | {"auditor-keys": {("keys", True)}}  # mounted for as long as an operator reads the trail


def test_the_maker_of_the_secrets_has_no_network_and_has_ended(containers: Stack) -> None:
    keys = containers.containers["keys"]
    assert keys["HostConfig"]["NetworkMode"] == "none"
    assert (keys["State"]["Status"], keys["State"]["ExitCode"]) == ("exited", 0)


def test_only_auth_receives_the_secret_of_the_oauth_client(containers: Stack) -> None:
    secret = ("STRAD_OIDC_CLIENT_SECRET=", "DEMO_CLIENT_SECRET=")
    holders = {
        service
        for service, container in containers.containers.items()
        if any(entry.startswith(secret) for entry in container["Config"]["Env"])
    }
    assert holders == {"auth"}


def test_the_networks_of_services_and_store_lead_nowhere(containers: Stack) -> None:
    internal = {name for name, network in networks(containers).items() if network["Internal"]}
    assert internal == {"web", "store", "servers"}


@pytest.mark.parametrize("service", ["auth", "relay", "apphost"])
def test_an_image_holds_its_own_service_only(containers: Stack, service: str) -> None:
    assert containers.execute(service, "ls", "/app").split() == ["services", "shared"]
    found = set(containers.execute(service, "ls", "/app/services").split())
    assert found - {"__init__.py", "__pycache__"} == {service}
