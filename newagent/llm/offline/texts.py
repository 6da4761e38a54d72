"""What the rule model says, in both languages. Its words are fixed; only names and lists are filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]

_ZH: Mapping[str, str] = {
    "who": "我是 newagent 内置的规则模型，不是语言模型：只认得固定的几类说法，不会理解任意的话。要换成真正的模型，设置 "
    "NEWAGENT_LLM_BASE_URL、NEWAGENT_LLM_API_KEY、NEWAGENT_LLM_MODEL。",
    "help": "我是内置的规则模型（不是语言模型）。可以这样对我说：\n"
    "· 帮我把这些任务排进日程 / 只排概率论\n"
    "· 优化一下 / 更均匀一点 / 一天里少换几科 / 晚上不想学太费脑的\n"
    "· 把概率论第3章挪到周三晚上 / 交换 #12 和 #15 / 把 #12 取出来 / 撤销\n"
    "· 周三有什么 / 我什么时候有空 / 概率论第3章排在哪天 / 还有多少没排 / 有什么问题\n"
    "· 写入课表",
    "unknown": "这句话我处理不了：我是内置的规则模型，不是语言模型，只认得固定的几类说法。\n"
    "我会：把任务类排进课表、整体优化、按你的偏好（晚上、换科、负荷……）调整、挪动或交换指定任务、"
    "查某天的安排和空闲、撤销、写入课表。说“帮助”看例句。\n"
    "要能听懂任意的话，请连接真正的模型：设置 NEWAGENT_LLM_BASE_URL、NEWAGENT_LLM_API_KEY、NEWAGENT_LLM_MODEL。",
    "hello": "你好！我是 newagent 内置的规则模型（不是语言模型），可以帮你把学习任务排进课表。{state}"
    "说“帮助”看我会什么。",
    "thanks": "不客气。预览里的安排可以继续调整、撤销，或者写入课表。",
    "state": "现在有 {classes} 个任务类，{pending} 项还没排，{placed} 项在预览里。",
    "nothing_to_stop": "好，什么都不改。",
    "yes_to_what": "现在没有等你确认的事。说说想怎么安排吧，例如“帮我把这些任务排进日程”。",
    "no_schedule": "还没有可用的课表或任务类：请先导入课表、建立任务类，再让我排。",
    "no_pending": "{what}已经都排好了，没有未放的任务。要整体改进就说“优化一下”，要全部重来就说“重新排”。",
    "every_class": "所有任务类的任务",
    "understood": "按规则理解为：{kind}。",
    "kind.work": "安排、优化或偏好",
    "kind.move": "挪动一个任务",
    "kind.swap": "交换两个任务",
    "kind.unplace": "取出一个任务",
    "kind.undo": "撤销",
    "kind.apply": "写入课表",
    "kind.day": "问某天的安排",
    "kind.free": "问空闲时间",
    "kind.where": "问任务的位置",
    "kind.status": "问整体情况",
    "kind.health": "问有什么问题",
    "kind.hello": "问候",
    "kind.thanks": "致谢",
    "kind.who": "问我是什么",
    "kind.help": "问我会什么",
    "kind.stop": "停下",
    "kind.yes": "同意",
    "kind.unknown": "不认得的说法",
    "looking": "先看一下课表和任务。",
    "plan": "我打算这样做：",
    "step.prefer": "设置学习偏好：{wishes}",
    "step.build": "把任务排进课表：{classes}",
    "step.improve": "体检，按给出的候选逐步改进",
    "step.move": "移动 {task} 到 {place}",
    "step.place": "放入 {task} 到 {place}",
    "step.swap": "交换 {task} 和 {other}",
    "step.unplace": "取出 {task}",
    "step.undo": "撤销上一步改动",
    "step.apply": "把预览写入课表",
    "done.prefer": "偏好已更新",
    "done.build": "这些任务类没有未放的任务",
    "done.improve": "体检的结论是不必继续",
    "done.edit": "改动已执行，或学生不想要了",
    "check.prefer": "偏好已按学生的愿望处理",
    "check.build": "任务已放进预览",
    "check.improve": "体检的结论是不必继续，或学生要求停下",
    "check.edit": "改动已执行，或学生不想要了",
    "say.build": "把这些任务一次排好。",
    "say.prefer": "先把你的愿望设成偏好。",
    "say.judge": "体检一下现在的安排。",
    "say.candidate": "体检建议：{summary}。",
    "say.next_candidate": "那换一个：{summary}。",
    "say.stop": "好，就停在这里。",
    "say.enough": "体检认为不值得再改了，优化到此为止。",
    "say.no_more": "没有别的候选了，优化到此为止。",
    "say.profile": "任务类{classes}缺少学科画像（类型、难度、强度），对它们的判断会粗一些；可以在任务类里补上。",
    "say.move": "把 {task} 放到 {place}。",
    "ask.which_task": "你说的是哪个任务？",
    "ask.not_found": "没有找到“{phrase}”，你说的是哪个任务？",
    "ask.where": "把 {task} 放到什么时候？例如“周三晚上”或“下周二第3-4节”。",
    "ask.no_place": "那个时间没有 {task} 可以去的地方（次序、日期限制或已被占用）。换到下面哪个位置？",
    "ask.no_place_at_all": "{task} 现在没有别的合法位置。要怎么办？",
    "ask.other_place": "那放到哪里？",
    "ask.failed": "这个改动做不了：{reason}。要怎么办？",
    "ask.infeasible": "按现在的约束放不下全部任务。想怎么放宽？",
    "ask.blocked": "被预览里已放的任务挡住了。允许我重排这些任务类已放的任务吗？",
    "ask.undecided": "在搜索预算内没能判断放不放得下。要怎么办？",
    "ask.prefer": "偏好没有更新。接下来怎么办？",
    "ask.improve": "这些建议你都不想要。接下来怎么办？",
    "ask.plan": "这个计划你不同意。想怎么改？",
    "option.rebuild": "允许重排",
    "option.stop": "先不弄了",
    "option.keep": "保持原位",
    "option.improve": "不改偏好，直接优化",
    "option.more": "继续看别的建议",
    "option.do_it": "还是按原计划做",
    "relax.closed": "好，保持现状，没放下的任务先留着。",
    "relax.choose": "我不能替你修改任务类的日期、时段或内容。请在任务类里改成“{option}”，再让我排一次。",
    "locked": "{task} 已经写进课表或是固定的课，我不能改动它。",
    "not_in_window": "这一天不在可安排的时间范围里（{first} 至 {last}）。",
    "no_free": "这段时间没有两节连着的空位。",
    "health": "体检：评分 {cost}（越低越好），未放 {pending} 项，需要留意的问题 {issues} 个。{primary}",
    "health.primary": "最主要的：{summary}。",
    "cannot": "这件事做不了：{reason}。",
    "ignored": "“{words}”这部分我没有听懂，先不管它。",
    "no_place_at_all": "{task} 现在没有任何合法的位置。",
    "sum.build": "我把任务排进了课表预览。",
    "sum.prefer": "按你的愿望更新了偏好。",
    "sum.improve": "然后按体检给出的候选做了调整，每一处改动都是因为它能降低评分。",
    "sum.checked": "我做了体检，没有改动安排。",
    "sum.edit": "按你的要求改动了预览。",
    "sum.undo": "撤销了上一步改动。",
    "sum.apply": "预览已写入课表。",
    "sum.nothing": "这一轮没有改动预览。",
    "sum.pending": "还有任务没有放下。",
    "sum.refused": "你没有同意的改动都没有执行。",
}

_EN: Mapping[str, str] = {
    "who": "I am newagent's built-in rule model, not a language model: I know a fixed set of requests and do not "
    "understand free speech. For a real model set NEWAGENT_LLM_BASE_URL, NEWAGENT_LLM_API_KEY, NEWAGENT_LLM_MODEL.",
    "help": "I am the built-in rule model (not a language model). Things you can say:\n"
    "· schedule my tasks / place only linear algebra\n"
    "· improve it / spread it more evenly / fewer switches a day / nothing heavy in the evening\n"
    "· move chapter 3 to Wednesday evening / swap #12 and #15 / unplace #12 / undo\n"
    "· what is on Wednesday / when am I free / when is chapter 3 / what is left / any problems\n"
    "· apply",
    "unknown": "I cannot do that: I am a rule model, not a language model, and know a fixed set of requests.\n"
    "I can place task classes in your timetable, improve it as a whole, follow preferences (evenings, switching, "
    "load …), move or swap a named task, tell what is on a day and when you are free, undo, and apply. Say “help” "
    "for examples.\nTo be understood freely, connect a real model: set NEWAGENT_LLM_BASE_URL, NEWAGENT_LLM_API_KEY, "
    "NEWAGENT_LLM_MODEL.",
    "hello": "Hello! I am newagent's built-in rule model (not a language model); I place study tasks in your "
    "timetable. {state}Say “help” to see what I can do.",
    "thanks": "You are welcome. The preview can still be adjusted, undone, or applied.",
    "state": "There are {classes} task classes, {pending} items not placed, {placed} in the preview. ",
    "nothing_to_stop": "Fine, nothing is changed.",
    "yes_to_what": "Nothing is waiting for your consent. Tell me what to do, such as “schedule my tasks”.",
    "no_schedule": "There is no timetable or task class yet: import a timetable and make task classes first.",
    "no_pending": "Everything is placed already for {what}. Say “improve it” for a better plan, or “plan everything "
    "from scratch”.",
    "every_class": "all task classes",
    "understood": "Understood by rule as: {kind}.",
    "kind.work": "placing, improving, or preferences",
    "kind.move": "moving a task",
    "kind.swap": "swapping two tasks",
    "kind.unplace": "taking a task out",
    "kind.undo": "undo",
    "kind.apply": "writing into the timetable",
    "kind.day": "a question about a day",
    "kind.free": "a question about free time",
    "kind.where": "a question where a task is",
    "kind.status": "a question about the whole",
    "kind.health": "a question what is wrong",
    "kind.hello": "a greeting",
    "kind.thanks": "thanks",
    "kind.who": "a question what I am",
    "kind.help": "a question what I can do",
    "kind.stop": "stopping",
    "kind.yes": "consent",
    "kind.unknown": "words I do not know",
    "looking": "Let me look at the timetable and the tasks.",
    "plan": "This is what I would do:",
    "step.prefer": "Set preferences: {wishes}",
    "step.build": "Place the tasks: {classes}",
    "step.improve": "Check the plan and improve it by the candidates offered",
    "step.move": "Move {task} to {place}",
    "step.place": "Put {task} at {place}",
    "step.swap": "Swap {task} and {other}",
    "step.unplace": "Take out {task}",
    "step.undo": "Undo the last change",
    "step.apply": "Write the preview into the timetable",
    "done.prefer": "the preferences are set",
    "done.build": "nothing of these classes is pending",
    "done.improve": "the check says to stop",
    "done.edit": "the change is made, or the student does not want it",
    "check.prefer": "the student's wishes were dealt with",
    "check.build": "the tasks are in the preview",
    "check.improve": "the check says to stop, or the student does",
    "check.edit": "the change is made, or the student does not want it",
    "say.build": "Placing these tasks in one go.",
    "say.prefer": "First I set your wishes as preferences.",
    "say.judge": "Checking the plan as it is.",
    "say.candidate": "The check suggests: {summary}.",
    "say.next_candidate": "Another one then: {summary}.",
    "say.stop": "Fine, I stop here.",
    "say.enough": "The check finds nothing worth changing any more.",
    "say.no_more": "There is no other candidate, so I stop here.",
    "say.profile": "{classes} lack a subject profile (type, difficulty, intensity), so they are judged more coarsely; "
    "it can be added in the task class.",
    "say.move": "Putting {task} at {place}.",
    "ask.which_task": "Which task do you mean?",
    "ask.not_found": "I found no “{phrase}”. Which task do you mean?",
    "ask.where": "When should {task} be? For example “Wednesday evening” or “next Tuesday sections 3-4”.",
    "ask.no_place": "{task} cannot go there (order, dates, or taken). Which of these instead?",
    "ask.no_place_at_all": "{task} has no other legal place now. What shall I do?",
    "ask.other_place": "Where then?",
    "ask.failed": "That change is not possible: {reason}. What shall I do?",
    "ask.infeasible": "The tasks do not all fit under the present constraints. What would you relax?",
    "ask.blocked": "Tasks already in the preview stand in the way. May I rearrange those of these classes?",
    "ask.undecided": "Whether they fit could not be decided within the search budget. What shall I do?",
    "ask.prefer": "The preferences were not changed. What next?",
    "ask.improve": "You did not want these suggestions. What next?",
    "ask.plan": "You did not agree to the plan. What should be different?",
    "option.rebuild": "Yes, rearrange",
    "option.stop": "Leave it",
    "option.keep": "Keep it where it is",
    "option.improve": "Improve without new preferences",
    "option.more": "Show me others",
    "option.do_it": "Do it as planned",
    "relax.closed": "Fine, it stays as it is; what did not fit remains unplaced.",
    "relax.choose": "I cannot change the dates, hours or content of a task class for you. Please make this change in "
    "the task class, then ask me again: {option}",
    "locked": "{task} is a course or already applied; I cannot change it.",
    "not_in_window": "That day is outside the time that can be planned ({first} to {last}).",
    "no_free": "No two free sections in a row in that time.",
    "health": "Checked: score {cost} (lower is better), {pending} not placed, {issues} issues to look at. {primary}",
    "health.primary": "The main one: {summary}.",
    "cannot": "That is not possible: {reason}.",
    "ignored": "I did not understand “{words}” and leave it out.",
    "no_place_at_all": "{task} has no legal place at present.",
    "sum.build": "I placed your tasks in the preview.",
    "sum.prefer": "I set the preferences you wished for.",
    "sum.improve": "Then I made adjustments that the check had offered, each because it lowers the score.",
    "sum.checked": "I checked the plan and changed nothing.",
    "sum.edit": "I changed the preview as you asked.",
    "sum.undo": "I undid the last change.",
    "sum.apply": "The preview is now in your timetable.",
    "sum.nothing": "Nothing in the preview was changed.",
    "sum.pending": "Some tasks are still not placed.",
    "sum.refused": "Changes that you refused were not made.",
}

TEXTS: Mapping[Language, Mapping[str, str]] = {"zh": _ZH, "en": _EN}

_WISHES: Mapping[Language, Mapping[str, str]] = {
    "zh": {
        "load=light": "每天轻一些",
        "load=sprint": "冲刺，可以排满",
        "switching=low": "一天少换科",
        "switching=high": "可以多换科",
        "tolerance=high": "每天留出空档",
        "long_blocks=3": "同一科不连学太久",
        "long_blocks=6": "同一科可以连学久一些",
        "evening_heavy=avoid": "晚上避开费脑的内容",
        "evening_heavy=ok": "晚上可以学费脑的",
    },
    "en": {
        "load=light": "lighter days",
        "load=sprint": "sprint, days may be full",
        "switching=low": "fewer switches a day",
        "switching=high": "more switching is fine",
        "tolerance=high": "leave free room each day",
        "long_blocks=3": "no long blocks of one subject",
        "long_blocks=6": "long blocks are fine",
        "evening_heavy=avoid": "nothing heavy in the evening",
        "evening_heavy=ok": "heavy work in the evening is fine",
    },
}
_PERIODS: Mapping[Language, Mapping[str, str]] = {
    "zh": {"morning": "上午", "afternoon": "下午", "evening": "晚上"},
    "en": {"morning": "morning", "afternoon": "afternoon", "evening": "evening"},
}


def say(language: Language, key: str, **values: object) -> str:
    """The text of a key with its values filled in."""
    return TEXTS[language][key].format(**values)


def wish_words(language: Language, wishes: Mapping[str, object], names: Mapping[int, str]) -> str:
    """Preference fields in words; `names` are the task classes' by id."""
    if all(value is None for value in wishes.values()):
        return "恢复默认" if language == "zh" else "back to the defaults"
    found: list[str] = []
    for field, value in wishes.items():
        if field == "daily_cap":
            found.append(f"每天最多 {value} 节" if language == "zh" else f"at most {value} sections a day")
        elif isinstance(value, list):
            found += [_period_words(language, field, wish, names) for wish in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        else:
            found.append(_WISHES[language].get(f"{field}={value}", f"{field}={value}"))
    return ("；" if language == "zh" else "; ").join(found)


def _period_words(language: Language, field: str, wish: Mapping[str, object], names: Mapping[int, str]) -> str:
    period = _PERIODS[language][str(wish["period"])]
    identity = wish.get("task_class_id")
    if language == "zh":
        what = "费脑的内容" if "intensity" in wish else f"「{names.get(identity, identity)}」" if identity else "学习"  # pyright: ignore[reportArgumentType, reportCallIssue]
        return f"{period}{'避开' if field == 'avoid' else '优先'}{what}"
    what = "heavy work" if "intensity" in wish else f"“{names.get(identity, identity)}”" if identity else "studying"  # pyright: ignore[reportArgumentType, reportCallIssue]
    return f"{'avoid' if field == 'avoid' else 'prefer'} {what} in the {period}"
