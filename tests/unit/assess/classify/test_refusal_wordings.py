"""The wordings of `wordings/CODE.txt`, one a line under the heading that says how it is to be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.assess.classify.lexicon import WORDINGS
from monitor.assess.classify.refusal import Role, read_answer
from monitor.core.model import RefusalKind
from tests.unit.assess.classify.test_refusal_full import FULL

FILES = sorted((Path(__file__).parent / "wordings").glob("*.txt"))
KINDS = {"FULL": RefusalKind.FULL, "PARTIAL": RefusalKind.PARTIAL, "NONE": RefusalKind.NONE}
ROLES = {"COURTESY": Role.COURTESY, "HEDGE": Role.HEDGE}


def read(file):
    """The lines of the file with their headings."""
    heading, lines = "", []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            heading = line.removeprefix("# ")
        elif line:
            lines.append((heading, line))
    return lines


READ = {file.stem: read(file) for file in FILES}


def under(*headings):
    return [
        pytest.param(heading, line, id=f"{code}-{n}")
        for code, lines in READ.items()
        for n, (heading, line) in enumerate(lines)
        if heading in headings
    ]


@pytest.mark.parametrize(("heading", "answer"), under(*KINDS))
def test_how_much_of_an_answer_refuses(heading, answer):
    assert read_answer(answer).kind is KINDS[heading]


@pytest.mark.parametrize(("heading", "answer"), under(*ROLES))
def test_a_courtesy_or_a_hedge_is_told(heading, answer):
    assert [s.role for s in read_answer(answer).sentences] == [ROLES[heading]]


@pytest.mark.parametrize(("heading", "answer"), under("CONTENT"))
def test_content_that_opens_politely_stays_content(heading, answer):
    *heads, last = [s.role for s in read_answer(answer).sentences]
    assert last is Role.CONTENT, heading
    assert set(heads) <= {Role.CONTENT, Role.COURTESY, Role.HEDGE}


def test_every_language_has_dozens_of_wordings_and_none_twice():
    assert set(READ) | set(FULL) == {w.code for w in WORDINGS}
    for code, lines in READ.items():
        assert {heading for heading, _ in lines} == {*KINDS, *ROLES, "CONTENT"}, code
        assert sum(heading == "FULL" for heading, _ in lines) >= 30, code
        assert sum(heading == "NONE" for heading, _ in lines) >= 20, code
        assert len({line for _, line in lines}) == len(lines), code
