from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from newagent.state.sql.store import SqlStore
from tests.state.term_bed import url_of


@pytest.fixture
def url(tmp_path: Path) -> str:
    return url_of(tmp_path / "newagent.db")


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = await SqlStore.open(url)
    yield opened
    await opened.close()
