from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newagent.calendars.weeks import MAX_WEEK, Parity, parse_parity, parse_weeks, week_range


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1-3", [1, 2, 3]),
        ("5", [5]),
        ("1-8、10、12-16单", [1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 15]),
        ("2-5,7-9", [2, 3, 4, 5, 7, 8, 9]),
        ("3-9单", [3, 5, 7, 9]),
        ("2-9双", [2, 4, 6, 8]),
        ("2-9偶", [2, 4, 6, 8]),
        ("第1-4周", [1, 2, 3, 4]),
        ("第1周-第4周", [1, 2, 3, 4]),
        ("1-5周(单)", [1, 3, 5]),
        ("1-5（单周）", [1, 3, 5]),
        ("1-5 单周", [1, 3, 5]),
        ("单周1-5", [1, 3, 5]),
        ("4-1周、2", None),
        ("1～3；５－６", [1, 2, 3, 5, 6]),
        ("1至3 5到6", [1, 2, 3, 5, 6]),
        ("1-3/5-6|8", [1, 2, 3, 5, 6, 8]),
        ("1-5odd, 2-4EVEN", [1, 2, 3, 4, 5]),
        ("单周", [1, 3, 5, 7, 9]),
        ("双周", [2, 4, 6, 8, 10]),
        ("全周", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("3,3,1-3", [1, 2, 3]),
        ("0-2", [0, 1, 2]),
        ("", None),
        ("  、", None),
        ("abc", None),
        ("10单", None),
        ("5-3", None),
        ("1-61", None),
        ("1-2-3", None),
        ("单1-3双", None),
        ("1.5", None),
        ("-3", None),
        ("1000", None),
    ],
)
def test_lists_of_weeks(text: str, expected: list[int] | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="week"):
            parse_weeks(text, 10)
    else:
        assert list(parse_weeks(text, 10)) == expected


@pytest.mark.parametrize(
    ("text", "parity"),
    [
        ("0", "all"),
        ("", "all"),
        ("全", "all"),
        ("1", "odd"),
        ("单周", "odd"),
        ("（单）", "odd"),
        ("2", "even"),
        ("Even", "even"),
    ],
)
def test_flags(text: str, parity: Parity) -> None:
    assert parse_parity(text) == parity


def test_an_unknown_flag_is_an_error() -> None:
    with pytest.raises(ValueError, match="parity"):
        parse_parity("3")


@given(st.lists(st.tuples(st.integers(1, MAX_WEEK), st.integers(0, 20), st.sampled_from(["all", "odd", "even"]))))
def test_what_is_written_is_read(ranges: list[tuple[int, int, Parity]]) -> None:
    words, expected = [], set()
    for first, length, parity in ranges:
        last = min(first + length, MAX_WEEK)
        try:
            expected.update(week_range(first, last, parity))
        except ValueError:
            continue
        words.append(f"{first}-{last}" + {"all": "", "odd": "单", "even": "双"}[parity])
    if words:
        assert set(parse_weeks("、".join(words), 18)) == expected


@given(st.text(alphabet="0123456789-、,单双周第( )odevn;全", max_size=20))
def test_any_text_gives_weeks_in_order_or_a_value_error(text: str) -> None:
    try:
        weeks = parse_weeks(text, 18)
    except ValueError:
        return
    assert list(weeks) == sorted(set(weeks))
    assert weeks
    assert 0 <= weeks[0] <= weeks[-1] <= MAX_WEEK
