"""A conversation's events in the terminal, as a person follows them: reasoning, tool cards, plans, confirmations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from newagent.cli.output import plain
from newagent.stream.events import Ephemeral, Event
from newagent.texts import Locale, say

MANY_CHANGES = 10
SHOWN_ARGUMENTS = 80
MOST_CHARACTERS = 160
CONTROLS = frozenset({"plan_done", "next_step", "done", "ask_user"})


class TimelineView:
    """A publisher that prints. Streamed text is shown as it comes and not repeated when it becomes durable."""

    def __init__(self, console: Console, locale: Locale) -> None:
        self.console = console
        self.locale: Locale = locale
        self._streamed = ""

    async def publish(self, conversation_id: str, events: list[Event | Ephemeral]) -> None:
        """Prints events in order; see `Publisher`."""
        del conversation_id
        for event in events:
            self.show(event)

    def show(self, event: Event | Ephemeral) -> None:
        """Prints one event."""
        if isinstance(event, Ephemeral):
            if event.kind == "assistant_text_delta" and self.console.is_terminal:
                self._stream(event)
            return
        event = replace(event, content=plain(event.content), payload=_plain_json(event.payload))
        self._end_stream(event)
        show = getattr(self, f"_show_{event.kind}", None)
        if show is not None:
            show(event)

    def _stream(self, event: Ephemeral) -> None:
        if event.payload.get("display_mode") == "replace" and self._streamed:
            # The answer begins anew; what a terminal has shown stays above.
            self.console.out("", highlight=False)
            self._streamed = ""
        text = plain(event.text)
        self.console.out(text, end="", highlight=False)
        self._streamed += text

    def _end_stream(self, event: Event) -> None:
        if not self._streamed:
            return
        rest = event.content.removeprefix(self._streamed) if event.kind == "assistant_text" else ""
        self.console.out(rest, highlight=False)
        if event.kind != "assistant_text":
            self._streamed = ""

    def _show_user_text(self, event: Event) -> None:
        self.console.print()
        self._print(Text.assemble((f"{self._say('view.user')} › ", "bold cyan"), event.content))

    def _show_assistant_text(self, event: Event) -> None:
        if self._streamed:
            self._streamed = ""
            return
        self._print(Padding(Text(event.content), (0, 0, 0, 2)))

    def _show_reasoning(self, event: Event) -> None:
        self._print(Padding(Text(f"{self._say('view.reasoning')}: {event.content}", "dim italic"), (0, 0, 0, 2)))

    def _show_plan(self, event: Event) -> None:
        lines = [f"{i}. {step['content']}" for i, step in enumerate(event.payload["steps"], 1)]
        self._print(Panel(Text("\n".join(lines)), title=self._say("view.plan"), title_align="left", expand=False))

    def _show_tool_result(self, event: Event) -> None:
        tool = event.payload["tool"]
        mark, style = {"done": ("✓", "green"), "blocked": ("✗", "yellow")}.get(tool["status"], ("!", "red"))
        summary = tool["summary"].split("\n", 1)[0]
        if summary.startswith("{"):
            summary = self._say("view.judged")
        line = Text(f"{mark} ", style)
        if tool["name"] not in CONTROLS:
            line.append(f"{tool['name']} ", "bold").append(f"{tool['arguments_preview'][:SHOWN_ARGUMENTS]} ", "dim")
        self._print(Padding(line.append(summary[:MOST_CHARACTERS].rstrip("：:"), ""), (0, 0, 0, 2)))

    def _show_confirm_request(self, event: Event) -> None:
        confirm = event.payload["confirm"]
        if confirm["kind"] == "plan":
            # Its steps were shown by the plan itself.
            self._print(Text(f"  ? {self._say('view.confirm')}: {confirm['title']}", "magenta"))
        else:
            self._print(self.card(confirm))

    def card(self, confirm: dict[str, Any]) -> Panel:
        """A confirmation card: the exact changes, the risk, the judge's before → after."""
        changes = [change["text"] for change in confirm["changes"]]
        lines = [Text(f"• {line}") for line in changes[:MANY_CHANGES]]
        if len(changes) > MANY_CHANGES:
            lines.append(Text(self._say("view.more", count=len(changes) - MANY_CHANGES), "dim"))
        before, after = confirm.get("before"), confirm.get("after")
        if before and after:
            cost = self._say("view.cost", before=before["cost"], after=after["cost"], pending=after["pending"])
            lines.append(Text(cost, "bold"))
        risk = f" · {self._say('view.risk', risk=confirm['risk'])}" if confirm["risk"] else ""
        title = f"{self._say('view.confirm')}: {confirm['title']}{risk}"
        return Panel(Group(*lines), title=escape(title), title_align="left", border_style="magenta", expand=False)

    def _show_confirm_result(self, event: Event) -> None:
        action, source = event.payload["action"], event.payload["source"]
        self._print(
            Text(f"  → {self._say(f'view.action.{action}')}（{self._say(f'view.source.{source}')}）", "magenta")
        )

    def _show_interrupt(self, event: Event) -> None:
        options = [f"{i}. {option}" for i, option in enumerate(event.payload["options"], 1)]
        body = Text("\n".join([event.payload["question"], *options]))
        self._print(
            Panel(body, title=self._say("card.question"), title_align="left", border_style="cyan", expand=False)
        )

    def _show_finish(self, event: Event) -> None:
        outcome = event.payload["outcome"]
        if outcome["code"] == "replied":
            return
        style = "green" if outcome["kind"] == "completed" else "yellow"
        self._print(Text(f"  ■ {outcome['kind']}: {event.content}", style))

    def _print(self, shown: RenderableType) -> None:
        """Prints wrapped to the width of the terminal."""
        self.console.print(shown, soft_wrap=False)

    def _say(self, key: str, **values: object) -> str:
        return say(self.locale, key, **values)


def _plain_json(value: Any) -> Any:
    match value:
        case str():
            return plain(value)
        case dict():
            return {name: _plain_json(held) for name, held in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_plain_json(held) for held in cast("list[Any]", value)]
        case _:
            return value
