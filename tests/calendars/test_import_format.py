from __future__ import annotations

import codecs

import pytest

from newagent.calendars.decode import MAX_BYTES, decode, lines_of
from newagent.errors import InputError
from tests.calendars.calendar_files import HEADER, calendar, event, read

TABLE = f"{HEADER}\n高等数学,1,1,2,王老师,三教201,1-2\n"


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t", "", "t.json.csv"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "gb2312"])
def test_encodings_of_a_csv(encoding: str, name: str) -> None:
    (course,) = read(TABLE.encode(encoding), name).courses
    assert (course.name, course.location) == ("高等数学", "三教201")


def test_characters_beyond_gbk() -> None:
    text = TABLE.replace("三教", "㐀𠀀€")
    assert read(text.encode("gb18030")).courses[0].location == "㐀𠀀€201"


def test_the_content_says_which_format_it_is() -> None:
    assert read(calendar(event()), "t.csv").courses
    assert read(TABLE, "t.xyz").courses
    assert read(f"\ufeff{calendar(event())}", "t.json").courses
    assert read("\ufeff  " + '[{"name": "a", "slots": []}]', "t.csv").report[0].line == 1


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"", "t.csv", "empty_file"),
        (b"", "t.ics", "empty_file"),
        (b" \r\n\t", "t.json", "empty_file"),
        (codecs.BOM_UTF8, "t.csv", "empty_file"),
        (b"a\0b", "t.csv", "not_text"),
        (TABLE.encode("utf-16"), "t.csv", "not_text"),
        (b"\xff\xfe\xfd", "t.csv", "not_text"),
        (codecs.BOM_UTF8 + b"\xd6\xd0", "t.csv", "not_text"),
        (b"\x89PNG\r\n\x1a\n\0\0", "t.png", "not_text"),
        (b"PK\x03\x04\0\0", "t.xlsx", "spreadsheet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "t.xls", "spreadsheet"),
        (b"hello", "t.csv", "no_header"),
        (b"hello", "t.ICS", "not_a_calendar"),
        (b"hello", "t.ical", "not_a_calendar"),
        (b"hello", "t.json", "bad_json"),
        (b"BEGIN:VCALENDAR\r\nEND:VCALENDAR", "t.ics", "nothing_to_import"),
        (b"x" * (MAX_BYTES + 1), "t.csv", "file_too_large"),
        (b"BEGIN:VCALENDAR\n" * (MAX_BYTES // 16 + 1), "t.ics", "file_too_large"),
        (b"{" + b" " * MAX_BYTES, "t.json", "file_too_large"),
    ],
    ids=range(19),
)
def test_files_that_cannot_be_read(data: bytes, name: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, name)
    assert caught.value.code == code
    assert caught.value.message


@pytest.mark.parametrize("filling", ["\n", " ,\t\r\n"])
def test_as_large_as_allowed_is_read(filling: str) -> None:
    text = TABLE + filling * ((MAX_BYTES - len(TABLE.encode())) // len(filling))
    assert read(text).courses == read(TABLE).courses


def test_text_is_decoded_whole() -> None:
    assert decode("中文\n".encode("gbk")) == "中文\n"
    assert lines_of("a\r\nb\rc\nd\x0be\u2028f") == ["a", "b", "c", "d\x0be\u2028f"]
