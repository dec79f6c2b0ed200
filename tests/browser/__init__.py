"""Tests with real Chromium. One browser serves all; each person has a profile of their own."""

import pytest

# one event loop, since a browser cannot be handed from loop to loop
IN_BROWSER = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
