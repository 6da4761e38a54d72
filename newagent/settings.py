"""Settings from the environment (`NEWAGENT_*`) or a `.env` file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from newagent.errors import InputError

LONGEST_SECONDS = 10 * 366 * 86_400
_FROM = SettingsConfigDict(env_prefix="NEWAGENT_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True)


class Budgets(BaseSettings):
    """How much a run may use before it ends as exhausted; times are in seconds."""

    model_config = _FROM

    max_rounds: int = Field(default=60, ge=1)
    max_writes: int = Field(default=24, ge=1)
    repair_reserve: int = Field(default=1, ge=0)
    max_revisions: int = Field(default=2, ge=0)
    max_invalid: int = Field(default=3, ge=1)
    max_task_writes: int = Field(default=4, ge=1)
    run_seconds: float = Field(default=1800, gt=0, le=LONGEST_SECONDS)
    token_gap_seconds: float = Field(default=120, gt=0, le=LONGEST_SECONDS)
    call_seconds: float = Field(default=300, gt=0, le=LONGEST_SECONDS)
    run_tokens: int = Field(default=1_000_000, ge=1)
    max_takeovers: int = Field(default=5, ge=1)
    interaction_seconds: float = Field(default=86_400, gt=0, le=LONGEST_SECONDS)
    placement_nodes: int = Field(default=200_000, ge=1)


class Settings(BaseSettings):
    """The effective settings. Secrets show as stars wherever they are printed."""

    model_config = _FROM

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("newagent", appauthor=False)))
    database_url: str | None = None
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_model: str | None = None
    llm_strategist_model: str | None = None
    llm_dialect: str = "openai"
    llm_codec: Literal["tools", "json"] = "tools"
    jwt_key: SecretStr | None = None
    jwt_algorithm: Literal["HS256", "RS256"] = "HS256"
    jwt_audience: str | None = None
    cors_origins: tuple[str, ...] = ()
    locale: Literal["zh", "en"] = "zh"
    log_format: Literal["console", "json"] = "console"
    budgets: Budgets = Field(default_factory=Budgets)

    @field_validator("data_dir")
    @classmethod
    def _expanded(cls, path: Path) -> Path:
        return path.expanduser()

    @property
    def effective_database_url(self) -> str:
        """The SQL address: the one given, else an SQLite file in the data directory."""
        path = str(self.data_dir / "newagent.db")
        for special in "%?#":  # these mean something in an address
            path = path.replace(special, f"%{ord(special):02X}")
        return self.database_url or f"sqlite+aiosqlite:///{path}"

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
    except SettingsError as error:
        raise InputError("invalid_settings", f"NEWAGENT_BUDGETS is set by its parts: {error}") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError("invalid_settings", f"the settings or .env cannot be read: {error}") from None
