"""A page in a real Chromium at a real service: uvicorn in a thread, SQLite in a folder, the sample term if wanted."""

from __future__ import annotations

import asyncio
import datetime as dt
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from newagent.calendars.importer import read_timetable
from newagent.calendars.sample import sample_term
from newagent.llm.mind import Mind
from newagent.llm.model_mind import make_mind
from newagent.loop.agent import Agent
from newagent.runtime import ShiftedRuntime
from newagent.server.app import make_app
from newagent.server.backend import Backend
from newagent.server.identity import Identity, LocalIdentity
from newagent.settings import Settings, load_settings
from newagent.state.sql.store import SqlStore
from newagent.stream.bus import Bus

USER = "local"
T = TypeVar("T")
expect.set_options(timeout=15_000)


class _Server(uvicorn.Server):
    """Tells when it listens, and where."""

    def __init__(self, config: uvicorn.Config, up: threading.Event) -> None:
        super().__init__(config)
        self._up = up

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.port: int = self.servers[0].sockets[0].getsockname()[1]
        self._up.set()


class Service:
    """A service on a port of its own, with a backdoor into its loop."""

    def __init__(self, folder: Path, *, mind: Mind | None = None, identity: Identity | None = None) -> None:
        self.folder = folder
        self._mind = mind
        self._identity = identity or LocalIdentity(USER)
        self._up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        settings: Settings = load_settings(data_dir=self.folder, database_url=None)
        self.store = await SqlStore.open(settings.effective_database_url, upgrade=True)
        mind = self._mind or make_mind(settings)
        bus = Bus()
        semester, _, _ = sample_term()
        morning = dt.datetime.combine(semester.start_date, dt.time(9), tzinfo=semester.zone).astimezone(dt.UTC)
        self.agent = Agent(self.store, mind, bus, ShiftedRuntime(morning))
        self.backend = Backend(self.store, self.agent, bus, self._identity)
        config = uvicorn.Config(make_app(self.backend), host="127.0.0.1", port=0, log_level="error")
        self._server = _Server(config, self._up)
        await self._server.serve()
        if self._mind is None:
            await mind.aclose()
        await self.store.close()

    def start(self) -> None:
        """Serves in a thread of its own."""
        self._thread.start()
        assert self._up.wait(30)

    def stop(self) -> None:
        """Ends the service in order."""
        self.loop.call_soon_threadsafe(setattr, self._server, "should_exit", True)
        self._thread.join(30)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs something in the loop of the service."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    def import_sample(self) -> None:
        """The sample term and its task classes."""
        semester, timetable, classes = sample_term()
        self.run(self.store.import_term(USER, read_timetable(timetable, semester, filename="sample.csv"), classes))

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self._server.port}/"


@contextmanager
def serving(folder: Path, *, sample: bool = True, **options: Any) -> Iterator[Service]:
    """A service for as long as it is wanted."""
    service = Service(folder, **options)
    service.start()
    try:
        if sample:
            service.import_sample()
        yield service
    finally:
        service.stop()


class Visitor:
    """A student at the page: what they do, in the words of a student; everything the browser complains of is kept."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))

    def visit(self, query: str = "") -> None:
        """Opens the page and waits until it stands."""
        self.page.goto(self.url + query)
        self.settled()

    def reload(self) -> None:
        """Opens the page anew, where it is."""
        self.page.reload()
        self.settled()

    def settled(self) -> None:
        """Waits until the page stands."""
        expect(self.page.locator("body[data-ready]")).to_be_attached()

    def say(self, text: str) -> None:
        """Writes and sends a message."""
        self.page.locator("#say").fill(text)
        self.page.locator("#say").press("Enter")

    def click(self, name: str, within: Locator | None = None) -> None:
        """Hits a button by its name."""
        (within or self.page).get_by_role("button", name=name, exact=True).click()

    @property
    def card(self) -> Locator:
        """The card that waits."""
        return self.page.locator("#timeline article.open")

    def waits(self) -> Locator:
        """Waits until a card waits."""
        expect(self.card).to_have_count(1)
        return self.card

    def rests(self) -> None:
        """Waits until no run works."""
        expect(self.page.locator("#composer .danger")).to_be_hidden()

    def told(self) -> list[str]:
        """The texts of the timeline as they stand, without what is folded."""
        return self.page.locator("#timeline > li").all_inner_texts()

    def blocks(self) -> list[str]:
        """The labels of what stands in the week on show."""
        return sorted(self.page.locator("#grid .block").evaluate_all("all => all.map(one => one.title)"))


@contextmanager
def visitor(browser: Browser, url: str, **options: Any) -> Iterator[Visitor]:
    """A student with a browser of their own."""
    wanted = {"locale": "zh-CN", "viewport": {"width": 1280, "height": 900}, **options}
    context: BrowserContext = browser.new_context(**wanted)
    try:
        yield Visitor(context.new_page(), url)
    finally:
        context.close()
