"""The first schema."""

import sqlalchemy as sa
from alembic import op

from newagent.state.sql.columns import TABLE, JsonText, Line, Prose, UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", Line(length=64), nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("title", Line(length=200), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", UtcDateTime(), nullable=True),
        sa.Column("run_id", Line(length=64), nullable=True),
        sa.Column("phase", Line(length=16), nullable=False),
        sa.Column("agent_state", JsonText(), nullable=False),
        sa.Column("schedule_version", sa.BigInteger(), nullable=False),
        sa.Column("schedule_hash", Line(length=64), nullable=False),
        sa.Column("message_count", sa.BigInteger(), nullable=False),
        sa.Column("message_hash", Line(length=64), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("journal_hash", Line(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
        **TABLE,
    )
    op.create_index("ix_conversations_user_id_updated_at", "conversations", ["user_id", "updated_at"], unique=False)
    op.create_table(
        "semesters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("start_date", sa.Date(), nullable=False),
        sa.Column("weeks", sa.SmallInteger(), nullable=False),
        sa.Column("time_zone", Line(length=64), nullable=False),
        sa.Column("sections", JsonText(), nullable=False),
        sa.Column("chosen", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_semesters"),
        sa.UniqueConstraint("user_id", "chosen", name="uq_semesters_user_id_chosen"),
        sa.UniqueConstraint("user_id", "start_date", name="uq_semesters_user_id_start_date"),
        sqlite_autoincrement=True,
        **TABLE,
    )
    op.create_table(
        "task_classes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("name", Line(length=255), nullable=False),
        sa.Column("document", JsonText(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_task_classes"),
        sa.UniqueConstraint("user_id", "name", name="uq_task_classes_user_id_name"),
        sqlite_autoincrement=True,
        **TABLE,
    )
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("semester_id", sa.Integer(), nullable=False),
        sa.Column("name", Line(length=255), nullable=False),
        sa.Column("location", Line(length=255), nullable=False),
        sa.Column("can_embed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["semester_id"], ["semesters.id"], name="fk_events_semester_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.UniqueConstraint("semester_id", "name", "location", name="uq_events_semester_id_name_location"),
        sqlite_autoincrement=True,
        **TABLE,
    )
    op.create_table(
        "interactions",
        sa.Column("conversation_id", Line(length=64), nullable=False),
        sa.Column("interaction_id", Line(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("answer", JsonText(), nullable=False),
        sa.Column("result", JsonText(), nullable=False),
        sa.Column("consumed_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_interactions_conversation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("conversation_id", "interaction_id", name="pk_interactions"),
        **TABLE,
    )
    op.create_table(
        "journal",
        sa.Column("conversation_id", Line(length=64), nullable=False),
        sa.Column("version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("round_id", Line(length=64), nullable=False),
        sa.Column("kind", Line(length=16), nullable=False),
        sa.Column("body", JsonText(), nullable=False),
        sa.Column("state_hash", Line(length=64), nullable=False),
        sa.Column("message_hash", Line(length=64), nullable=False),
        sa.Column("schedule_hash", Line(length=64), nullable=False),
        sa.Column("previous_hash", Line(length=64), nullable=False),
        sa.Column("hash", Line(length=64), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_journal_conversation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("conversation_id", "version", name="pk_journal"),
        sa.UniqueConstraint("round_id", name="uq_journal_round_id"),
        **TABLE,
    )
    op.create_table(
        "messages",
        sa.Column("conversation_id", Line(length=64), nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("document", JsonText(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_messages_conversation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("conversation_id", "position", name="pk_messages"),
        **TABLE,
    )
    op.create_table(
        "schedule_versions",
        sa.Column("conversation_id", Line(length=64), nullable=False),
        sa.Column("schedule_version", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("document", JsonText(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_schedule_versions_conversation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("conversation_id", "schedule_version", name="pk_schedule_versions"),
        **TABLE,
    )
    op.create_table(
        "task_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_class_id", sa.Integer(), nullable=False),
        sa.Column("item_order", sa.Integer(), nullable=False),
        sa.Column("name", Line(length=500), nullable=False),
        sa.Column("duration", sa.SmallInteger(), nullable=True),
        sa.Column("priority", sa.SmallInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["task_class_id"], ["task_classes.id"], name="fk_task_items_task_class_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_task_items"),
        sa.UniqueConstraint("task_class_id", "item_order", name="uq_task_items_task_class_id_item_order"),
        sqlite_autoincrement=True,
        **TABLE,
    )
    op.create_table(
        "timeline",
        sa.Column("conversation_id", Line(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("kind", Line(length=32), nullable=False),
        sa.Column("role", Line(length=16), nullable=False),
        sa.Column("content", Prose(), nullable=False),
        sa.Column("payload", JsonText(), nullable=False),
        sa.Column("tokens_consumed", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_timeline_conversation_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("conversation_id", "seq", name="pk_timeline"),
        **TABLE,
    )
    op.create_table(
        "event_slots",
        sa.Column("event_id", sa.Integer(), nullable=False),
        sa.Column("week", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("day_of_week", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("section", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("meeting", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name="fk_event_slots_event_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("event_id", "week", "day_of_week", "section", name="pk_event_slots"),
        **TABLE,
    )
    op.create_table(
        "item_slots",
        sa.Column("semester_id", sa.Integer(), nullable=False),
        sa.Column("user_id", Line(length=128), nullable=False),
        sa.Column("week", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("day_of_week", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("section", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("task_item_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["semester_id"], ["semesters.id"], name="fk_item_slots_semester_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["task_item_id"], ["task_items.id"], name="fk_item_slots_task_item_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("semester_id", "user_id", "week", "day_of_week", "section", name="pk_item_slots"),
        sa.UniqueConstraint("task_item_id", "part", name="uq_item_slots_task_item_id_part"),
        **TABLE,
    )
