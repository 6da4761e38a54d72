"""The examples of docs/backend/files.md are read, and the codes it tells are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from newagent.calendars.reasons import Note, Refusal
from newagent.texts import catalogue
from tests.calendars.calendar_files import codes, read

PAGE = (Path(__file__).parents[2] / "docs" / "backend" / "files.md").read_text("utf-8")


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_are_taken_whole() -> None:
    files = [(text, f"t.{language}") for language in ("csv", "ics", "json") for text in examples(language)]
    assert len(files) == 5
    for text, name in files:
        assert all(taken for taken, _ in codes(read(text, name))), text


def test_the_weeks_of_the_first_example() -> None:
    result = read(examples("csv")[0])
    weeks = {course.name: [m.week for m in course.meetings] for course in result.courses}
    assert weeks["大学物理"] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 15]
    assert weeks["体育"] == [2, 4, 6, 8, 10, 12, 14, 16, 18]


def test_the_days_off_of_the_example() -> None:
    result = read(examples("json")[0], "t.json")
    moved = {(m.week, m.day_of_week) for m in result.courses[1].meetings if m.day_of_week == 5 or m.day_of_week == 6}
    assert (9, 5) not in moved
    assert (10, 6) in moved


def test_the_program_of_the_page_runs() -> None:
    (program,) = examples("python")
    exec(compile(program, "files.md", "exec"), {})


def test_every_reason_is_on_the_page_and_in_the_catalogue() -> None:
    reasons = set(get_args(Refusal)) | set(get_args(Note))
    table = PAGE[PAGE.index("## The report") : PAGE.index("## Export")]
    assert reasons <= set(re.findall(r"[a-z_]+", table))
    prefix = "import.reason."
    for locale in ("zh", "en"):
        assert {key.removeprefix(prefix) for key in catalogue(locale) if key.startswith(prefix)} == reasons
