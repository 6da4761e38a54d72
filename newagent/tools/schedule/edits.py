"""The edits of the preview as tools: place, move, swap, batch_move, unplace."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from newagent.schedule import edits
from newagent.tools.base import Arguments, ToolContext, ToolResult
from newagent.tools.filters import Positive
from newagent.tools.registry import tool
from newagent.tools.writing import written


class Target(Arguments):
    """A task and the day and section where it shall start."""

    task_id: int
    day: Positive
    start: Positive


class Pair(Arguments):
    """Two tasks."""

    task_a: int
    task_b: int


class Batch(Arguments):
    """Several moves, judged together."""

    moves: Annotated[tuple[Target, ...], Field(max_length=60)]


class One(Arguments):
    """A task."""

    task_id: int


@tool("schedule", "mutation", Target, write=True)
def place(context: ToolContext, target: Target) -> ToolResult:
    """把一个未放的任务放到某天某节开始的位置。"""
    assert context.schedule is not None
    return written(context.schedule, edits.place(context.schedule, target.task_id, target.day, target.start))


@tool("schedule", "mutation", Target, write=True)
def move(context: ToolContext, target: Target) -> ToolResult:
    """把一个已放的任务移到某天某节开始的位置。"""
    assert context.schedule is not None
    outcome = edits.move(context.schedule, target.task_id, target.day, target.start)
    return written(context.schedule, outcome)


@tool("schedule", "mutation", Pair, write=True)
def swap(context: ToolContext, pair: Pair) -> ToolResult:
    """交换两个长度相同的已放任务的位置。"""
    assert context.schedule is not None
    return written(context.schedule, edits.swap(context.schedule, pair.task_a, pair.task_b))


@tool("schedule", "mutation", Batch, write=True)
def batch_move(context: ToolContext, batch: Batch) -> ToolResult:
    """一次移动几个任务，要么全部成功，要么都不动；只看最后的结果，因此两个任务可以互换位置。"""
    assert context.schedule is not None
    moves = [edits.Move(one.task_id, one.day, one.start) for one in batch.moves]
    return written(context.schedule, edits.batch_move(context.schedule, moves))


@tool("schedule", "mutation", One, write=True)
def unplace(context: ToolContext, one: One) -> ToolResult:
    """把一个已放的任务从预览里取出，变回未放。"""
    assert context.schedule is not None
    return written(context.schedule, edits.unplace(context.schedule, one.task_id))
