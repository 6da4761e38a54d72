from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from term_bed import url_of

from newagent.state.sql.store import SqlStore


@pytest.fixture
def url(tmp_path: Path) -> str:
    return url_of(tmp_path / "newagent.db")


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = await SqlStore.open(url)
    yield opened
    await opened.close()
