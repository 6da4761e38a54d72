"""The world outside of a round, as its journal keeps it: what tools brought from the store or the web, and timetables.

What is pure is run again by a replay; what is not is recorded here, and a replay gives it back.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Protocol

from newagent.errors import NotFoundError, RefusedError
from newagent.schedule.edits import Change
from newagent.schedule.model import ScheduleState, Slot
from newagent.schedule.refresh import without_preview
from newagent.state.documents import AgentState
from newagent.state.snapshots import dump_schedule, read_schedule
from newagent.state.store import Timetable
from newagent.tools.base import Tool, ToolContext, ToolResult
from newagent.tools.call import run_tool

PURE = ("nothing", "schedule", "session")
CHANCE = ("tool_failed", "tool_timeout")
"""Results that a pure tool may owe to the machine it ran on."""

Answer = dict[str, Any]


class World(Protocol):
    """What a round asks of the world."""

    async def run(self, tool: Tool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Runs a tool."""
        ...

    async def load(
        self, timetable: Timetable | None, class_ids: tuple[int, ...] | None, now: dt.datetime
    ) -> ScheduleState:
        """Loads the stored timetable; raises what `Timetable.load_state` raises."""
        ...

    def loaded(self, fresh: ScheduleState, old: ScheduleState | None, new: ScheduleState) -> None:
        """Told what became of a timetable that was loaded: the preview `old` is `new` with it."""
        ...


class RecordingWorld:
    """The real world; `answers` are what it said to one round, in order, as JSON."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    async def run(self, tool: Tool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """See `World.run`."""
        result = await run_tool(tool, arguments, context)
        recorded = tool.needs not in PURE or result.code in CHANCE
        self.answers.append({"tool": tool.name, **({"result": _of_result(result, context)} if recorded else {})})
        return result

    async def load(
        self, timetable: Timetable | None, class_ids: tuple[int, ...] | None, now: dt.datetime
    ) -> ScheduleState:
        """See `World.load`."""
        assert timetable is not None
        try:
            return await timetable.load_state(class_ids, now)
        except RefusedError as error:
            missing = isinstance(error, NotFoundError)
            said = {"code": error.code, "message": error.message, "data": error.data, "missing": missing}
            self.answers.append({"load": {"error": said}})
            raise

    def loaded(self, fresh: ScheduleState, old: ScheduleState | None, new: ScheduleState) -> None:
        """See `World.loaded`."""
        if new is old:
            self.answers.append({"load": {"same": True}})
        elif new is fresh:
            self.answers.append({"load": {"stored": True}})
        else:
            self.answers.append({"load": {"schedule": dump_schedule(fresh)}})


class RecordedWorld:
    """The world as a journal has kept it.

    `old` is the preview before the round, `stored` the one after it where the round made a new version. Raises
    `LookupError` where the round asks something else than it did.
    """

    def __init__(self, answers: list[Answer], old: ScheduleState | None, stored: ScheduleState | None) -> None:
        self._answers = list(answers)
        self._old = old
        self._stored = stored

    async def run(self, tool: Tool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """See `World.run`."""
        answer = self._next()
        if answer.get("tool") != tool.name:
            raise LookupError(f"the round runs {tool.name}, which it did not")
        if "result" in answer:
            return _to_result(answer["result"], context)
        return await run_tool(tool, arguments, context)

    async def load(
        self, timetable: Timetable | None, class_ids: tuple[int, ...] | None, now: dt.datetime
    ) -> ScheduleState:
        """See `World.load`."""
        del timetable, class_ids, now
        loaded: Answer = self._next().get("load", {})
        if "error" in loaded:
            said = loaded["error"]
            kind = NotFoundError if said["missing"] else RefusedError
            raise kind(said["code"], said["message"], **said["data"])
        found: ScheduleState | None = None
        if "schedule" in loaded:
            found = read_schedule(loaded["schedule"])
        elif "stored" in loaded:
            found = self._stored
        elif "same" in loaded and self._old is not None:
            found = without_preview(self._old)
        if found is None:
            raise LookupError("the round loads a timetable, which it did not")
        return found

    def loaded(self, fresh: ScheduleState, old: ScheduleState | None, new: ScheduleState) -> None:
        """See `World.loaded`."""

    def _next(self) -> Answer:
        if not self._answers:
            raise LookupError("the round asks more of the world than it did")
        return self._answers.pop(0)


def _of_result(result: ToolResult, context: ToolContext) -> Answer:
    """A result with what it did to the documents: changed tasks or the whole schedule, changed fields of the state."""
    answer = result.as_json()
    if result.schedule is not None:
        answer["schedule"] = _patch(context.schedule, result.schedule)
    if result.state is not None:
        answer["state"] = changed_fields(context.state, result.state)
    return answer


def _to_result(answer: Answer, context: ToolContext) -> ToolResult:
    changes = tuple(Change(one["task_id"], _slot(one["before"]), _slot(one["after"])) for one in answer["changes"])
    schedule = _patched(context.schedule, answer["schedule"]) if "schedule" in answer else None
    state: AgentState | None = None
    if "state" in answer:
        assert context.state is not None
        state = with_fields(context.state, answer["state"])
    return ToolResult(answer["ok"], answer["code"], answer["text"], answer["data"], changes, schedule, state)


def _slot(document: Any) -> Slot | None:
    return None if document is None else Slot.model_validate(document)


def _patch(before: ScheduleState | None, after: ScheduleState) -> Answer:
    document = dump_schedule(after)
    if before is not None:
        old = dump_schedule(before)
        tasks = {task["id"]: task for task in old["tasks"]}
        same_ids = [task["id"] for task in document["tasks"]] == list(tasks)
        if same_ids and {**document, "tasks": ()} == {**old, "tasks": ()}:
            return {"tasks": [task for task in document["tasks"] if task != tasks[task["id"]]]}
    return {"document": document}


def _patched(before: ScheduleState | None, patch: Answer) -> ScheduleState:
    if "document" in patch:
        return read_schedule(patch["document"])
    assert before is not None
    changed = {task["id"]: task for task in patch["tasks"]}
    document = dump_schedule(before)
    return read_schedule({**document, "tasks": [changed.get(task["id"], task) for task in document["tasks"]]})


def changed_fields(before: AgentState | None, after: AgentState) -> Answer:
    """The fields of a state that differ from an earlier one, as JSON."""
    names = {
        name for name in AgentState.model_fields if before is None or getattr(after, name) != getattr(before, name)
    }
    return after.model_dump(mode="json", include=names)


def with_fields(state: AgentState, changes: Answer) -> AgentState:
    """A state with some fields as `changed_fields` has them."""
    return AgentState.model_validate({**state.model_dump(mode="json"), **changes})
