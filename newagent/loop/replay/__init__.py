"""Replay: a recorded conversation made again without model, network or store, and forked where it is to go elsewhere.

verdict = await verify(await store.recording(user_id, conversation_id))
assert verdict.ok, verdict.difference
"""

from newagent.loop.replay.compare import Difference
from newagent.loop.replay.fork import fork
from newagent.loop.replay.redact import redacted
from newagent.loop.replay.verify import Verdict, verify

__all__ = ["Difference", "Verdict", "fork", "redacted", "verify"]
