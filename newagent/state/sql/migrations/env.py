"""Runs migrations on the connection, and inside the transaction, that `newagent.state.sql.migrate` hands over."""

from alembic import context

from newagent.state.sql.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
