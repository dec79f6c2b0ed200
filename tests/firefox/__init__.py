"""The load-bearing rows of `tests/browser` again, in real Firefox ESR. One browser serves all; each
person has a container of their own.

Playwright drives a Firefox of its own making only. Debian's is driven by WebDriver BiDi, which
every Firefox speaks (w3.org/TR/webdriver-bidi): `launch.py` starts it, `bidi.py` speaks, `tab.py`
and `people.py` are what a test uses.
"""

import pytest

# one event loop, since a browser cannot be handed from loop to loop
IN_FIREFOX = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]
