"""What is shown while an answer arrives: the words, however the pieces are cut, and never the machinery."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newagent.llm.assemble import Answer
from newagent.llm.codec_json import Words as Everything
from newagent.llm.mind import Delta
from newagent.llm.speech import Speech, SpokenField, without_thinking

ALL = 10_000


def heard(listener: Any, text: str, size: int) -> tuple[str, str]:
    """Reasoning and text that a listener shows of a text cut into pieces of a size."""
    shown = {"reasoning": "", "text": ""}
    for at in range(0, len(text), size):
        for delta in listener.feed(Delta("text", text[at : at + size])):
            shown[delta.kind] += delta.text
    return shown["reasoning"], shown["text"]


SPOKEN = [
    ("plain words", "plain words", ""),
    ('I look. ```json\n{"name": 1}\n```', "I look. ", ""),
    ("I look. <tool_call>{}</tool_call>", "I look. ", ""),
    ('{"name": "x"}', "", ""),
    ("<think>hm, well</think>\n\nyes", "yes", "hm, well"),
    ("<think>hm", "", "hm"),
    ("<think>hm</think>", "", "hm"),
    ("<b>bold</b> and `code` too", "<b>bold</b> and `code` too", ""),
    ("  leading space", "  leading space", ""),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, ALL])
@pytest.mark.parametrize(("text", "words", "thought"), SPOKEN)
def test_words_are_shown_and_calls_are_not(text: str, words: str, thought: str, size: int) -> None:
    assert heard(Speech(), text, size) == (thought, words)


def test_an_end_that_might_begin_a_mark_is_kept_until_it_is_clear() -> None:
    speech = Speech()
    assert speech.feed(Delta("text", "a``")) == [Delta("text", "a")]
    assert speech.feed(Delta("text", "b")) == [Delta("text", "``b")]


@pytest.mark.parametrize("listener", [Speech(), SpokenField(), Everything()])
def test_reasoning_passes_and_a_restart_begins_anew(listener: Any) -> None:
    hm, again = Delta("reasoning", "hm"), Delta("restart")
    assert listener.feed(hm) == [hm]
    listener.feed(Delta("text", "```"))
    listener.feed(Delta("text", '{"speak": "a"'))
    assert listener.feed(again) == [again]
    shown = listener.feed(Delta("text", '{"speak": "b"' if isinstance(listener, SpokenField) else "b"))
    assert shown == [Delta("text", "b")]


@settings(deadline=None)
@given(st.text(), st.integers(1, 9), st.booleans())
def test_the_spoken_field_is_what_json_says_it_is(speak: str, size: int, ascii_only: bool) -> None:
    text = json.dumps({"speak": speak, "action": "reply"}, ensure_ascii=ascii_only)
    assert heard(SpokenField(), text, size)[1] == speak


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r'{"speak": "a\ud83d\ude00b"}', "a😀b"),
        (r'{"speak": "a\ud83dxxxxxxb"}', "a�xxxxxxb"),
        (r'{"speak": "a\ude00b"}', "a�b"),
        (r'{"speak": "a\uzzzzb"}', "azzzzb"),
        (r'{"speak": "a\"\\\/\n\tb"}', 'a"\\/\n\tb'),
        ('{"action": "reply", "speak" : "late"}', "late"),
        ('{"action": "reply"}', ""),
        ("no object", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 5, ALL])
def test_escapes_of_the_spoken_field(written: str, expected: str, size: int) -> None:
    assert heard(SpokenField(), written, size)[1] == expected


@pytest.mark.parametrize(
    ("text", "words", "thought"),
    [
        ("<think> hm </think>\nyes", "yes", "hm"),
        ("<think>hm", "", "hm"),
        ("yes <think>hm</think>", "yes <think>hm</think>", ""),
    ],
)
def test_a_leading_think_block_is_reasoning(text: str, words: str, thought: str) -> None:
    found = without_thinking(Answer(text))
    assert (found.text, found.reasoning) == (words, thought)


@settings(deadline=None)
@given(st.lists(st.text(alphabet='<think>/`tool_c {}"\\u0d8', max_size=12), max_size=8))
def test_listeners_never_raise_and_never_invent(pieces: list[str]) -> None:
    speech, field = Speech(), SpokenField()
    text = "".join(d.text for piece in pieces for d in speech.feed(Delta("text", piece)))
    assert len(text) <= len("".join(pieces))
    for piece in pieces:
        field.feed(Delta("text", piece))
