"""Making tokens by the form, and finding them as the relay does."""

import re
from typing import Any

from shared.stores.tokens import TokenReader
from tests.auth.browser import Browser, Page
from tests.auth.conftest import Auth

DAY = 86400
GOOD = {"label": "Laptop", "life": str(30 * DAY)}


def shown_token(page: Page) -> str:
    found = re.search(r'<code id="new-token">([^<]+)</code>', page.text)
    assert found, page.text
    return found[1]


def reader(auth: Auth) -> TokenReader:
    """What the relay uses."""
    return TokenReader(auth.store, auth.seal, auth.clock)


async def create(auth: Auth, browser: Browser, form: Any = None) -> Page:
    """Posts the form; which servers is said as the page says it, unless the form does."""
    found = GOOD if form is None else form
    pairs = list(found.items() if isinstance(found, dict) else found)
    names = {name for name, _ in pairs}
    if "reach" not in names:
        pairs.append(("reach", "some" if "servers" in names else "every"))
    return await browser.post(f"{auth.url}/auth/tokens", pairs)


async def make(auth: Auth, browser: Browser, **changes: str) -> str:
    page = await create(auth, browser, GOOD | changes)
    assert page.status == 200, page.text
    return shown_token(page)
