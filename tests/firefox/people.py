"""A person at Firefox: signs in, opens apps."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from shared.contracts.wire import SESSION_COOKIE
from tests.firefox.bidi import Bidi
from tests.firefox.tab import Place, Tab

_HEARD = [
    "browsingContext.contextCreated",
    "browsingContext.downloadEnd",
    "log.entryAdded",
    "network.beforeRequestSent",
]


@dataclass
class Person:
    """One container of the browser with one tab. `asked`: method and address of every request that
    its pages and frames began. `errors`: what threw in the console's own pages, or was blocked."""

    bidi: Bidi
    url: str
    container: str
    tab: Tab
    asked: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    tabs: list[str] = field(default_factory=list)
    downloads: list[dict[str, Any]] = field(default_factory=list)
    _deaf: list[Callable[[], None]] = field(default_factory=list)

    @classmethod
    async def at(cls, bidi: Bidi, url: str) -> "Person":
        """A new container, where nobody is signed in."""
        container = (await bidi.send("browser.createUserContext"))["userContext"]
        created = await bidi.send("browsingContext.create", type="tab", userContext=container)
        person = cls(bidi, url, container, Tab(bidi, created["context"]))
        listeners = (person._created, person._downloaded, person._logged, person._requested)
        person._deaf = [bidi.on(*one) for one in zip(_HEARD, listeners, strict=True)]
        await bidi.send("session.subscribe", events=_HEARD, userContexts=[container])
        return person

    async def leave(self) -> None:
        for stop in self._deaf:
            stop()
        await self.bidi.send("browser.removeUserContext", userContext=self.container)

    def _created(self, told: dict[str, Any]) -> None:
        if told["userContext"] == self.container and told["parent"] is None:
            self.tabs.append(told["context"])

    def _requested(self, told: dict[str, Any]) -> None:
        request = told["request"]
        if told.get("userContext", self.container) == self.container:
            self.asked.append((request["method"], request["url"]))

    def _logged(self, told: dict[str, Any]) -> None:
        own = told["source"].get("context") in self.tabs
        if own and told["type"] == "javascript" and told["level"] == "error":
            self.errors.append(str(told["text"]))

    def _downloaded(self, told: dict[str, Any]) -> None:
        if told["context"] in self.tabs:
            self.downloads.append(told)

    async def sign_in(self, name: str) -> None:
        """At the demo provider, by hand, beginning at the console's first page."""
        await self.tab.goto(self.url)
        await self.tab.click_on(r"Sign in|Continue")
        await self.tab.click_on(name)
        await self.tab.until(f"location.href === {self.url + '/'!r}")
        self.errors.clear()  # the provider's own pages are not ours

    async def take_session(self, cookie: str) -> None:
        """Be signed in, where no provider is at hand."""
        value = {"type": "string", "value": cookie}
        one = {"name": SESSION_COOKIE, "value": value, "domain": urlsplit(self.url).hostname}
        more = {"path": "/", "secure": True, "httpOnly": True, "sameSite": "lax"}
        where = {"type": "storageKey", "userContext": self.container}
        await self.bidi.send("storage.setCookie", cookie=one | more, partition=where)

    async def open(self, path: str) -> None:
        """Go to a path of the console, as if typed."""
        await self.tab.goto(self.url + path)

    async def app(self) -> Place:
        """The frame that holds the server's page, once it is there."""
        return await self.tab.frame()

    async def state(self, words: str) -> None:
        """The bar says this, now or soon."""
        await self.tab.text("#state", words)

    async def closed(self, title: str) -> None:
        """strad has closed the page and says why; the frame is gone."""
        await self.tab.text("#closed-title", title)
        assert await self.tab.frames() == []

    async def another_tab(self, known: int) -> Tab:
        """The tab that came after so many of this container."""
        end = time.monotonic() + 10
        while len(self.tabs) <= known:
            assert time.monotonic() < end, "no tab was opened"
            await asyncio.sleep(0.05)
        return Tab(self.bidi, self.tabs[known])

    async def new_tab(self) -> Tab:
        """Another tab of the same person."""
        made = await self.bidi.send(
            "browsingContext.create", type="tab", userContext=self.container
        )
        return Tab(self.bidi, made["context"])

    async def saves_to(self, folder: Path) -> None:
        """Where this person's downloads go."""
        behavior = {"type": "allowed", "destinationFolder": str(folder)}
        await self.bidi.send(
            "browser.setDownloadBehavior",
            downloadBehavior=behavior,
            userContexts=[self.container],
        )

    async def saved(self, count: int) -> None:
        """So many downloads have ended well."""
        end = time.monotonic() + 10
        while [one["status"] for one in self.downloads] != ["complete"] * count:
            assert time.monotonic() < end, self.downloads
            await asyncio.sleep(0.05)
