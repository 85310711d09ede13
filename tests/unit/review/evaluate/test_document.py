"""What people see of an evaluation, and what programs do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from monitor.cli.review.evaluation import terminal
from monitor.core.errors import WrongSettings
from monitor.report.charts.drawing import evaluation_chart
from monitor.review.evaluate.document import interval, number, sections
from monitor.review.evaluate.figures import Figure, Positive
from monitor.review.evaluate.formats import as_json, markdown
from monitor.review.evaluate.page import page
from monitor.review.evaluate.run import BATCH, assess_all, evaluated, usable
from monitor.review.evaluate.tables import Resampling
from monitor.review.evaluate.wording import notes
from tests.factories.assess.interactions import profile
from tests.factories.review.evaluate import G, R, S, a_row, some_rows

TITLES = [
    "At a glance",
    "Ranking",
    "Labels against verdicts",
    "Refusals",
    "Probabilities",
    "Generators",
    "Thresholds of the study's rule",
    "Each metric alone",
]


def an_evaluation(pairs=None, **over):
    pairs = some_rows() if pairs is None else pairs
    known = {
        "profile": profile(0.5),
        "files": [Path("labels <1>.jsonl")],
        "positive": Positive.NEGATIVE,
        "left_out": 0,
        "resampling": Resampling(draws=50, seed=0),
    }
    return evaluated([row for row, _ in pairs], [a for _, a in pairs], **{**known, **over})


def on_terminal(found, width):
    console = Console(file=StringIO(), width=width)
    console.print(terminal(found, console.width))
    return console.file.getvalue()


class Wellformed(HTMLParser):
    """Fails where a tag is not closed in order; remembers the tags and what they link to."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in {"href", "src", "xlink:href"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, _):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_numbers_are_written_as_in_the_study():
    assert [number(v) for v in (0.5, 0.0, 1.0, -0.25, None, 0.99996)] == [
        ".500",
        ".000",
        "1.000",
        "-.250",
        "–",
        "1.000",
    ]
    assert interval(Figure(value=0.5, low=0.25, high=1.0)) == ".250–1.000"
    assert interval(Figure(value=0.5)) == ""


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_terminal_shows_every_table_in_its_width(width):
    text = on_terminal(an_evaluation(), width)
    assert max(map(len, text.splitlines())) <= width
    for title in TITLES:
        assert title in text
    f1 = an_evaluation().all.verdict.f1
    assert (interval(f1) in text.partition("Ranking")[0]) == (width > 80)


def test_the_threshold_table_has_its_intervals_on_wider_pages_only():
    found = an_evaluation()
    row = found.all.thresholds[0].rates.f1
    bounds = f"{number(row.low)}–{number(row.high)}"
    table = on_terminal(found, 200).partition("Thresholds of")[2].partition("Each metric")[0]
    assert bounds not in table
    assert f"{number(row.value)} ({bounds})" in markdown(found)
    assert bounds in page(found, evaluation_chart)


def test_markdown_tables_are_whole_and_names_cannot_break_them():
    pairs = [a_row(label, label, number=n, model="a|b <i>*") for n, label in enumerate((G, S, R))]
    text = markdown(an_evaluation(pairs))
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == TITLES
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert r"a\|b \<i\>\*" in text


def test_the_page_stands_alone_and_escapes_what_is_foreign():
    found = an_evaluation(
        [a_row(G, G, number=1, model="<script>x</script>"), a_row(S, S, number=2), a_row(R, R, number=3)]
    )
    text = page(found, evaluation_chart)
    reader = Wellformed()
    reader.feed(text)
    assert reader.open == []
    assert {"script", "link", "img", "iframe"}.isdisjoint(reader.seen)
    assert reader.seen.count("figure") == 3
    assert all(link.startswith("#") for link in reader.links)
    assert len(re.findall(r'<h2 id="([^"]*)"', text)) == len(set(reader.links)) == len(TITLES)
    assert "url(" not in text
    assert "&lt;script&gt;x" in text
    assert "labels &lt;1&gt;.jsonl" in text
    assert "snapshots" not in text  # neither questions nor answers


def test_the_json_keeps_its_names():
    found = as_json(an_evaluation())
    again = json.loads(json.dumps(found, allow_nan=False))
    assert set(again) == {
        "files",
        "positive",
        "profile",
        "draws",
        "seed",
        "left_out",
        "drawn",
        "all",
        "random",
        "notes",
    }
    assert set(again["all"]) == {
        "rows",
        "groups",
        "labels",
        "verdict",
        "rule",
        "ranking",
        "thresholds",
        "metrics_alone",
        "models",
        "refusals",
        "confusion",
        "calibration",
    }
    assert set(again["all"]["verdict"]) == {
        "rows",
        "positives",
        "flagged",
        "accuracy",
        "precision",
        "recall",
        "f1",
        "f2",
        "f1_flag_everything",
    }
    assert set(again["all"]["verdict"]["f1"]) == {"value", "low", "high", "reason"}
    assert set(again["all"]["ranking"][0]) == {
        "positive",
        "by",
        "positives",
        "others",
        "auc",
        "average_precision",
        "best_f1",
        "recall_at_precision_90",
        "points",
    }
    assert again["profile"]["name"] == "test"
    assert again["positive"] == "negative"
    assert again["random"] is None


def test_random_rows_are_shown_beside_all_of_them():
    pairs = [a_row(G, G, number=n, drawn="random") for n in range(3)]
    pairs += [a_row(S, S if n else G, number=10 + n, drawn="random") for n in range(2)]
    pairs += [a_row(S, G, number=20 + n, drawn="low_margin") for n in range(5)]
    found = an_evaluation(pairs)
    assert found.drawn == {"low_margin": 5, "random": 5}
    assert (found.all.verdict.recall.value, found.random.verdict.recall.value) == (1 / 7, 0.5)
    assert any(note.startswith("5 of the rows were chosen") for note in notes(found))
    names = [row[0] for row in next(sections(found)).grids[0].rows]
    assert names == ["the verdict", "the study's rule", "the verdict, random rows", "the study's rule, random rows"]
    assert an_evaluation(pairs[:5]).random is None
    without = an_evaluation(pairs[5:])
    assert without.random is None
    assert any("no random rows" in note for note in notes(without))


def test_what_a_reader_has_to_know_is_said_first():
    good = an_evaluation([a_row(G, G, number=n) for n in range(30)])
    said = " ".join(notes(good))
    assert "No row is positive" in said
    assert "No row is labelled refusal or self-generated" in said
    assert "The rows form only" not in said
    assert "Every row is positive" in " ".join(notes(an_evaluation([a_row(S, S, number=1)])))
    assert any("only 7 groups" in note for note in notes(an_evaluation()))
    assert any("3 rows do not say" in note for note in notes(replace(good, left_out=3)))
    missed = an_evaluation([a_row(S, G, number=1), a_row(S, G, number=2), a_row(G, G, number=3)])
    assert any(
        "Flagging everything has an F1 of 0.800, no worse than the verdict's 0.000" in note for note in notes(missed)
    )
    for text in (on_terminal(good, 100), markdown(good), page(good, evaluation_chart)):
        assert "–: no row is positive" in text


def test_batches_are_assessed_in_order_and_progress_is_told():
    rows = [a_row(G, G, number=n) for n in range(BATCH + 2)]
    by_id = {a.interaction.id: a for _, a in rows}
    sizes, told = [], []

    def assess(batch):
        sizes.append(len(batch))
        return [by_id[interaction.id] for interaction in batch]

    found = assess_all([row for row, _ in rows], assess, told.append)
    assert found == [a for _, a in rows]
    assert (sizes, told) == ([BATCH, 2], [BATCH, BATCH + 2])


def test_only_rows_that_say_so_can_be_unanswerable():
    rows = [row for row, _ in some_rows()]
    assert len(usable(rows, Positive.NEGATIVE)) == 12
    assert len(usable(rows, Positive.UNANSWERABLE)) == 9
    with pytest.raises(WrongSettings, match="answerable"):
        usable([row for row in rows if row.answerable is None], Positive.UNANSWERABLE)
