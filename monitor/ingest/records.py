"""Splits a file into its records: lines of JSON, items of a JSON document, or rows of a table (CSV).

Memory stays within a chunk and one record, however long either is.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path

from monitor.core.errors import Fatal
from monitor.ingest.lines import CHUNK_BYTES, Chunks, lines

SURPLUS = ""  # the name under which a row holds the cells that its columns do not account for
TABLE = (("content-type", b"text/csv"),)  # the headers of a message that is a row
_NEVER_JSON = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TABLES = frozenset({".csv", ".tsv"})
_PACKED = frozenset({".gz", ".zst"})
_DELIMITERS = (",", ";", "\t", "|")
_QUOTED = re.compile(r'"[^"]*"')
_BOM = b"\xef\xbb\xbf"
_ZIP = b"PK\x03\x04"
_BLANK = b"\0 \t\r\n"
_LOOKED_AT = 512  # bytes at the start of a file
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CELL_CHARS = 2**31 - 1  # for `csv`, whose own limit is below the length of a document; ours is that of a record
# An array of objects, or an object that goes on after its first line: `json.dump(…, indent=2)`, a tool's download.
_DOCUMENT = re.compile(rb"\s*(?:\[\s*(?:\{|$)|\{[ \t]*\r?\n)")
_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')

Record = tuple[bytes, int]  # at most `limit` + 1 bytes of it, and its full length


class Form(Enum):
    JSON = auto()
    TABLE = auto()


def is_protobuf_like_json(raw: bytes) -> bool:
    """Whether a line feed and what looks like JSON's first sign are the tag and the length of a message in protobuf."""
    return raw.startswith(b"\n") and _NEVER_JSON.search(raw, 0, 128) is not None


def form_of(path: Path) -> Form:
    """The form of a file, by its name: `.csv` and `.tsv`, also compressed, are tables."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return Form.TABLE if suffixes and suffixes[-1] in _TABLES else Form.JSON


def records(chunks: Chunks, form: Form, limit: int) -> Iterator[Record | None]:
    """The records of a file, blank lines included, and None before each read that may wait.

    A row of a table is an object of its cells by the names of the columns. A JSON document is read item by item if it
    is an array of objects, and otherwise object by object.

    Raises:
        Fatal: the input is no text, or a table that has no usable header, is not UTF-8, or has a row that does not end
            within `limit` bytes.
    """
    if form is Form.TABLE:
        yield from _rows(chunks, limit)
        return
    yield None
    start = _Start(chunks)
    _refuse_binary(start.first)
    if _DOCUMENT.match(start.first.removeprefix(_BOM)):
        yield from _items(start, limit)
        return
    found = lines(start, limit)
    next(found)  # the None before the first chunk, which is here: a writer may wait until its first line is read
    yield from found


def _refuse_binary(first: bytes) -> None:
    """Refuses what would otherwise be read as thousands of lines that are not JSON."""
    if first.startswith(_ZIP):
        raise Fatal("this is a ZIP archive, as spreadsheets are: unpack it, or save the sheet as CSV in UTF-8")
    if first.startswith(_UTF16):
        raise Fatal("this is UTF-16; save it as UTF-8")
    text = first.lstrip(_BLANK)  # a log that was emptied under its writer begins with bytes 0
    if b"\0" in text[:_LOOKED_AT] and not text.startswith((b"{", b"[")):
        raise Fatal("this is no text file: JSON lines, a JSON document or CSV was expected")


class _Start:
    """Chunks whose first one can be looked at before it is read."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self.first = chunks.read1(CHUNK_BYTES)
        self._unread = self.first

    def read1(self, size: int, /) -> bytes:
        first, self._unread = self._unread, b""
        return first or self._chunks.read1(size)


def _items(chunks: Chunks, limit: int) -> Iterator[Record | None]:
    """The items of an array, or one object after the other; what is left at the end is an item too."""
    held = bytearray()  # of the item: its first bytes
    length = 0
    scanner: _Scanner | None = None
    while chunk := chunks.read1(CHUNK_BYTES):
        if scanner is None:
            chunk = chunk.removeprefix(_BOM).lstrip()
            scanner = _Scanner(in_array=chunk.startswith(b"["))
            chunk = chunk.removeprefix(b"[")
        begin = 0
        for end, after in scanner.ends(chunk):
            held += chunk[begin : min(end, begin + limit + 1 - len(held))]
            yield _item(held, length + end - begin)
            held, length, begin = bytearray(), 0, after
        held += chunk[begin : begin + limit + 1 - len(held)]
        length += len(chunk) - begin
        yield None
    if held.strip():
        yield _item(held, length)


def _item(held: bytearray, length: int) -> Record:
    value = bytes(held)
    if length > len(value):
        return value, length
    return (stripped := value.strip()), len(stripped)


class _Scanner:
    """Finds where the items of a JSON document end, chunk by chunk."""

    def __init__(self, *, in_array: bool) -> None:
        self._in_array = in_array
        self._depth = 1 if in_array else 0
        self._quoted = self._escaped = False

    def ends(self, chunk: bytes) -> Iterator[tuple[int, int]]:
        """Where an item ends, and where the next one begins."""
        place = 1 if self._escaped else 0
        self._escaped = False
        while (found := (_INSIDE if self._quoted else _OUTSIDE).search(chunk, place)) is not None:
            place = found.end()
            sign = found[0]
            if sign == b'"':
                self._quoted = not self._quoted
            elif sign == b"\\":
                self._escaped = place == len(chunk)
                place += 1
            elif self._closes(sign):
                yield (found.start() if self._in_array else place), place

    def _closes(self, sign: bytes) -> bool:
        """Whether an item ends with `sign`, which stands outside of strings."""
        if sign in b"{[":
            self._depth += 1
            return False
        if sign in b"}]":
            self._depth -= 1
        if self._in_array:
            return (sign == b"," and self._depth == 1) or (sign == b"]" and self._depth == 0)
        return sign == b"}" and self._depth == 0


def _rows(chunks: Chunks, limit: int) -> Iterator[Record]:
    """The header as a blank record, so that records count as rows do in a spreadsheet, then each row as an object."""
    csv.field_size_limit(_CELL_CHARS)
    source = _TableLines(chunks, limit)
    header = next(source, "")
    if not header.strip():
        raise Fatal("the table is empty: its first row must name the columns")
    delimiter = _delimiter(header)
    source.again = header
    rows = csv.reader(source, delimiter=delimiter, strict=True)
    columns: list[str] = []
    number = 0
    while True:
        source.taken = 0
        number += 1
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise Fatal(f"row {number:,} is not CSV: {error}") from None
        if cells is None:
            return
        if number == 1:
            columns = _columns(cells)
            yield b"", 0
            continue
        if not cells:
            yield b"", 0
            continue
        row: dict[str, object] = dict(zip(columns, cells, strict=False))
        if len(cells) != len(columns):
            row[SURPLUS] = cells[len(columns) :]
        value = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
        yield value[: limit + 1], len(value)


class _TableLines:
    """The lines of a table as text, counted, so that a quotation mark that is never closed is noticed."""

    def __init__(self, chunks: Chunks, limit: int) -> None:
        self._lines = lines(chunks, limit)
        self._limit = limit
        self._first = True
        self.taken = 0  # bytes of the current row
        self.again: str | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.again is not None:
            line, self.again = self.again, None
            return line
        record = None
        while record is None:
            record = next(self._lines)
        raw, length = record
        self.taken += length
        if self.taken > self._limit:
            raise Fatal(
                f"a row is longer than {self._limit:,} bytes: a quotation mark in it may not be closed, or raise "
                "MONITOR_INGEST__MAX_MESSAGE_BYTES"
            )
        if self._first:
            self._first = False
            if raw.startswith(_UTF16):
                raise Fatal("the table is UTF-16; save it as CSV in UTF-8")
            raw = raw.removeprefix(_BOM)
        try:
            return raw.decode() + "\n"
        except UnicodeDecodeError:
            raise Fatal("the table is not UTF-8; save it as CSV in UTF-8") from None


def _delimiter(header: str) -> str:
    """What splits the header into most columns; signs within quotation marks do not count."""
    bare = _QUOTED.sub("", header)
    counts = {sign: bare.count(sign) for sign in _DELIMITERS}
    most = max(counts.values())
    best = [sign for sign, count in counts.items() if count == most]
    if most > 0 and len(best) > 1:
        raise Fatal(f"the header can be split at {' and at '.join(map(repr, best))} alike: put its names in quotes")
    return best[0]


def _columns(cells: list[str]) -> list[str]:
    """The names of the columns; one without a name, such as pandas' index, is called by its place."""
    names = [cell.strip() or f"column {place}" for place, cell in enumerate(cells, 1)]
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise Fatal(f"the header names {', '.join(twice[:5])} twice: rename one of the columns")
    return names
