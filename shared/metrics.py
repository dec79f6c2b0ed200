"""Counters and timings, in one registry per process, served on the internal port.

What is counted for each request lies in plain numbers, which the registry collects when somebody
asks. One thread counts them all: there is nothing to lock, as the library's own counters do.
"""

import time
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric, Sample
from prometheus_client.registry import Collector

REGISTRY = CollectorRegistry()
_BOUNDS = Histogram.DEFAULT_BUCKETS[:-1]  # in seconds
_BUCKETS = (*map(str, _BOUNDS), "+Inf")


class Count(Collector):
    """A counter with labels."""

    def __init__(self, name: str, about: str, labels: tuple[str, ...]) -> None:
        self._name = name
        self._about = about
        self._labels = labels
        self._counts: dict[tuple[str, ...], int] = {}
        self._since: dict[tuple[str, ...], float] = {}
        REGISTRY.register(self)

    def add(self, *values: str) -> None:
        """Once more. `values`: of the labels."""
        try:
            self._counts[values] += 1
        except KeyError:
            self._counts[values], self._since[values] = 1, time.time()

    def collect(self) -> Iterable[Metric]:
        """The counter as the registry wants it."""
        family = CounterMetricFamily(self._name, self._about, labels=self._labels)
        for values, count in self._counts.items():
            family.add_metric(values, count, self._since[values])
        return [family]


class Timing(Collector):
    """A histogram with labels."""

    def __init__(self, name: str, about: str, labels: tuple[str, ...]) -> None:
        self._name = name
        self._about = about
        self._labels = labels
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}
        self._since: dict[tuple[str, ...], float] = {}
        REGISTRY.register(self)

    def add(self, seconds: float, *values: str) -> None:
        """It took so long. `values`: of the labels."""
        if values not in self._sums:
            self._counts[values] = [0] * len(_BUCKETS)
            self._sums[values], self._since[values] = 0.0, time.time()
        self._counts[values][bisect_left(_BOUNDS, seconds)] += 1
        self._sums[values] += seconds

    def collect(self) -> Iterable[Metric]:
        """The histogram as the registry wants it: each bucket with all that are below it."""
        family = HistogramMetricFamily(self._name, self._about, labels=self._labels)
        for values, counts in self._counts.items():
            buckets = list(zip(_BUCKETS, accumulate(counts), strict=True))
            family.add_metric(values, buckets, self._sums[values])
            named = dict(zip(self._labels, values, strict=True))
            family.samples.append(Sample(f"{self._name}_created", named, self._since[values]))
        return [family]


REQUESTS = Count("strad_requests", "Requests answered", ("service", "route", "status"))
SECONDS = Timing("strad_request_seconds", "Time to answer", ("service", "route"))
PROBLEMS = Count("strad_problems", "Requests refused or failed", ("service", "kind"))
DECISIONS = Count("strad_decisions", "Entitlement and policy decisions", ("decision",))
"""`decision`: `allowed`, `in-grace`, or a reason."""
CIRCUITS = Gauge(
    "strad_server_circuit",
    "Whether a server is asked: 0 yes, 1 one request tries, 2 no, it could not be reached",
    ["server"],
    registry=REGISTRY,
)


def request(service: str, route: str, status: int, seconds: float) -> None:
    """One request was answered."""
    REQUESTS.add(service, route, str(status))
    SECONDS.add(seconds, service, route)


def text() -> bytes:
    """The registry in the Prometheus text format."""
    return generate_latest(REGISTRY)
