"""Counters and timings, in one registry per process, served on the internal port."""

import functools

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REGISTRY = CollectorRegistry()

REQUESTS = Counter(
    "strad_requests", "Requests answered", ["service", "route", "status"], registry=REGISTRY
)
SECONDS = Histogram(
    "strad_request_seconds", "Time to answer", ["service", "route"], registry=REGISTRY
)
PROBLEMS = Counter(
    "strad_problems", "Requests refused or failed", ["service", "kind"], registry=REGISTRY
)
DECISIONS = Counter(
    "strad_decisions", "Entitlement and policy decisions", ["decision"], registry=REGISTRY
)
CIRCUITS = Gauge(
    "strad_server_circuit",
    "Whether a server is asked: 0 yes, 1 one request tries, 2 no, it could not be reached",
    ["server"],
    registry=REGISTRY,
)


def request(service: str, route: str, status: int, seconds: float) -> None:
    """One request was answered."""
    _answered(service, route, status).inc()
    _took(service, route).observe(seconds)


# looked up by the library, its child costs more than what is counted
@functools.cache
def _answered(service: str, route: str, status: int) -> Counter:
    return REQUESTS.labels(service, route, status)


@functools.cache
def _took(service: str, route: str) -> Histogram:
    return SECONDS.labels(service, route)


@functools.cache
def decision(name: str) -> Counter:
    """How often it was decided so. `name`: `allowed`, `in-grace`, or a reason."""
    return DECISIONS.labels(name)


def text() -> bytes:
    """The registry in the Prometheus text format."""
    return generate_latest(REGISTRY)
