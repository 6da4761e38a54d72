"""From the bytes of a file to its text."""

from __future__ import annotations

import re

from newagent.errors import InputError

MAX_BYTES = 5 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


def decode(data: bytes) -> str:
    """The text of a file: UTF-8 with or without BOM, else GB18030 (which holds GBK and GB2312).

    Raises `InputError`: file_too_large, empty_file, not_text (NULs, or bytes of neither encoding).
    """
    if len(data) > MAX_BYTES:
        raise InputError("file_too_large", f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", limit=MAX_BYTES)
    if b"\0" in data:
        raise InputError("not_text", "the file is not a text file")
    for encoding in ("utf-8-sig",) if data.startswith(BOM) else ("utf-8", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not text.strip():
            raise InputError("empty_file", "the file is empty")
        return text
    raise InputError("not_text", "the file is neither UTF-8 nor GB18030 text")


def lines_of(text: str) -> list[str]:
    """The lines as an editor counts them: ended by CRLF, LF or CR and by nothing else."""
    return re.split("\r\n|\n|\r", text)
