from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from newagent.state.sql.store import SqlStore
from tests.services import fresh_mariadb
from tests.state.term_bed import url_of


@pytest.fixture(params=["sqlite", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of each kind in turn."""
    return url_of(tmp_path / "newagent.db") if request.param == "sqlite" else fresh_mariadb()


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = await SqlStore.open(url)
    yield opened
    await opened.close()
