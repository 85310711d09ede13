"""Reads answers that people have scored: JSON lines, or CSV with a line of headings."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, Json, StringConstraints, ValidationError

from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.core.yaml.problems import problems_of, written

MOST_LABELS: Final = 10_000
LONGEST: Final = 40_000  # characters of a text
MOST_DOCUMENTS: Final = 200  # of one answer
_MOST_NAMED: Final = 5
_NEEDED: Final = ("question", "reference", "answer", "score")
_Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST, strip_whitespace=True)]
_Documents = Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(max_length=MOST_DOCUMENTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """An answer with a person's score from 0 (not sure) to 5, and the documents that came with it."""

    question: str
    reference: str
    answer: str
    score: float
    documents: tuple[str, ...] = ()


class _Line(BaseModel):
    """A line of a file; other fields are ignored."""

    question: _Text
    reference: _Text
    answer: _Text
    score: float = Field(ge=0, le=5, allow_inf_nan=False)
    documents: _Documents = []


class _Row(_Line):
    """A row of CSV: `documents` is a list of texts as JSON."""

    documents: Json[_Documents] = []


def from_json_lines(lines: Iterable[str]) -> list[ScoredAnswer]:
    """Reads lines `{question, reference, answer, score, documents?}`.

    Raises:
        WrongSettings: lines have another form, there are none, or more than MOST_LABELS.
    """
    numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
    return _read(numbered, _Line.model_validate_json)


def from_csv(lines: Iterable[str]) -> list[ScoredAnswer]:
    """Reads rows of CSV with the headings `question`, `reference`, `answer`, `score` and, if given, `documents`.

    Raises:
        WrongSettings: a heading is missing, rows have another form, there are none, or more than MOST_LABELS.
    """
    rows = csv.DictReader(lines)
    try:
        missing = [name for name in _NEEDED if name not in (rows.fieldnames or ())]
        if missing:
            raise WrongSettings(f"the first line must name the columns {', '.join(_NEEDED)}; it lacks {missing[0]}")
        return _read(((rows.line_num, _filled(row)) for row in rows), _Row.model_validate)
    except csv.Error as error:
        raise WrongSettings(f"line {rows.line_num}: is not valid CSV: {error}") from None


def _filled(row: Mapping[str | None, Any]) -> dict[str, Any]:
    return {name: cell for name, cell in row.items() if name is not None and cell}


def _read(numbered: Iterable[tuple[int, Any]], parse: Any) -> list[ScoredAnswer]:
    found, faults = list[ScoredAnswer](), list[str]()
    for number, line in islice(numbered, MOST_LABELS + 1):
        try:
            parsed: _Line = parse(line)
        except ValidationError as error:
            path, problem = problems_of(error, _Row)[0]
            faults.append(f"line {number}: {written(path) if path else '$'}: {problem}")
            continue
        found.append(
            ScoredAnswer(
                question=storable(parsed.question),
                reference=storable(parsed.reference),
                answer=storable(parsed.answer),
                score=parsed.score,
                documents=tuple(storable(document) for document in parsed.documents),
            )
        )
    if faults:
        more = [f"and {len(faults) - _MOST_NAMED} more"] if len(faults) > _MOST_NAMED else []
        raise WrongSettings("the labels cannot be read:\n  " + "\n  ".join([*faults[:_MOST_NAMED], *more]))
    if not 1 <= len(found) <= MOST_LABELS:
        raise WrongSettings(f"a file of labels holds 1 to {MOST_LABELS:,} answers")
    return found
