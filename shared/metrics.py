"""Counters and timings, in one registry per process, served on the internal port."""

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


def text() -> bytes:
    """The registry in the Prometheus text format."""
    return generate_latest(REGISTRY)
