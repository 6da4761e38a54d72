"""The words that the rule model knows, as patterns over lower-case text: Chinese first, then English."""

from __future__ import annotations

import re


def any_of(*lines: str) -> re.Pattern[str]:
    """A pattern of alternatives; a line may hold several, parted by bars."""
    return re.compile("|".join(lines))


# Whole sentences.
THANKS = any_of(
    r"(?:太好了|好的|嗯|ok)?[，, ]*(?:谢谢|多谢|感谢|辛苦)(?:你|您|啦|了|很|非常|，|,| )*",
    r"(?:ok[, ]*)?(?:thanks?|thank you|thx|cheers)(?: a lot| so much| very much|,| )*",
)
HELLO = any_of(
    r"(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安)(?:呀|啊|，| |newagent)*",
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there|,| |newagent)*",
)
STOP = any_of(
    r"(?:算了|不用|不改|不要|停|停下|够了|就这样|先这样|别弄|别改|取消|到此为止)(?:吧|了|，|谢谢| )*",
    r"(?:no[, ]*)?(?:stop|enough|that's enough|never ?mind|leave it|cancel|thanks|no)(?: it| please|,| )*",
)
YES = any_of(
    r"(?:好|可以|行|是|同意|确认|嗯|要|继续|对|没问题)(?:吧|啊|呀|的|了|，| )*",
    r"(?:yes|yep|ok|okay|sure|go on|go ahead|continue|please do)(?: please|,| )*",
)

# Questions about the model, and single commands.
WHO = any_of(
    r"你是谁|你是什么|你叫什么|你是.*(?:模型|人工智能|机器人|gpt|ai)",
    r"\bwho are you\b|\bwhat are you\b|\bwhat model\b",
    r"\bare you (?:an? )?(?:real|human|ai|gpt|chatgpt|robot|bot|language|llm|model)",
)
HELP = any_of(
    r"你(?:会|能|可以)(?:做|帮.*做|干)?(?:什么|啥|哪些)|怎么用|如何使用|有(?:什么|哪些)功能|^帮助$",
    r"\bwhat can (?:you|i) (?:do|ask|say)\b|\bhow (?:do|can) i use\b|^help\b|\bwhat do you do\b",
)
UNDO = any_of(
    r"撤销|撤回|回退|退回(?:上|前)一?步|恢复(?:到)?(?:刚才|上一步|之前)",
    r"\bundo\b|\brevert\b|\broll(?:ed)? back\b|\btake (?:it|that) back\b",
)
APPLY = any_of(
    r"写入(?:我的)?(?:课表|日程)|应用到(?:我的)?(?:课表|日程)|(?:正式|最终)(?:安排|写入|应用|保存|生效)",
    r"^(?:现在)?(?:就)?应用(?:吧|一下|预览|计划)?$|保存(?:到|进)(?:课表|日程)",
    r"^apply(?: (?:it|this|that|the (?:plan|preview)|now|please))*$|\bmake it final\b",
    r"\b(?:write|save|commit|apply) (?:it|this|the plan|the preview)?\s*(?:in)?to (?:my |the )?(?:timetable|calendar)",
)

# Moving, swapping, taking out: the groups are the words of the user for the tasks and the time.
TO = r"(?:挪|移|改|调|换|放|安排|排|推迟|提前|延|推|拖)(?:动)?(?:到|去|至|在|进|回)"
MOVES = (
    re.compile(rf"(?:把|将)(?P<task>.+?){TO}(?P<to>.+)"),
    re.compile(r"(?:把|将)(?P<task>.+?)(?:挪|移|换|调|改)(?:一下|个|开|走|动|时间|位置)+(?P<to>.*)"),
    re.compile(rf"(?P<task>.+?)(?:能不能|可不可以|可以|能否)?{TO}(?P<to>.+)"),
    re.compile(r"^(?:请|帮我|麻烦)?(?:挪|移动|调整)(?:一下)?(?P<task>[^到至]{2,}?)(?:到|至)(?P<to>.+)"),
    re.compile(
        r"\b(?:move|put|shift|reschedule|push|postpone|bring)\s+(?P<task>.+?)\s+"
        r"(?:to|on|onto|into|until|for|in)\s+(?P<to>.+)"
    ),
    re.compile(
        r"\b(?:move|shift|reschedule|postpone)\s+(?P<task>.+?)(?P<to>(?:\s+(?:next|this|tomorrow|today)\b.*)?)$"
    ),
    re.compile(r"^(?:请|帮我|麻烦)?(?:把它)?(?:挪|移|改|换)(?:一下|动)?(?:时间|位置)?(?:吧)?(?P<task>)(?P<to>)$"),
)
MOVING = re.compile(rf"{TO}|\b(?:move|put|shift|reschedule|push|postpone)\b")
SWAPS = (
    re.compile(
        r"(?:把|将)?(?P<one>.+?)(?:和|与|跟|同)(?P<two>.+?)"
        r"(?:对调|互换|交换|调换|换一下|换个?位置|对换|的?位置换)"
    ),
    re.compile(r"(?:交换|对调|互换|调换)(?:一下)?(?P<one>.+?)(?:和|与|跟)(?P<two>.+)"),
    re.compile(r"\b(?:swap|exchange)\s+(?P<one>.+?)\s+(?:and|with|for)\s+(?P<two>.+)"),
)
UNPLACES = (
    re.compile(
        r"(?:把|将)(?P<task>.+?)(?:取出来?|拿掉|拿出来?|移出|撤下来?|撤掉|先不排|不排了|取消安排|放回去?|退回去?)"
    ),
    re.compile(r"(?P<task>.+?)(?:先不排|不排了|取消安排|先不安排)"),
    re.compile(r"\b(?:unplace|unschedule)\s+(?P<task>.+)"),
    re.compile(
        r"\b(?:take|remove|put)\s+(?P<task>.+?)\s+"
        r"(?:out|off|back|from (?:the|my) (?:plan|schedule|timetable|preview))\b"
    ),
)

# Questions about the timetable.
WHERE = (
    re.compile(r"(?P<task>.+?)(?:被)?(?:排|安排|放)(?:在|到)?了?(?:哪|什么时候|何时|几点|星期几|周几)"),
    re.compile(r"(?P<task>.+?)(?:是|在)(?:哪(?:一)?天|什么时候|何时|星期几|周几)"),
    re.compile(r"\bwhen (?:is|are|do i (?:study|do|have))\s+(?P<task>.+)"),
    re.compile(r"\bwhere (?:is|did you put)\s+(?P<task>.+)"),
)
DAY = any_of(
    r"有没有(?:课|安排|任务)|有(?:什么|啥|哪些|课|安排|任务)|安排了?(?:什么|啥|哪些)",
    r"(?:要|该)?(?:学|做|上)(?:什么|啥|哪些)|的(?:安排|课|任务|日程|课表|计划)|(?:看|查|列)(?:看|一下|下)?",
    r"怎么(?:安排|排)|忙(?:吗|不忙)",
    r"\bwhat(?:'s| is| are| do| am| have)?\b|\bshow\b|\bschedule (?:for|on)\b|\bagenda\b|\bplan for\b|\blist\b",
    r"\bbusy\b|\banything\b|\bdo i have\b",
)
FREE = any_of(
    r"(?:什么时候|哪天|何时|哪些时间|哪里).*(?:有空|空闲|没课|没事|空)|有空(?:吗|没|档|位|的)|有空$",
    r"空闲|空档|空位|空着",
    r"\b(?:am i|when am i|are there|any|show).*\bfree\b|\bfree (?:time|slots?|periods?|sections?)\b|\bavailable\b",
)
HEALTH = any_of(
    r"有(?:没有)?(?:什么|哪些|啥)?(?:问题|毛病|不合理)|合理(?:吗|不合理|么)|哪里不好",
    r"健康|体检|诊断|评分|打分|检查一下",
    r"\b(?:any|what) (?:problems|issues)\b|\bhealth(?:y)?\b|\bdiagnos\w+|\bscore\b|\bhow good\b",
    r"\bcheck (?:my|the|it)\b|\bwhat(?:'s| is) wrong\b",
)
STATUS = any_of(
    r"还(?:有|剩)(?:多少|几|哪些|什么)|(?:没|未)(?:排|放|安排)(?:的|完|好)(?:任务)?(?:有)?(?:哪些|多少|几)",
    r"总览|概览|概况|进度|(?:安)?排得?怎么样|怎么样了",
    r"\boverview\b|\bstatus\b|\bprogress\b|\bsummar(?:y|ise|ize)\b",
    r"\bwhat(?:'s| is) (?:left|pending|unplaced|missing)\b",
    r"\bhow (?:many|much)\b.*\b(?:left|pending|placed|unplaced)\b",
)

# Placing and improving.
BUILD = any_of(
    r"排进去?|排一?下|排上|排好|排完|排个?期|安排(?:一下|好|上)?|放进|放到|放好|规划|制定|排课|排一个|排",
    r"\bschedul(?:e|ing)\b|\bplace\b|\bplan\b|\barrange\b|\bfit\b|\borgani[sz]e\b",
)
ORDER = any_of(
    r"排进|排一?下|排好|排上|放进|(?:帮我|请|先)(?:把)?.*(?:任务|都).*排",
    r"\b(?:schedule|place|plan|arrange) (?:the|my|all|every|these)\b.*\b(?:tasks?|everything|classes|items)\b",
)
IMPROVE = any_of(
    r"优化|改进|改善|调整|完善|更?均匀|平均|匀|分散|摊开|太(?:碎|乱|密|散|挤|集中|扎堆)|更合理|更好",
    r"\boptimi[sz]e\b|\bimprov\w+|\bbetter\b|\bspread\b|\beven(?:ly)?\b|\bbalanced?\b|\btid(?:y|ier)\b|\bfragmented\b",
    r"\btoo (?:scattered|dense|uneven|messy)\b|\btweak\b|\brebalance\b|\btune\b",
)
REBUILD = any_of(
    r"重新(?:排|安排|规划)|重排|全部重来",
    r"\bre-?(?:build|plan|schedule|arrange) (?:everything|all|from scratch)\b|\bfrom scratch\b|\bredo\b",
)
NEGATED = any_of(
    r"(?:别|不要|不用|先别|不必|不想)(?:再)?(?:给我|帮我)?(?:排|优化|安排|调整|改|动)",
    r"\b(?:don't|do not|never)\s+(?:\w+\s+)?(?:schedule|optimi[sz]e|place|change|plan|arrange|improve)\b",
)
ONLY = any_of(
    r"(?:只|仅|就)(?:要)?(?:排|放|安排)|(?:不|别|先别|不用|不要)(?:再)?(?:优化|调整|改进)",
    r"\b(?:only|just) (?:place|schedule)\b|\bno optimi[sz]ation\b|\bwithout optimi[sz]ing\b",
)

# Wishes.
CLAUSE = any_of(r"[，。；！？,;!?\n]|(?:并且|而且|同时|另外|还有|然后)", r"\b(?:and|but|also)\b")
HEAVY = any_of(
    r"费脑|烧脑|动脑|太难|难的|高强度|吃力|硬骨头",
    r"\bheavy\b|\bhard\b|\bdemanding\b|\bdifficult\b|\bintens(?:e|ive)\b|\btough\b",
)
STUDY = any_of(
    r"学|排|任务|复习|做题|背|功课|作业|用功",
    r"\bstud(?:y|ying)\b|\btasks?\b|\bwork(?:ing)?\b|\blearn(?:ing)?\b|\bschedul\w*|\bthings?\b|\bsubjects?\b",
)
AGAINST = any_of(
    r"不想|不要|别|不愿|不喜欢|不排|不学|少排|少学|避开|避免|讨厌|不能",
    r"\bno\b|\bnot\b|\bnothing\b|\bnever\b|n't\b|\bavoid\b|\bwithout\b|\bhate\b|\bkeep\b.*\bfree\b|\bless\b",
)
FAVOUR = any_of(
    r"喜欢|想|尽量|多排|多安排|多学|优先|最好|放在|安排在|排在|集中在",
    r"\bprefer\b|\blike\b|\bmostly\b|\bmore\b|\brather\b|\bput\b|\bin the\b",
)
FINE = any_of(
    r"没关系|无所谓|也行|可以|没问题|不介意",
    r"\bfine\b|\bok(?:ay)?\b|\bdon't mind\b|\bno problem\b",
)
DIALS: tuple[tuple[re.Pattern[str], str, str | int], ...] = (
    (
        any_of(
            r"少换|少切换|减少切换|切换.*(?:太多|少|频繁)|换科.*(?:少|太)|换来换去|别老换|(?:不要|别).*换.*科",
            r"(?:一天|每天|一日).*(?:只|少|别).*[几两一三]?(?:门|科)",
            r"\b(?:few|less|fewer|reduce|minimi[sz]e)\b.*\b(?:switch\w*|subjects|changes)\b",
            r"\btoo many (?:switches|subjects)\b|\bswitch(?:ing)?\b.*\b(?:less|fewer|too)\b|\bstick to (?:one|fewer)\b",
        ),
        "switching",
        "low",
    ),
    (
        any_of(
            r"多换换|换着学|穿插|交替",
            r"\bmix (?:it|them|subjects|things) (?:up|more)\b|\bmore variety\b|\binterleave\b|\balternate\b",
        ),
        "switching",
        "high",
    ),
    (
        any_of(
            r"轻松(?:一)?点|轻一点|(?:别|不要|不想).*(?:太满|太累|太挤|排满)|太满|太累|少排(?:一)?[点些]|松一点",
            r"\b(?:lighter|less (?:packed|busy|crowded|full)|easier days|take it easy)\b",
            r"\btoo (?:packed|busy|full|tiring|crowded)\b",
        ),
        "load",
        "light",
    ),
    (
        any_of(
            r"冲刺|多学(?:一)?点|加量|抓紧|排满一?点",
            r"\bsprint\b|\bcram\b|\bpack (?:it|the days?|them) (?:in|tight\w*)\b",
        ),
        "load",
        "sprint",
    ),
    (
        any_of(
            r"留(?:一)?(?:点|些|出)?.*(?:余地|缓冲|空档|机动|富余|弹性)",
            r"\bbuffers?\b|\bslack\b|\bleave (?:some |a bit of |me )?(?:room|space|gaps?)\b",
        ),
        "tolerance",
        "high",
    ),
    (
        any_of(
            r"(?:别|不要|不想).*连(?:着|续).*(?:太久|太长|几个小时|学|上)|一次.*别.*太久|短一点的?时段",
            r"\bshorter (?:blocks|sessions)\b|\bno long (?:blocks|sessions)\b",
            r"\bnot (?:so|too) long (?:at a (?:stretch|time)|in a row)\b",
        ),
        "long_blocks",
        3,
    ),
    (
        any_of(
            r"(?:可以|喜欢|想).*连(?:着|续).*(?:久|长)|整块时间|大块时间",
            r"\blonger (?:blocks|sessions)\b|\blong sessions are (?:fine|ok)\b",
        ),
        "long_blocks",
        6,
    ),
)
CAP = any_of(
    r"(?:每天|一天|每日).*?(?:最多|不超过|至多|别超过|不要超过).*?(\d{1,2}|[一二两三四五六七八九十])\s*节",
    r"\b(?:at most|no more than|max(?:imum)?(?: of)?) (\d{1,2}) sections?\b",
)
RESET = any_of(
    r"(?:恢复|重置|清空|清除|取消).*偏好",
    r"\b(?:reset|clear|forget) (?:my |the |all )?preferences\b",
)

# Words that say nothing by themselves, so that what is left of a sentence shows what was not understood.
KNOWN = any_of(
    r"帮忙|帮我|帮|麻烦|一起|能不能|可不可以|可以|能否|请|给我|我的|我|你|把|将|想要|想|需要|要|现在|先|再|就|都|全部|全都|所有",
    r"整体|整个|整|剩下|剩余|其余|其他|还没|还有|还|没有|没|未|这些|那些|这个|那个|这几|这|那|它们|它|些|几|的|得|地|了|吧|呢|吗|啊|呀",
    r"一下|下|一个|一份|一点|点|一些|更|比较|有点|有些|感觉|觉得|每天|一天|各天|天|来|到|进|里面|里|去|上|好|和|与|跟|给|在|是|不|够|门|个|项|类",
    r"学|做|自动|重新|合理|尽量|怎么样|哪些|多少|什么|看看|看|查|课表|日程|日历|安排|计划|预览|时间表|时间|学习|复习|作业|功课|课程",
    r"任务类|任务|课|内容|方案|进度|排期|本学期|学期|期中|期末|考试|目前|整体上|对|或者|如何|有",
    r"\b(?:please|can|could|would|will|you|your|i|i'd|id|we|us|me|my|mine|the|a|an|it|it's|this|that|these|those|them)\b",
    r"\b(?:they|all|everything|rest|remaining|of|to|in|into|on|for|up|out|at|more|bit|little|now|just|help|want|like)\b",
    r"\b(?:need|let's|let|with|and|is|are|am|be|make|get|give|so|too|some|what|i've|have|do|does|how|whole|entire|over)\b",
    r"\b(?:across|days?|weeks?|feels?|looks?|less|try|go|ahead|first|only|then|there|any|still|left|done|when|which)\b",
    r"\b(?:tasks?|items?|class|classes|courses?|timetable|calendar|schedule|plan|preview|study|studies|studying|time)\b",
    r"\b(?:times|work|workload|load|homework|things|stuff|assignments?|exams?|scheduled|planned|placed|free|busy)\b",
)
