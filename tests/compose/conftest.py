"""One stack for all tests of the containers."""

import os
from collections.abc import Iterator

import pytest

from tests.compose.engine import why_not
from tests.compose.stack import Stack, stack_up
from tests.conftest import need


@pytest.fixture(scope="package")
def containers() -> Iterator[Stack]:
    """The whole stack with its demo, healthy. Without an engine: a skip, or in CI a failure."""
    reason = why_not()
    need(reason is None, f"the Docker engine: {reason}")
    with stack_up(f"strad-test-{os.getpid()}") as running:
        yield running
