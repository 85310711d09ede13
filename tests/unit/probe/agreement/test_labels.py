from __future__ import annotations

import json

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.agreement import labels as module
from monitor.probe.agreement.labels import ScoredAnswer, from_csv, from_json_lines

LINE = {"question": "When?", "reference": "At nine.", "answer": "Nine.", "score": 5}
READ = ScoredAnswer(question="When?", reference="At nine.", answer="Nine.", score=5.0)


def lines(*rows):
    return [json.dumps(row) for row in rows]


def test_json_lines_are_read_and_other_fields_ignored():
    rows = lines({**LINE, "why": "complete"}, {**LINE, "score": 2.5, "documents": ["Open from nine."]})
    first, second = from_json_lines(["", *rows])
    assert first == READ
    assert (second.score, second.documents) == (2.5, ("Open from nine.",))


def test_csv_is_read_with_documents_as_json():
    rows = ["5,When?,Nine.,At nine.,\n", '1,When?,Ten.,At nine.,"[""One."",""Two.""]"\n']
    first, second = from_csv(["score,question,answer,reference,documents\n", *rows])
    assert first == READ
    assert second.documents == ("One.", "Two.")


@pytest.mark.parametrize(
    ("over", "fault"),
    [
        ({"score": 6}, "line 1: score: must be 5 or less$"),
        ({"score": -1}, "line 1: score: must be 0 or more$"),
        ({"score": None}, "line 1: score: must be a number$"),
        ({"score": "good"}, "line 1: score: must be a number$"),
        ({"answer": "  "}, "line 1: answer: must not be empty$"),
        ({"reference": "x" * (module.LONGEST + 1)}, "line 1: reference"),
        ({"documents": "no list"}, "line 1: documents: must be a list$"),
        ({"documents": [1]}, r"line 1: documents\[0\]: must be a text$"),
    ],
)
def test_a_line_of_another_form_is_named(over, fault):
    with pytest.raises(WrongSettings, match=fault):
        from_json_lines(lines({**LINE, **over}))


def test_only_the_first_faults_are_named():
    with pytest.raises(WrongSettings, match="line 5") as raised:
        from_json_lines(["{}"] * 7)
    assert "line 6" not in str(raised.value)
    assert "and 2 more" in str(raised.value)


def test_a_missing_heading_is_named():
    with pytest.raises(WrongSettings, match="lacks score"):
        from_csv(["question,reference,answer\n", "a,b,c\n"])


def test_an_empty_file_and_one_that_is_too_long_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_LABELS", 2)
    for given in ([], lines(LINE, LINE, LINE)):
        with pytest.raises(WrongSettings, match="1 to 2 answers"):
            from_json_lines(given)


def test_text_that_cannot_be_stored_is_replaced():
    assert from_json_lines(lines({**LINE, "answer": "a\0b"}))[0].answer == "a\ufffdb"
