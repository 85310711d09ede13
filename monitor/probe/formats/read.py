"""Reads golden items from a file: ours, RAGAS test sets, Langfuse dataset exports, and OpenAI evals.

The file is JSON (a list, or an object that holds one), JSON lines or CSV. Each row tells its format by its fields.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable
from monitor.probe.formats.fields import format_of, is_archived, lacking
from monitor.probe.golden import MOST_ITEMS, GoldenItem, NotGolden, question_key

LARGEST: Final = 64 * 2**20  # bytes of a file
_MOST_TOLD = 20  # problems


class Row(NamedTuple):
    """A row and where it begins: its line, or for a JSON list its number from 1."""

    place: int
    value: Any


def read_golden(path: Path) -> list[GoldenItem]:
    """The items of the file, in its order. Items without an id get one from their question.

    Raises:
        WrongSettings: the file cannot be read, or a row is no golden item; the message names up to 20 places, and
            nothing of the file may be used.
    """
    try:
        with path.open("rb") as file:
            return read_stream(file, name=str(path))
    except OSError as error:
        raise WrongSettings(f"{path}: cannot be read: {error.strerror}") from None


def read_stream(file: IO[bytes], *, name: str) -> list[GoldenItem]:
    """Like `read_golden`, but from an open file; messages call it `name`."""
    content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise WrongSettings(f"{name}: is larger than {LARGEST // 2**20} MiB")
    try:
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()  # with line breaks of any system
    except UnicodeDecodeError:
        raise WrongSettings(f"{name}: is not UTF-8") from None
    return parse_golden(text, name=name)


def parse_golden(text: str, *, name: str) -> list[GoldenItem]:
    """Like `read_golden`, but from text; messages call the file `name`."""
    items: list[GoldenItem] = []
    problems: list[str] = []
    by_id: dict[str, int] = {}
    by_question: dict[str, tuple[int, str]] = {}
    for place, value in _rows(text, name):
        if is_archived(value):
            continue
        try:
            item = _item(value)
        except NotGolden as error:
            problems.append(f"{name}:{place}: {error}")
            continue
        key = question_key(item.question)
        if key in by_question:  # word for word the same question with the same reference counts once
            if by_question[key][1] != item.reference:
                problems.append(f"{name}:{place}: asks what place {by_question[key][0]} asks, with another reference")
        elif item.id in by_id:
            problems.append(f"{name}:{place}: has the id {readable(item.id)!r} of place {by_id[item.id]}")
        else:
            items.append(item)
        by_id.setdefault(item.id, place)
        by_question.setdefault(key, (place, item.reference))
        if len(items) > MOST_ITEMS:
            raise WrongSettings(f"{name}: has more than {MOST_ITEMS:,} items")
    if problems:
        more = len(problems) - _MOST_TOLD
        told = [*problems[:_MOST_TOLD], *([f"and {more} more problems"] if more > 0 else [])]
        raise WrongSettings("\n".join(told))
    if not items:
        raise WrongSettings(f"{name}: holds no golden items")
    return items


def _item(value: object) -> GoldenItem:
    if not isinstance(value, Mapping):
        raise NotGolden("is no object with a question and a reference")
    if None in value:  # what a CSV row has beyond the header
        raise NotGolden("has more fields than the header: a text with a comma needs quotes around it")
    read = format_of(value)
    if read is None:
        raise NotGolden(lacking(value, "fields"))
    return read(value)


def _rows(text: str, name: str) -> Iterator[Row]:
    start = text.lstrip()[:1]
    if start == "[":
        yield from _listed(_parsed(text, name))
    elif start == "{":
        lines = [Row(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) > 1 and not _is_json(lines[0].value):
            yield from _listed(_parsed(text, name))
            return
        for place, line in lines:
            value = _parsed(line, f"{name}:{place}")
            held = _held(value) if len(lines) == 1 else None
            yield from [Row(place, value)] if held is None else _listed(held)
    else:
        header = text.partition("\n")[0]
        reader = csv.DictReader(io.StringIO(text), strict=True, delimiter=max(",;\t", key=header.count))
        try:
            place = 2
            for row in reader:
                if format_of(row) is None:
                    raise WrongSettings(f"{name}:1: the header {lacking(row, 'columns')}")
                yield Row(place, row)
                place = reader.line_num + 1
        except csv.Error as error:
            raise WrongSettings(f"{name}:{reader.line_num}: is not valid CSV: {error}") from None


def _listed(value: object) -> Iterator[Row]:
    found = value if isinstance(value, list) else _held(value)
    for number, item in enumerate([value] if found is None else found, start=1):
        yield Row(number, item)


def _held(value: object) -> list[Any] | None:
    """The only list of objects in an object, such as the items of an exported dataset."""
    lists = [held for held in value.values() if isinstance(held, list)] if isinstance(value, Mapping) else []
    objects = [held for held in lists if held and all(isinstance(item, Mapping) for item in held)]
    whole = isinstance(value, Mapping) and format_of(value) is not None
    return objects[0] if len(objects) == 1 and not whole else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _parsed(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongSettings(f"{name}: is not valid JSON: {error}") from None
