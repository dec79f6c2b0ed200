"""The relay as a client: what the official package asks of one, with the relay in front of it.

The SDK's own conformance client talks through the relay to the package's server, which watches what
arrives. (Signing in is not the relay's part with a server: those scenarios are left out.)
"""

import sys
from pathlib import Path

import pytest

from tests.conformance import suite
from tests.conftest import need

pytestmark = [pytest.mark.node, pytest.mark.stack]

COMMAND = f"{sys.executable} -m tests.conformance.client_through_relay"
OLD, NEW = "2025-11-25", "2026-07-28"
# how many checks pass; none fails, and some ask for nothing in a version
SCENARIOS = [
    ("initialize", OLD, 1),
    ("tools_call", OLD, 2),
    ("tools_call", NEW, 2),
    ("elicitation-sep1034-client-defaults", OLD, 5),
    ("sse-retry", OLD, 3),
    ("request-metadata", NEW, 8),
    ("sep-2322-client-request-state", NEW, 5),
    ("http-standard-headers", NEW, 9),
    ("http-custom-headers", NEW, 18),
    ("http-invalid-tool-headers", NEW, 12),
    ("json-schema-ref-no-deref", NEW, 1),
    ("json-schema-2020-12-preservation", OLD, 9),
    ("json-schema-2020-12-preservation", NEW, 9),
]


@pytest.mark.parametrize(("scenario", "version", "checks"), SCENARIOS)
async def test_a_client_behind_the_relay_keeps_full_marks(
    scenario: str, version: str, checks: int, tmp_path: Path
) -> None:
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    report = await suite.run_client(COMMAND, scenario, version, tmp_path)
    said = {status: n for status, n in report.verdicts.items() if status != "SKIPPED"}
    assert said == {"SUCCESS": checks}, report.output
