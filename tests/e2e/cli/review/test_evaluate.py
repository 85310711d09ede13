"""`monitor evaluate`: a labelled file in, the study's tables out, and no database anywhere."""

from __future__ import annotations

import gzip
import json

import pytest

from monitor.assess.score.features import FEATURES_VERSION
from tests.factories.review.labelled import HOLDS, INVENTED
from tests.rig.installation import REFUSAL


def lines(number=24, **over):
    def one(i):
        answer, label = (
            (HOLDS[0], "grounded"),
            (REFUSAL, "refusal"),
            (INVENTED, "self_generated"),
            (HOLDS[1], "grounded"),
        )[i % 4]
        known = {
            "id": f"q-{i}",
            "question": f"Question {i // 2}: how long are deleted snapshots kept?",
            "retrieved_documents": HOLDS,
            "answer": answer,
            "label": label,
            "model": f"generator-{i % 3}",
            "answerable": label == "grounded",
        }
        return json.dumps({**known, **over}) + "\n"

    return "".join(map(one, range(number)))


def test_a_labelled_file_is_measured_without_a_database(offline, tmp_path):
    (tmp_path / "labels.jsonl.gz").write_bytes(gzip.compress(lines().encode()))
    found = offline.json("evaluate", "labels.jsonl.gz")
    rows = found["all"]
    assert (rows["rows"], rows["groups"]) == (24, 12)
    assert rows["labels"] == {"grounded": 12, "refusal": 6, "self_generated": 6}
    assert sum(n for by in rows["confusion"]["verdict"].values() for n in by.values()) == 24
    assert rows["confusion"]["verdict"]["refusal"]["refusal"] == 6
    assert [m["model"] for m in rows["models"]] == ["generator-0", "generator-1", "generator-2"]
    assert found["profile"]["name"] == "hash"
    assert found["random"] is None
    assert offline.json("evaluate", "labels.jsonl.gz") == found  # its intervals too
    assert not (tmp_path / "state" / "postgres").exists()
    assert "database" not in offline.run("evaluate", "labels.jsonl.gz", "--json").stderr  # nor is one asked aside


def test_the_tables_are_printed_and_written_in_every_form(offline, tmp_path):
    ended = offline.run("evaluate", "-", "--output", "pages", "--positive", "unanswerable", stdin=lines().encode())
    assert ended.returncode == 0, ended.stderr
    for title in (
        "At a glance",
        "Ranking",
        "Refusals",
        "Probabilities",
        "Generators",
        "Thresholds of the study's rule",
    ):
        assert title in ended.stdout
    assert "unanswerable against answerable" in ended.stdout
    page = (tmp_path / "pages" / "evaluation.html").read_text()
    assert page.count("<svg") == 3
    assert "http" not in page.replace("http://www.w3.org/", "")
    assert "# Evaluation" in (tmp_path / "pages" / "evaluation.md").read_text()
    written = json.loads((tmp_path / "pages" / "evaluation.json").read_text())
    assert written == offline.json("evaluate", "-", "--positive", "unanswerable", stdin=lines().encode())
    assert offline.run("evaluate", "-", "-o", "one.md", stdin=lines().encode()).returncode == 0
    assert (tmp_path / "one.md").read_text().startswith("# Evaluation")


STRICT = f"""
name = "strict"
embedding_model = "hash/64"
token_model = "hash/64"
features_version = {FEATURES_VERSION}
calibrated = false
note = ""
refusal_precision = 0.95
refusal_missed = 0.02
question_held = -0.1
question_not_held = -0.3

[metrics]
sdq = {{ threshold = 1.0 }}
sdrd = {{ threshold = 1.0 }}
sda = {{ threshold = 1.0 }}
qrd = {{ threshold = 1.0 }}
qa = {{ threshold = 1.0 }}

[groundedness]
bias = 9.0
threshold = 0.5
features = {{ }}
"""


def test_another_profile_and_a_sidecar_that_is_not_asked(offline, tmp_path):
    (tmp_path / "strict.toml").write_text(STRICT)
    ended = offline.run("evaluate", "-", "--profile", "strict.toml", stdin=lines().encode(), SIDECAR__MODE="explain")
    assert ended.returncode == 0, ended.stderr
    assert "profile strict" in ended.stdout
    assert "the sidecar is not asked" in ended.stderr


def test_rows_of_one_label_are_no_error(offline):
    ended = offline.run("evaluate", "-", stdin=lines(label="grounded").encode())
    assert ended.returncode == 0
    assert "No row is positive" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (["nowhere.jsonl"], "", "nowhere.jsonl: cannot be read"),
        (["-"], "", "-: there is no line to read"),
        (["-"], lines(3) + '{"id": "x"}\n', "-:4: question: is missing"),
        (["-"], lines(3, label="fine"), "3 lines are not labelled events"),
        (["-", "--positive", "unanswerable"], lines(3, answerable=None), "no row says whether it is answerable"),
        (["-", "--profile", "nothing"], lines(3), "nothing"),
        (["-", "--output", "table.csv"], lines(3), "table.csv: give a folder"),
        (["-", "--output", "nowhere/table.md"], lines(3), "folder nowhere does not exist"),
        (["-", "--positive", "odd"], lines(3), "odd"),
    ],
)
def test_wrong_use_is_two_with_a_line_that_says_what(offline, arguments, text, said):
    ended = offline.run("evaluate", *arguments, stdin=text.encode())
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
