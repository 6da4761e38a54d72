"""Memories and their index, keys of idempotent calls, used tokens, the audit; when a conversation is due."""

import sqlalchemy as sa
from alembic import op

from newagent.state.sql.columns import ROW, TABLE, JsonText, Line, Prose, UtcDateTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("conversations", sa.Column("due_at", UtcDateTime(), nullable=True))
    op.create_index("ix_conversations_due_at", "conversations", ["due_at"], unique=False)
    op.create_table(
        "memories",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("kind", Line(length=16), nullable=False),
        sa.Column("text", Prose(), nullable=False),
        sa.Column("source", Line(length=255), nullable=False),
        sa.Column("forgotten", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_memories"),
        sqlite_autoincrement=True,
        **TABLE,
    )
    op.create_index("ix_memories_user_id_created_at", "memories", ["user_id", "created_at"], unique=False)
    op.create_table(
        "memory_grams",
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("gram", Line(length=8), nullable=False),
        sa.Column("memory_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["memories.id"], name="fk_memory_grams_memory_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "gram", "memory_id", name="pk_memory_grams"),
        **TABLE,
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("route", Line(length=64), nullable=False),
        sa.Column("idempotency_key", Line(length=128), nullable=False),
        sa.Column("body_hash", Line(length=64), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("response", JsonText(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "route", "idempotency_key", name="pk_idempotency_keys"),
        **TABLE,
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "token_usage",
        sa.Column("id", ROW, nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("conversation_id", Line(length=64), nullable=True),
        sa.Column("run_id", Line(length=64), nullable=True),
        sa.Column("role", Line(length=16), nullable=False),
        sa.Column("model", Line(length=128), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_token_usage"),
        **TABLE,
    )
    op.create_index("ix_token_usage_user_id_at", "token_usage", ["user_id", "at"], unique=False)
    op.create_index("ix_token_usage_run_id", "token_usage", ["run_id"], unique=False)
    op.create_table(
        "audit",
        sa.Column("id", ROW, nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("action", Line(length=64), nullable=False),
        sa.Column("detail", JsonText(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        **TABLE,
    )
    op.create_index("ix_audit_user_id_at", "audit", ["user_id", "at"], unique=False)
