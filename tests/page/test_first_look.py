"""The page as it first stands, and a plan from its sentence to its approval."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.page.bed import Visitor


def test_the_timetable_is_there_before_anything_was_said(student: Visitor) -> None:
    student.visit()
    expect(student.page.locator("#model")).to_have_text("内置规则模型（不是语言模型）")
    expect(student.page.locator("#grid .block.course").first).to_be_visible()
    assert not student.page.locator("#grid button.block").count()


def test_a_plan_is_shown_approved_and_carried_out(student: Visitor) -> None:
    student.visit()
    student.click("帮我把这些任务排进日程")
    card = student.waits()
    expect(student.page.locator("#timeline .steps li")).to_have_count(2)
    student.click("同意", card)
    expect(student.page.locator("#grid .block.suggested").first).to_be_visible()
    student.rests()
    told = student.told()
    student.reload()
    assert student.told() == told
