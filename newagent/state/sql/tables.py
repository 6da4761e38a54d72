"""The tables. Their history is in `migrations/`; a test compares the two.

Everything belongs to a user, directly or through its conversation, semester or task class. `messages`,
`schedule_versions`, `timeline`, `journal` and `interactions` are append-only: no statement of this package updates
them, and rows go only with their conversation. What was used (`token_usage`) and done (`audit`) stays when the
conversation goes. `due_at` is when somebody must look after a conversation that nobody touched: when its lease ends
while it works, when its card ends while it waits. Ids are never given out twice (`sqlite_autoincrement`), since
previews name them.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    UniqueConstraint,
)

from newagent.state.sql.columns import ROW, TABLE, JsonText, Line, Prose, UtcDateTime

USER_LENGTH = 128
ID_LENGTH = 64
TITLE_LENGTH = 200
NAME_LENGTH = 255
ITEM_LENGTH = 500
HASH_LENGTH = 64
GRAM_LENGTH = 8
ROUTE_LENGTH = 64
KEY_LENGTH = 128
MODEL_LENGTH = 128

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Line(ID_LENGTH), primary_key=True),
    Column("user_id", Line(USER_LENGTH), nullable=False),
    Column("title", Line(TITLE_LENGTH), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("lease_until", UtcDateTime),
    Column("due_at", UtcDateTime),
    Column("run_id", Line(ID_LENGTH)),
    Column("phase", Line(16), nullable=False),
    Column("agent_state", JsonText, nullable=False),
    Column("schedule_version", BigInteger, nullable=False),
    Column("schedule_hash", Line(HASH_LENGTH), nullable=False),
    Column("message_count", BigInteger, nullable=False),
    Column("message_hash", Line(HASH_LENGTH), nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("journal_hash", Line(HASH_LENGTH), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Index(None, "user_id", "updated_at"),
    Index(None, "due_at"),
    **TABLE,
)


def _conversation() -> Column[str]:
    return Column(
        "conversation_id",
        Line(ID_LENGTH),
        ForeignKey("conversations.id", ondelete="CASCADE"),
        primary_key=True,
    )


messages = Table(
    "messages",
    metadata,
    _conversation(),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
    Column("document", JsonText, nullable=False),
    **TABLE,
)

schedule_versions = Table(
    "schedule_versions",
    metadata,
    _conversation(),
    Column("schedule_version", BigInteger, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
    Column("document", JsonText, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    **TABLE,
)

timeline = Table(
    "timeline",
    metadata,
    _conversation(),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("version", BigInteger, nullable=False),
    Column("kind", Line(32), nullable=False),
    Column("role", Line(16), nullable=False),
    Column("content", Prose, nullable=False),
    Column("payload", JsonText, nullable=False),
    Column("tokens_consumed", BigInteger, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    **TABLE,
)

journal = Table(
    "journal",
    metadata,
    _conversation(),
    Column("version", BigInteger, primary_key=True, autoincrement=False),
    Column("round_id", Line(ID_LENGTH), nullable=False, unique=True),
    Column("kind", Line(16), nullable=False),
    Column("body", JsonText, nullable=False),
    Column("state_hash", Line(HASH_LENGTH), nullable=False),
    Column("message_hash", Line(HASH_LENGTH), nullable=False),
    Column("schedule_hash", Line(HASH_LENGTH), nullable=False),
    Column("previous_hash", Line(HASH_LENGTH), nullable=False),
    Column("hash", Line(HASH_LENGTH), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    **TABLE,
)

interactions = Table(
    "interactions",
    metadata,
    _conversation(),
    Column("interaction_id", Line(ID_LENGTH), primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("answer", JsonText, nullable=False),
    Column("result", JsonText, nullable=False),
    Column("consumed_at", UtcDateTime, nullable=False),
    **TABLE,
)

semesters = Table(
    "semesters",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Line(USER_LENGTH), nullable=False),
    Column("start_date", Date, nullable=False),
    Column("weeks", SmallInteger, nullable=False),
    Column("time_zone", Line(ID_LENGTH), nullable=False),
    Column("sections", JsonText, nullable=False),
    Column("chosen", Integer, nullable=False),
    UniqueConstraint("user_id", "start_date"),
    UniqueConstraint("user_id", "chosen"),
    sqlite_autoincrement=True,
    **TABLE,
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("semester_id", Integer, ForeignKey("semesters.id", ondelete="CASCADE"), nullable=False),
    Column("name", Line(NAME_LENGTH), nullable=False),
    Column("location", Line(NAME_LENGTH), nullable=False),
    Column("can_embed", Boolean, nullable=False),
    UniqueConstraint("semester_id", "name", "location"),
    sqlite_autoincrement=True,
    **TABLE,
)

event_slots = Table(
    "event_slots",
    metadata,
    Column("event_id", Integer, ForeignKey("events.id", ondelete="CASCADE"), primary_key=True),
    Column("week", SmallInteger, primary_key=True, autoincrement=False),
    Column("day_of_week", SmallInteger, primary_key=True, autoincrement=False),
    Column("section", SmallInteger, primary_key=True, autoincrement=False),
    Column("meeting", SmallInteger, nullable=False),
    **TABLE,
)

task_classes = Table(
    "task_classes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Line(USER_LENGTH), nullable=False),
    Column("name", Line(NAME_LENGTH), nullable=False),
    Column("document", JsonText, nullable=False),
    UniqueConstraint("user_id", "name"),
    sqlite_autoincrement=True,
    **TABLE,
)

task_items = Table(
    "task_items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task_class_id", Integer, ForeignKey("task_classes.id", ondelete="CASCADE"), nullable=False),
    Column("item_order", Integer, nullable=False),
    Column("name", Line(ITEM_LENGTH), nullable=False),
    Column("duration", SmallInteger),
    Column("priority", SmallInteger),
    UniqueConstraint("task_class_id", "item_order"),
    sqlite_autoincrement=True,
    **TABLE,
)

item_slots = Table(
    "item_slots",
    metadata,
    Column("semester_id", Integer, ForeignKey("semesters.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Line(USER_LENGTH), primary_key=True),
    Column("week", SmallInteger, primary_key=True, autoincrement=False),
    Column("day_of_week", SmallInteger, primary_key=True, autoincrement=False),
    Column("section", SmallInteger, primary_key=True, autoincrement=False),
    Column("task_item_id", Integer, ForeignKey("task_items.id", ondelete="CASCADE"), nullable=False),
    Column("part", SmallInteger, nullable=False),
    UniqueConstraint("task_item_id", "part"),
    **TABLE,
)

memories = Table(
    "memories",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user_id", Line(USER_LENGTH), nullable=False),
    Column("kind", Line(16), nullable=False),
    Column("text", Prose, nullable=False),
    Column("source", Line(NAME_LENGTH), nullable=False),
    Column("forgotten", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Index(None, "user_id", "created_at"),
    sqlite_autoincrement=True,
    **TABLE,
)

memory_grams = Table(
    "memory_grams",
    metadata,
    Column("user_id", Line(USER_LENGTH), primary_key=True),
    Column("gram", Line(GRAM_LENGTH), primary_key=True),
    Column("memory_id", Integer, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    **TABLE,
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("user_id", Line(USER_LENGTH), primary_key=True),
    Column("route", Line(ROUTE_LENGTH), primary_key=True),
    Column("idempotency_key", Line(KEY_LENGTH), primary_key=True),
    Column("body_hash", Line(HASH_LENGTH), nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("response", JsonText, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Index(None, "created_at"),
    **TABLE,
)

token_usage = Table(
    "token_usage",
    metadata,
    Column("id", ROW, primary_key=True),
    Column("user_id", Line(USER_LENGTH), nullable=False),
    Column("conversation_id", Line(ID_LENGTH)),
    Column("run_id", Line(ID_LENGTH)),
    Column("role", Line(16), nullable=False),
    Column("model", Line(MODEL_LENGTH), nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index(None, "user_id", "at"),
    Index(None, "run_id"),
    **TABLE,
)

audit = Table(
    "audit",
    metadata,
    Column("id", ROW, primary_key=True),
    Column("user_id", Line(USER_LENGTH), nullable=False),
    Column("action", Line(ROUTE_LENGTH), nullable=False),
    Column("detail", JsonText, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index(None, "user_id", "at"),
    **TABLE,
)
