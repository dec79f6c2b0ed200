"""Counters and timings, in one registry per process, served on the internal port."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

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


def text() -> bytes:
    """The registry in the Prometheus text format."""
    return generate_latest(REGISTRY)
