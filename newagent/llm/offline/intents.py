"""What a sentence asks for, in Chinese or English: patterns, and a check that nothing else was said.

What the patterns do not cover is `unknown`: the rule model says so instead of guessing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from newagent.llm.offline.naming import named_classes, plain
from newagent.llm.offline.when import When, when_of
from newagent.llm.offline.wishes import wishes_of

Kind = Literal[
    "work", "move", "swap", "unplace", "undo", "apply", "day", "free", "where", "status", "health",
    "hello", "thanks", "who", "help", "stop", "yes", "unknown",
]  # fmt: skip


@dataclass(frozen=True)
class Intent:
    """What is asked. `work` is any of: set `wishes`, place `classes` (`build`), improve the whole (`improve`).

    `phrases` name tasks in the user's words; `when` is the time asked about or moved to.
    """

    kind: Kind
    build: bool = False
    improve: bool = False
    rebuild: bool = False
    wishes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    classes: tuple[int, ...] = ()
    phrases: tuple[str, ...] = ()
    when: When = When()


UNKNOWN = Intent("unknown")
_SHORT: Sequence[tuple[Kind, str]] = (
    ("thanks", r"(?:太好了|好的|嗯|ok)?[，, ]*(?:谢谢|多谢|感谢|辛苦|thanks?|thank you|thx|cheers)(?:你|您|啦|了|so much|a lot|very much| )*"),
    ("hello", r"(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安|hi|hello|hey|good (?:morning|afternoon|evening))(?:呀|啊|there| |,|，|newagent)*"),
    ("stop", r"(?:算了|不用了?|不改了?|不要了?|停|停下|够了|就这样吧?|先这样吧?|别弄了|别改了|取消|到此为止|stop|enough|that's enough|never ?mind|leave it|cancel|no thanks?|no)(?:吧|了|please| |，|,|谢谢|thanks)*"),
    ("yes", r"(?:好|好的|可以|行|是|是的|同意|确认|嗯|要|继续|对|yes|yep|ok(?:ay)?|sure|go (?:on|ahead)|continue|please do)(?:吧|啊|呀|的|了| |，|,|please)*"),
)  # fmt: skip
_ASKED: Sequence[tuple[Kind, str]] = (
    ("who", r"你是谁|你是什么|你叫什么|你是.*(?:模型|人工智能|机器人|gpt|ai)|\bwho are you\b|\bwhat are you\b|\bare you (?:an? )?(?:real|human|ai|gpt|chatgpt|robot|bot|language|llm|model)|\bwhat model\b"),
    ("help", r"你(?:会|能|可以)(?:做|帮.*做|干)?(?:什么|啥|哪些)|怎么用|如何使用|有(?:什么|哪些)功能|^帮助$|\bwhat can (?:you|i) (?:do|ask|say)\b|\bhow (?:do|can) i use\b|^help\b|\bwhat do you do\b"),
    ("undo", r"撤销|撤回|回退|退回(?:上|前)一?步|恢复(?:到)?(?:刚才|上一步|之前)|\bundo\b|\brevert\b|\broll(?:ed)? back\b|\btake (?:it|that) back\b"),
    ("apply", r"写入(?:我的)?(?:课表|日程)|应用到(?:我的)?(?:课表|日程)|(?:正式|最终)(?:安排|写入|应用|保存|生效)|^(?:现在)?(?:就)?应用(?:吧|一下|预览|计划)?$|保存(?:到|进)(?:课表|日程)|\bapply\b|\b(?:write|save|commit) (?:it|this|the plan|the preview|them)?\s*(?:in)?to (?:my |the )?(?:timetable|calendar|schedule)\b|\bmake it final\b"),
)  # fmt: skip
_TO = r"(?:挪|移|改|调|换|放|安排|排|推迟|提前|延|推|拖)(?:动)?(?:到|去|至|在|进|回)"
_MOVES = (
    re.compile(rf"(?:把|将)(?P<task>.+?){_TO}(?P<to>.+)"),
    re.compile(r"(?:把|将)(?P<task>.+?)(?:挪|移|换|调|改)(?:一下|个|开|走|动|时间|位置)(?P<to>.*)"),
    re.compile(rf"(?:我)?(?:想|要|希望|能不能|可不可以|可以|能否|请|帮我)?\s*(?P<task>.+?)(?:能不能|可不可以|可以|能否)?{_TO}(?P<to>.+)"),
    re.compile(r"^(?:请|帮我|麻烦)?(?:挪|移动|调整)(?:一下)?(?P<task>[^到至]{2,}?)(?:到|至)(?P<to>.+)"),
    re.compile(r"\b(?:move|put|shift|reschedule|push|postpone|bring)\s+(?P<task>.+?)\s+(?:to|on|onto|into|until|for|in)\s+(?P<to>.+)"),
    re.compile(r"\b(?:move|shift|reschedule|postpone)\s+(?P<task>.+?)(?P<to>(?:\s+(?:next|this|tomorrow|today)\b.*)?)$"),
    re.compile(r"^(?:请|帮我|麻烦)?(?:把它?)?(?:挪|移|改|换)(?:一下|动)?(?:时间|位置)?(?:吧)?(?P<task>)(?P<to>)$"),
)  # fmt: skip
_SWAPS = (
    re.compile(
        r"(?:把|将)?(?P<one>.+?)(?:和|与|跟|同)(?P<two>.+?)(?:对调|互换|交换|调换|换一下|换个?位置|对换|的?位置换)"
    ),
    re.compile(r"(?:交换|对调|互换|调换)(?:一下)?(?P<one>.+?)(?:和|与|跟)(?P<two>.+)"),
    re.compile(r"\b(?:swap|exchange|switch)\s+(?P<one>.+?)\s+(?:and|with|for)\s+(?P<two>.+)"),
)
_UNPLACE = (
    re.compile(
        r"(?:把|将)(?P<task>.+?)(?:取出来?|拿掉|拿出来?|移出|撤下来?|撤掉|先不排|不排了|取消安排|放回去?|退回去?)"
    ),
    re.compile(r"(?P<task>.+?)(?:先不排|不排了|取消安排|先不安排)"),
    re.compile(r"\b(?:unplace|unschedule)\s+(?P<task>.+)"),
    re.compile(
        r"\b(?:take|remove|put)\s+(?P<task>.+?)\s+(?:out|off|back|from (?:the|my) (?:plan|schedule|timetable|preview))\b"
    ),
)
_WHERE = (
    re.compile(r"(?P<task>.+?)(?:被)?(?:排|安排|放)(?:在|到)?了?(?:哪|什么时候|何时|几点|星期几|周几)"),
    re.compile(r"(?P<task>.+?)(?:是|在)(?:哪(?:一)?天|什么时候|何时|星期几|周几)"),
    re.compile(r"(?:什么时候|哪天|哪一天)(?:学|做|复习|看|上|写|背|练)(?P<task>.+)"),
    re.compile(r"\bwhen (?:is|are|do i (?:study|do|have))\s+(?P<task>.+)"),
    re.compile(r"\bwhere (?:is|did you put)\s+(?P<task>.+)"),
)
_DAY = r"有(?:什么|啥|哪些|课|安排|任务|没有课)|安排了?(?:什么|啥|哪些)|要(?:学|做|上)(?:什么|啥|哪些)|学(?:什么|啥|哪些)|做(?:什么|啥)|的(?:安排|课|任务|日程|课表|计划)|(?:看|查|列)(?:看|一下|下)|怎么(?:安排|排)|忙(?:吗|不忙)|\bwhat(?:'s| is| are| do| am| have)\b|\bshow\b|\bschedule (?:for|on)\b|\bagenda\b|\bplan for\b|\blist\b|\bbusy\b|\banything\b|\bdo i have\b"
_FREE = r"(?:什么时候|哪天|何时|哪些时间|哪里).*(?:有空|空闲|没课|没事|空)|有空(?:吗|没|档|位|的)|空闲|空档|空位|空着|没安排|\b(?:am i|when am i|are there|any|show).*\bfree\b|\bfree (?:time|slots?|periods?|sections?)\b|\bfree\b.*\?|\bavailable\b"
_HEALTH = r"(?:有|还有)(?:什么|哪些|没有|啥)?(?:问题|毛病|不合理)|合理(?:吗|不合理|么)|健康|体检|诊断|评分|打分|检查一下|哪里不好|\b(?:any|what) (?:problems|issues)\b|\bhealth(?:y)?\b|\bdiagnos\w+|\bscore\b|\bhow good\b|\bcheck (?:my|the|it)\b|\bwhat(?:'s| is) wrong\b"
_STATUS = r"还(?:有|剩)(?:多少|几|哪些|什么).*(?:没|未|剩|任务)?|(?:没|未)(?:排|放|安排)(?:的|完|好)(?:任务)?(?:有)?(?:哪些|多少|几)|总览|概览|概况|进度|排得?怎么样|怎么样了|情况|\boverview\b|\bstatus\b|\bprogress\b|\bwhat(?:'s| is) (?:left|pending|unplaced|missing)\b|\bhow (?:many|much)\b.*\b(?:left|pending|placed|tasks)\b|\bsummar(?:y|ise|ize)\b"
_BUILD = r"排进去?|排一?下|排上|排好|排完|排个?期|安排(?:一下|好|上)?|放进|放到|放好|规划|制定|排课|排一个|排|\bschedul(?:e|ing)\b|\bplace\b|\bplan\b|\barrange\b|\bfit\b|\bput\b|\borgani[sz]e\b"
_IMPROVE = r"优化|改进|改善|调整|完善|更?均匀|平均|匀|分散|摊开|太(?:碎|乱|密|散|挤|集中|扎堆)|更合理|更好|好一?点|\boptimi[sz]e\b|\bimprov\w+|\bbetter\b|\bspread\b|\beven(?:ly)?\b|\bbalanced?\b|\btid(?:y|ier)\b|\bfragmented\b|\btoo (?:scattered|dense|uneven|messy)\b|\btweak\b|\brebalance\b|\btune\b"
_REBUILD = r"重新(?:排|安排|规划)|重排|全部重来|\bre-?(?:build|plan|schedule|arrange) (?:everything|all|from scratch)\b|\bfrom scratch\b|\bredo\b"
_NEGATED = r"(?:别|不要|不用|先别|不必|不想)(?:再)?(?:给我|帮我)?(?:排|优化|安排|调整|改|动)|\b(?:don't|do not|never)\s+(?:\w+\s+)?(?:schedule|optimi[sz]e|place|change|plan|arrange|improve)\b"
_ONLY = r"(?:只|仅|就)(?:要)?(?:排|放|安排)|(?:不|别|先别|不用|不要)(?:再)?(?:优化|调整|改进)|\b(?:only|just) (?:place|schedule)\b|\bno optimi[sz]ation\b|\bwithout optimi[sz]ing\b"
_KNOWN = re.compile(
    r"帮忙|帮我|帮|麻烦|一起|能不能|可不可以|可以|能否|请|给我|我的|我|你|把|将|想要|想|需要|要|现在|先|再|就|都|全部|全都|所有|整体|整个|整|剩下|剩余|其余|其他|还没|没|未|这些|那些|这个|那个|这几|这|那|它们|它|些|几|的|得|地|了|吧|呢|吗|啊|呀|一下|下|一点|点|一些|更|比较|有点|有些|感觉|觉得|每天|一天|各天|天|来|看|到|进|里|里面|去|上|好|和|与|跟|给|在|是|不|够|门|个|项|类|学|做|自动|重新|合理|尽量|"
    r"任务类|任务|课表|日程|日历|安排|计划|预览|时间表|时间|学习|复习|作业|功课|课程|课|内容|方案|进度|排期|本学期|学期|期中|期末|考试|"
    r"\b(?:please|can|could|would|will|you|i|i'd|id|we|us|me|my|mine|the|a|an|it|this|that|these|those|them|they|all|everything|rest|remaining|of|to|in|into|on|for|up|out|more|bit|little|now|just|help|want|like|need|let's|let|with|and|is|are|be|make|get|give|so|too|some|what|i've|have|whole|entire|across|over|days|day|week|weeks|feel|feels|looks|look|less|try|do|go|ahead|first|only|then|across)\b|"
    r"\b(?:tasks?|items?|classes|class|courses?|timetable|calendar|schedule|plan|preview|study|studies|studying|time|times|work|workload|load|homework|things|stuff|assignments?|exams?)\b"
)  # fmt: skip
_ROOM = 2


def understand(text: str, classes: Sequence[Mapping[str, Any]]) -> Intent:
    """The intent of a sentence, given the task classes there are."""
    said = plain(text).strip().strip("。.!！~～?？ ")
    if not said:
        return UNKNOWN
    for kind, pattern in _SHORT:
        if re.fullmatch(pattern, said):
            return Intent(kind)
    for kind, pattern in _ASKED:
        if re.search(pattern, said):
            return Intent(kind)
    return _swap(said) or _unplace(said) or _work(said, classes) or _move(said) or _question(said) or UNKNOWN


def _work(said: str, classes: Sequence[Mapping[str, Any]]) -> Intent | None:
    """Placing, improving and wishes, which may stand together in one sentence."""
    if _is_question(said):
        return None
    wishes = wishes_of(said, classes)
    if not wishes and (re.search(_NEGATED, said) and not re.search(_ONLY, said)):
        return None
    rest = said
    named = named_classes(said, [dict(one) for one in classes])
    rebuild = bool(re.search(_REBUILD, said))
    improve = bool(re.search(_IMPROVE, said)) and not re.search(_ONLY, said)
    build = rebuild or bool(re.search(_BUILD, said))
    if wishes:
        # A wish speaks of 排 and 安排 too: it asks for placing only with an order of its own.
        order = re.search(
            r"排进|排一?下|排好|排上|放进|(?:帮我|请|先)(?:把)?.*(?:排|安排)|\b(?:schedule|place|plan|arrange) (?:the|my|all|every)",
            said,
        )
        return Intent("work", build=bool(order), improve=True, rebuild=rebuild, wishes=wishes, classes=named)
    if not (build or improve):
        return None
    if when_of(said).names_day and not improve:
        return None
    for one in classes:
        if one["id"] in named:
            rest = _without_name(rest, plain(str(one["name"])))
    for pattern in (_ONLY, _REBUILD, _IMPROVE, _BUILD):
        rest = re.sub(pattern, " ", rest)
    rest = _KNOWN.sub(" ", rest)
    if _unexplained(rest) > _ROOM:
        return None
    if (
        build
        and improve
        and re.search(r"^(?:[^排放]*)(?:优化|改进|改善|调整|均匀|太)", said)
        and not re.search(r"排进|排一下|排好|放进|\bplace\b", said)
    ):
        build = False
    return Intent(
        "work", build=build, improve=improve or (build and not re.search(_ONLY, said)), rebuild=rebuild, classes=named
    )


def _without_name(text: str, name: str) -> str:
    """The text without the letters of a class's name where they stand together."""
    letters = set(re.findall(r"[一-鿿]", name))
    words = set(re.findall(r"[a-z]+", name))
    text = re.sub(r"[a-z]+", lambda m: " " if m[0] in words else m[0], text)
    return re.sub(r"[一-鿿]{2,}", lambda m: "".join(c for c in m[0] if c not in letters), text)


def _unexplained(rest: str) -> int:
    """How much of a sentence is left over: Chinese letters, or English words counted double."""
    return len(re.findall(r"[一-鿿]", rest)) + 2 * len(re.findall(r"[a-z]{2,}", rest))


def _is_question(said: str) -> bool:
    return bool(re.search(_STATUS, said) or re.search(_HEALTH, said) or re.search(_FREE, said)) or (
        when_of(said).names_day and bool(re.search(_DAY, said)) and not re.search(_TO, said)
        and not re.search(r"\b(?:move|put|shift|reschedule)\b", said)
    )  # fmt: skip


def _move(said: str) -> Intent | None:
    if _is_question(said):
        return None
    for pattern in _MOVES:
        found = pattern.search(said)
        if found is None:
            continue
        when, task = when_of(found["to"]), _trimmed(found["task"])
        if found["to"].strip() and not when:
            continue
        return Intent("move", phrases=(task,) if task else (), when=when)
    return None


def _swap(said: str) -> Intent | None:
    for pattern in _SWAPS:
        found = pattern.search(said)
        if found and _trimmed(found["one"]) and _trimmed(found["two"]):
            return Intent("swap", phrases=(_trimmed(found["one"]), _trimmed(found["two"])))
    return None


def _unplace(said: str) -> Intent | None:
    for pattern in _UNPLACE:
        found = pattern.search(said)
        if found and _trimmed(found["task"]):
            return Intent("unplace", phrases=(_trimmed(found["task"]),))
    return None


def _question(said: str) -> Intent | None:
    when = when_of(said)
    if re.search(_FREE, said):
        return Intent("free", when=when)
    if when.names_day and re.search(_DAY, said):
        return Intent("day", when=when)
    if re.search(_HEALTH, said):
        return Intent("health")
    if re.search(_STATUS, said):
        return Intent("status")
    for pattern in _WHERE:
        found = pattern.search(said)
        if found and _trimmed(found["task"]):
            return Intent("where", phrases=(_trimmed(found["task"]),))
    if when.names_day and len(re.sub(r"\W", "", said)) <= 6:
        return Intent("day", when=when)
    return None


def _trimmed(phrase: str) -> str:
    phrase = re.sub(r"^(?:请|帮我|麻烦|我想|我要|能不能|可以|把|将|那个|这个|the |my |please )+", "", phrase.strip())
    return re.sub(r"(?:这个|那个)?(?:任务|的时间|的位置|也|都|的|给我|再)$", "", phrase).strip(" ,，。.!?？「」\"'“”")


def followed(intent: Intent, words: str, classes: Sequence[Mapping[str, Any]]) -> Intent:
    """The intent after further words of the user: an answer fills it in, a new wish joins it, another order replaces it."""
    later = understand(words, classes)
    when = when_of(words)
    if later.kind in ("yes", "hello", "thanks"):
        return intent
    if intent.kind == "work" and later.kind == "work":
        return replace(
            intent,
            wishes={**intent.wishes, **later.wishes},
            build=intent.build or later.build,
            improve=intent.improve or later.improve,
            classes=later.classes or intent.classes,
        )
    if intent.kind in ("move", "swap", "unplace", "where") and (later.kind in ("unknown", "day") or "#" in words):
        if "#" in words or (not when and later.kind == "unknown"):
            return replace(intent, phrases=_filled(intent, words))
        return replace(intent, when=when) if intent.kind == "move" else intent
    if intent.kind in ("day", "free") and when:
        return replace(intent, when=when)
    if intent.kind == "work" and later.kind == "unknown":
        named = named_classes(words, [dict(one) for one in classes])
        return replace(intent, classes=named) if named else intent
    return intent if later.kind == "unknown" else later


def _filled(intent: Intent, words: str) -> tuple[str, ...]:
    """The phrases with an answer put in: for two tasks, in place of the one it is most like."""
    if intent.kind != "swap":
        return (words,)
    one, two = intent.phrases
    shared = [len(set(plain(words)) & set(plain(phrase))) for phrase in (one, two)]
    return (words, two) if shared[0] >= shared[1] and "#" not in one else (one, words)
