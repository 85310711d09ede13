"""Reads labels from files: JSON lines, or CSV with a line of headings."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, Field, ValidationError

from monitor.app.review.labels import MAX_NOTE_CHARS, MAX_PERSON_CHARS, Wish, refuse
from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.yaml.problems import problems_of

_NEEDED = ("app", "id", "label")


class _Line(BaseModel):
    """A label in a file; other fields, such as those of an export, are ignored."""

    app: str = Field(min_length=1)
    id: str = Field(min_length=1)
    label: Verdict
    by: str | None = Field(None, min_length=1, max_length=MAX_PERSON_CHARS)
    note: str | None = Field(None, max_length=MAX_NOTE_CHARS)


def from_json_lines(lines: Iterable[str], *, by: str, note: str | None = None) -> list[Wish]:
    """Reads lines `{app, id, label}`; `by` and `note` are the defaults for lines without them.

    Raises:
        WrongSettings: lines have another form; the message names the first ones.
    """
    return _wishes(((n, line) for n, line in enumerate(lines, 1) if line.strip()), by=by, note=note)


def from_csv(lines: Iterable[str], *, by: str) -> list[Wish]:
    """Reads rows of CSV whose headings are among `app`, `id`, `label`, `by` and `note`, in any order.

    An empty cell is as if it were not there. A label may be written with a dash.

    Raises:
        WrongSettings: a heading is missing, or rows have another form; the message names the first ones.
    """
    rows = csv.DictReader(lines)
    try:
        missing = [name for name in _NEEDED if name not in (rows.fieldnames or ())]
        if missing:
            raise WrongSettings(
                f"the first line must name the columns app, id and label; it lacks {', '.join(missing)}"
            )
        numbered = [(rows.line_num, {k: v for k, v in row.items() if k is not None and v}) for row in rows]
    except csv.Error as error:
        raise WrongSettings(f"line {rows.line_num}: is no CSV: {error}") from None
    return _wishes(numbered, by=by, note=None)


def _wishes(lines: Iterable[tuple[int, str | Mapping[str, str]]], *, by: str, note: str | None) -> list[Wish]:
    wishes, faults = list[Wish](), list[str]()
    for number, line in lines:
        try:
            parsed = _Line.model_validate_json(line) if isinstance(line, str) else _Line.model_validate(_dashed(line))
        except ValidationError as error:
            path, problem = problems_of(error, _Line)[0]
            faults.append(f"line {number}: {'.'.join(map(str, path)) or '$'}: {problem}")
            continue
        app, id_ = storable(parsed.app), storable(parsed.id)
        wishes.append(
            Wish(
                name=f"{app}/{id_}",
                spellings=((app, id_),),
                label=parsed.label,
                by=storable(parsed.by or by),
                note=parsed.note or note,
            )
        )
    refuse(faults)
    return wishes


def _dashed(row: Mapping[str, str]) -> Mapping[str, str]:
    return {**row, "label": row.get("label", "").strip().lower().replace("-", "_")}
