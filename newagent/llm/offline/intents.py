"""What a sentence asks for, in Chinese or English: patterns, and a check that little else was said.

What the patterns do not cover is `unknown`: the rule model says so instead of guessing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from newagent.llm.offline import vocabulary as known
from newagent.llm.offline.facts import ClassFacts
from newagent.llm.offline.naming import named_classes, plain
from newagent.llm.offline.when import When, when_of, without_time
from newagent.llm.offline.wishes import clauses, wishes_of

Kind = Literal[
    "work",
    "move",
    "swap",
    "unplace",
    "undo",
    "apply",
    "day",
    "free",
    "where",
    "status",
    "health",
    "hello",
    "thanks",
    "who",
    "help",
    "stop",
    "yes",
    "unknown",
]
Classes = Sequence[ClassFacts]


@dataclass(frozen=True)
class Intent:
    """What is asked. `work` is any of: set `wishes`, place `classes` (`build`), improve the whole (`improve`).

    `phrases` name tasks in the user's words; `when` is the time asked about or moved to; `ignored` are the parts of
    the sentence that were not understood.
    """

    kind: Kind
    build: bool = False
    improve: bool = False
    rebuild: bool = False
    wishes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    classes: tuple[int, ...] = ()
    phrases: tuple[str, ...] = ()
    when: When = field(default_factory=When)
    ignored: tuple[str, ...] = ()


UNKNOWN = Intent("unknown")
WHOLE: Sequence[tuple[Kind, re.Pattern[str]]] = (
    ("thanks", known.THANKS),
    ("hello", known.HELLO),
    ("stop", known.STOP),
    ("yes", known.YES),
)
COMMANDS: Sequence[tuple[Kind, re.Pattern[str]]] = (
    ("who", known.WHO),
    ("help", known.HELP),
    ("undo", known.UNDO),
    ("apply", known.APPLY),
)
ROOM = 1
"""How much of a sentence may be left unexplained: Chinese letters; an English word counts two."""


def understand(text: str, classes: Classes) -> Intent:
    """The intent of a sentence, given the task classes there are."""
    said = plain(text).strip().strip("。.!！~～?？ ")
    if not said:
        return UNKNOWN
    for kind, pattern in WHOLE:
        if pattern.fullmatch(said):
            return Intent(kind)
    for kind, pattern in COMMANDS:
        if pattern.search(said):
            return Intent(kind)
    move = _move(said)
    if move is not None and move.when and any(re.search(r"\d", phrase) for phrase in move.phrases):
        return move
    return _swap(said) or _unplace(said) or _question(said) or _work(said, classes) or move or UNKNOWN


def _work(said: str, classes: Classes) -> Intent | None:
    """Placing, improving and wishes, which may stand together in one sentence."""
    wishes = wishes_of(said, classes)
    only = bool(known.ONLY.search(said))
    if not wishes and known.NEGATED.search(said) and not only:
        return None
    named = named_classes(said, classes)
    rebuild = bool(known.REBUILD.search(said))
    improve = bool(known.IMPROVE.search(said)) and not only
    ordered = rebuild or bool(known.ORDER.search(said))
    if wishes:
        ignored = tuple(
            clause
            for clause in clauses(said)
            if not wishes_of(clause, classes) and _unexplained(_without_names(clause, named, classes)) > ROOM
        )
        return Intent("work", ordered, True, rebuild, wishes, named, ignored=ignored)
    # 安排, schedule and plan are also what is improved: then only an order places.
    build = ordered or (bool(known.BUILD.search(said)) and not improve)
    if not (build or improve) or (when_of(said).names_day and known.MOVING.search(said)):
        return None
    if _unexplained(_without_names(said, named, classes)) > ROOM:
        return None
    return Intent("work", build, improve or not only, rebuild, {}, named)


def _without_names(text: str, ids: Sequence[int], classes: Classes) -> str:
    """The text without the letters and words of the classes that it names."""
    for one in classes:
        if one.id in ids:
            name = plain(str(one.name))
            words, letters = set(re.findall(r"[a-z]+", name)), set(re.findall(r"[一-鿿]", name))
            text = re.sub(r"[a-z]+", lambda m, w=words: " " if m[0] in w else m[0], text)
            text = re.sub(r"[一-鿿]{2,}", lambda m, s=letters: "".join(c if c not in s else " " for c in m[0]), text)
    return text


def _unexplained(text: str, *patterns: re.Pattern[str]) -> int:
    """How much of a text neither these patterns nor the words of placing and improving nor common words cover."""
    for pattern in (*patterns, known.ONLY, known.REBUILD, known.IMPROVE, known.BUILD):
        text = pattern.sub(" ", text)
    rest = known.KNOWN.sub(" ", text)
    return len(re.findall(r"[一-鿿]", rest)) + 2 * len(re.findall(r"[a-z]{2,}", rest))


def _question(said: str) -> Intent | None:
    when, rest = when_of(said), without_time(said)
    moving = known.MOVING.search(said)
    if known.FREE.search(rest) and _unexplained(rest, known.FREE, known.DAY) <= ROOM:
        return Intent("free", when=when)
    if when.names_day and not moving:
        bare = _unexplained(rest, known.DAY) <= ROOM
        if bare and (known.DAY.search(rest) or not re.search(r"\w{2}", rest)):
            return Intent("day", when=when)
    for kind, pattern in (("health", known.HEALTH), ("status", known.STATUS)):
        if pattern.search(rest) and _unexplained(rest, pattern, known.DAY) <= ROOM:
            return Intent("health" if kind == "health" else "status")
    for pattern in known.WHERE:
        found = pattern.search(said)
        if found and _trimmed(found["task"]):
            return Intent("where", phrases=(_trimmed(found["task"]),))
    return None


def _move(said: str) -> Intent | None:
    for pattern in known.MOVES:
        found = pattern.search(said)
        if found is None:
            continue
        when, task = when_of(found["to"]), _trimmed(found["task"])
        if found["to"].strip() and not when:
            continue
        return Intent("move", phrases=(task,) if task else (), when=when)
    return None


def _swap(said: str) -> Intent | None:
    for pattern in known.SWAPS:
        found = pattern.search(said)
        if found and _trimmed(found["one"]) and _trimmed(found["two"]):
            return Intent("swap", phrases=(_trimmed(found["one"]), _trimmed(found["two"])))
    return None


def _unplace(said: str) -> Intent | None:
    for pattern in known.UNPLACES:
        found = pattern.search(said)
        if found and _trimmed(found["task"]):
            return Intent("unplace", phrases=(_trimmed(found["task"]),))
    return None


def _trimmed(phrase: str) -> str:
    """The words for a task without politeness and particles around them."""
    phrase = re.sub(r"^(?:请|帮我|麻烦|我想|我要|想|能不能|可以|把|将|那个|这个|the |my |please )+", "", phrase.strip())
    phrase = re.sub(r"(?:这个|那个)?(?:任务|的时间|的位置|也|都|的|给我|再)$", "", phrase)
    return phrase.strip(" ,，。.!?？「」\"'“”")


def followed(intent: Intent, words: str, classes: Classes) -> Intent:
    """The intent after further words: an answer fills it in, a new wish joins it, another order replaces it."""
    later = understand(words, classes)
    when = when_of(words)
    if later.kind in ("yes", "hello", "thanks"):
        return intent
    if intent.kind == "work":
        return _joined(intent, later, words, classes)
    if intent.kind in ("move", "swap", "unplace", "where") and (later.kind in ("unknown", "day") or "#" in words):
        if "#" in words or not when:
            return replace(intent, phrases=_filled(intent, words))
        return replace(intent, when=when) if intent.kind == "move" else intent
    if intent.kind in ("day", "free") and when and later.kind in ("unknown", "day"):
        return replace(intent, when=when)
    return intent if later.kind == "unknown" else later


def _joined(intent: Intent, later: Intent, words: str, classes: Classes) -> Intent:
    if later.kind == "work":
        return replace(
            intent,
            wishes={**intent.wishes, **later.wishes},
            build=intent.build or later.build,
            improve=intent.improve or later.improve,
            classes=later.classes or intent.classes,
            ignored=(*intent.ignored, *later.ignored),
        )
    if later.kind == "unknown":
        named = named_classes(words, classes)
        return replace(intent, classes=named) if named else intent
    return later


def _filled(intent: Intent, words: str) -> tuple[str, ...]:
    """The phrases with an answer put in: of two tasks, in place of the one that it is most like."""
    if intent.kind != "swap":
        return (words,)
    one, two = intent.phrases
    shared = [len(set(plain(words)) & set(plain(phrase))) for phrase in (one, two)]
    return (words, two) if shared[0] >= shared[1] and "#" not in one else (one, words)
