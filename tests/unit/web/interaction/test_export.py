from __future__ import annotations

import csv
import io
import json

import pytest

from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Retriable
from monitor.core.model import Reason, Verdict
from monitor.store.interaction.filters import ListedInteraction
from monitor.web.interaction import export as listing_export
from monitor.web.interaction.export import COLUMNS, as_csv, as_json_lines
from tests.factories.answers import NOON


def a_row(**over):
    known = {
        "app": "shop",
        "id": "q-1",
        "occurred_at": NOON,
        "environment": "production",
        "model": "large",
        "topic": None,
        "conversation_id": "c-1",
        "question": "Write to ada@example.org?",
        "answer": "Yes.",
        "verdict": Verdict.REFUSAL,
        "rule_verdict": Verdict.GROUNDED,
        "reasons": (Reason.REFUSAL_WORDING, Reason.MISSING_FACT),
        "refusal_kind": "full",
        "refusal_correct": None,
        "p_grounded": 0.1,
        "p_refusal": 0.8,
        "p_self_generated": 0.1,
        "uncalibrated": True,
        "sdq": -0.25,
        "sdrd": None,
        "sda": 0.30000001192,
        "qrd": 0.5,
        "qa": 0.5,
        "profile_name": "minilm",
        "profile_hash": "0123",
        "rank": 0.02000000001,
        "reference": "4567",
    }
    return ListedInteraction(**{**known, **over})


def read(lines):
    return list(csv.DictReader(io.StringIO("".join(lines), newline="")))


def test_a_row_of_csv_is_masked():
    (row,) = read(as_csv([a_row()]))
    assert list(row) == list(COLUMNS)
    assert row["question"] == "Write to [e-mail]?"
    assert (row["sdq"], row["sdrd"], row["sda"], row["reasons"]) == ("-0.25", "", "0.3", "refusal_wording missing_fact")
    assert row["occurred_at"] == "2025-11-21T12:00:00Z"
    assert "c-1" not in row.values()


@pytest.mark.parametrize("diagnosis", [Diagnosis.RETRIEVAL_NOISY, None])
def test_the_diagnosis_is_the_last_column(diagnosis):
    row = a_row(diagnosis=diagnosis)
    (cells,), line = read(as_csv([row])), json.loads(next(as_json_lines([row])))
    assert COLUMNS[-1] == "diagnosis"
    assert (cells["diagnosis"], line["diagnosis"]) == (diagnosis or "", diagnosis)


UNSEEN = [
    "\u00a0",
    "\ufeff",
    "\u200b",
    "\u2060",
    "\u00ad",
    "\u202e",
    "\u2003",
    "\u3000",
    "\u2028",
    "\ufe0f",
    " \ufeff\u00a0",
    "\x00",
]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n1",
            " =HYPERLINK(1)",
            "＝1",
            "\ufe66" + "1",
            "\ufe6b" + "A",
        ),
        *(f"{unseen}=HYPERLINK(1)" for unseen in UNSEEN),
    ],
)
def test_a_text_that_a_spreadsheet_would_run_does_not_begin_like_that(text):
    (row,) = read(as_csv([a_row(question=text, answer=text, model=text, id=text)]))
    assert all(row[name].startswith("'") for name in ("question", "answer", "model", "id"))


@pytest.mark.parametrize("text", ["a=1", "\u00a0a", "\ufeff", "", "¿=", "é-1"])
def test_other_texts_are_as_they_were(text):
    (row,) = read(as_csv([a_row(model=text)]))
    assert row["model"] == text


def test_a_line_of_json_is_masked():
    (row,) = map(json.loads, as_json_lines([a_row(answer="a\nb")]))
    assert row["question"] == "Write to [e-mail]?"
    assert (row["answer"], row["reasons"], row["refusal_correct"]) == (
        "a\nb",
        ["refusal_wording", "missing_fact"],
        None,
    )


def test_an_export_that_ends_early_says_so(monkeypatch):
    monkeypatch.setattr(listing_export, "MAX_ROWS", 2)
    assert read(as_csv([a_row(), a_row()]))[-1]["app"].startswith("# ends here: the limit is 2 rows")
    assert "ends_here" in list(map(json.loads, as_json_lines([a_row(), a_row()])))[-1]

    def broken():
        yield a_row()
        raise Retriable("database: gone")

    assert read(as_csv(broken()))[-1]["app"] == "# ends here: database: gone"
    assert json.loads(list(as_json_lines(broken()))[-1]) == {"ends_here": "database: gone"}
