"""Settings from the environment (`NEWAGENT_*`) or a `.env` file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from newagent.errors import InputError


class Budgets(BaseSettings):
    """How much a run may use before it ends as exhausted; times are in seconds."""

    model_config = SettingsConfigDict(env_prefix="NEWAGENT_", env_file=".env", extra="ignore", frozen=True)

    max_rounds: int = Field(default=60, ge=1)
    max_writes: int = Field(default=24, ge=1)
    repair_reserve: int = Field(default=1, ge=0)
    max_revisions: int = Field(default=2, ge=0)
    max_invalid: int = Field(default=3, ge=1)
    max_task_writes: int = Field(default=4, ge=1)
    run_seconds: float = Field(default=1800, gt=0)
    token_gap_seconds: float = Field(default=120, gt=0)
    call_seconds: float = Field(default=300, gt=0)
    run_tokens: int = Field(default=1_000_000, ge=1)
    interaction_seconds: float = Field(default=86_400, gt=0)
    placement_nodes: int = Field(default=200_000, ge=1)


class Settings(BaseSettings):
    """The effective settings. Secrets show as stars wherever they are printed."""

    model_config = SettingsConfigDict(env_prefix="NEWAGENT_", env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("newagent", appauthor=False)))
    database_url: str | None = None
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_model: str | None = None
    llm_strategist_model: str | None = None
    llm_dialect: str = "openai"
    llm_codec: Literal["tools", "json"] = "tools"
    locale: Literal["zh", "en"] = "zh"
    log_format: Literal["console", "json"] = "console"
    budgets: Budgets = Field(default_factory=Budgets)

    @property
    def effective_database_url(self) -> str:
        """The SQL address: the one given, else an SQLite file in the data directory."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'newagent.db'}"

    @property
    def safe_database_url(self) -> str:
        """The SQL address without its password, for people and logs."""
        return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", self.effective_database_url)


def load_settings(**overrides: Any) -> Settings:
    """Reads the settings. Raises `InputError("invalid_settings")` with the names of those that are wrong."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        faults = [f"NEWAGENT_{'_'.join(str(p) for p in e['loc']).upper()}: {e['msg']}" for e in error.errors()]
        raise InputError("invalid_settings", "; ".join(faults)) from None
