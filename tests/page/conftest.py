"""A Chromium for the tests of the page: Debian's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page.bed import Service, Visitor, serving, visitor
from tests.page.chromium import FLAGS, require_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for a module, for Playwright holds the thread's event loop for as long as it is there."""
    program = require_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path) as one:
        yield one


@pytest.fixture
def student(browser: Browser, service: Service) -> Iterator[Visitor]:
    with visitor(browser, service.url) as one:
        yield one
        assert one.complaints == []
