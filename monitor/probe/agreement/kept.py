"""Keeps grades in a file as they come, so that a measurement that is stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Annotated, Final

from pydantic import BaseModel, Field, StringConstraints, ValidationError
from typing_extensions import override

from monitor.assess.judge.correctness.grade import HIGHEST, UNSURE, Grade, Grader
from monitor.core.errors import Fatal, WrongSettings

LARGEST: Final = 512 * 2**20  # bytes; more than the grades of the most labels have in three ways
_HEAD: Final = b'{"key": "'
_SHOWN: Final = 500  # characters of a question or an answer, for people who read the file


class _Line(BaseModel):
    """A line of the file; the other fields are for people."""

    key: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    scores: Annotated[list[Annotated[int, Field(ge=UNSURE, le=HIGHEST)]], Field(max_length=20)]
    reason: str | None


class KeptGrader(Grader):
    """Grades as `grader` does, and once only what is the same in all that the judge sees: its grade costs nothing.

    `judging` is what else decides a grade: how often an answer is judged, by which prompts. Grades of other models,
    prompts, texts or contexts may stand in the same file.
    """

    def __init__(self, grader: Grader, *, judging: Sequence[str], path: Path | None) -> None:
        """Reads the grades of `path`, if it is there; without a path grades are kept in memory only.

        Raises:
            WrongSettings: the file cannot be read or written, or holds something else.
        """
        self._grader = grader
        self._judging = tuple(judging)
        self._path = path
        self._lock = Lock()
        self._known = {} if path is None else _read(path)
        self.reused = 0  # answers whose grade was known before

    @property
    @override
    def model(self) -> str:
        return self._grader.model

    @property
    def kept(self) -> int:
        """The number of different grades that are there by now."""
        return len(self._known)

    @override
    def grade(
        self, *, question: str, contexts: Sequence[str], reference: str, answer: str, deadline: float | None = None
    ) -> Grade:
        """As the port.

        Raises:
            Fatal: as the port, or the file cannot be written.
        """
        seen = [self.model, *self._judging, question, reference, answer, *contexts]
        key = sha256(json.dumps(seen).encode()).hexdigest()
        if (known := self._known.get(key)) is not None:
            with self._lock:
                self.reused += 1
            return known
        grade = self._grader.grade(
            question=question, contexts=contexts, reference=reference, answer=answer, deadline=deadline
        )
        with self._lock:
            self._known[key] = Grade(scores=grade.scores, reason=grade.reason)
            if self._path is not None:
                about = {"model": self.model, "question": question[:_SHOWN], "answer": answer[:_SHOWN]}
                found = {"scores": grade.scores, "reason": grade.reason, "feedback": grade.feedback}
                _append(self._path, json.dumps({"key": key, **about, **found}) + "\n")
        return grade


def _append(path: Path, line: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise Fatal(f"{path}: cannot be written: {error.strerror}") from None


def _read(path: Path) -> dict[str, Grade]:
    try:
        with path.open("a+b") as file:
            if file.tell() > LARGEST:
                raise WrongSettings(f"{path}: is larger than {LARGEST // 2**20} MiB")
            file.seek(0)
            content = file.read()
            whole, newline, last = content.rpartition(b"\n")
            found = [_line(path, number, line) for number, line in enumerate((whole + newline).splitlines(), start=1)]
            if last:  # cut off as it was written
                if not (last.startswith(_HEAD) or _HEAD.startswith(last)):
                    raise _no_grade(path, len(found) + 1)
                file.truncate(len(whole) + len(newline))
    except OSError as error:
        raise WrongSettings(f"{path}: cannot be read and written: {error.strerror}") from None
    return {one.key: Grade(scores=tuple(one.scores), reason=one.reason) for one in found}


def _line(path: Path, number: int, line: bytes) -> _Line:
    try:
        return _Line.model_validate_json(line)
    except ValidationError:
        raise _no_grade(path, number) from None


def _no_grade(path: Path, number: int) -> WrongSettings:
    return WrongSettings(f"{path}: line {number} is not a grade that --save has written: name a new file")
