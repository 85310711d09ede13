"""What a person sees before labelling, and the command to copy."""

from __future__ import annotations

import shlex

import pytest
from rich.console import Console

from monitor.cli.review.tables import interaction_panel, keys, weeks_table
from monitor.review.agreement import summary
from monitor.review.draw import Offer
from monitor.review.label import Drawn, consensus
from monitor.review.presentation import SHOWN, label_command, offer_json, remarks, week_json
from tests.factories.review.labels import NOON, G, R, S, a_candidate, an_opinion

ROW = {
    "app": "bot",
    "id": "q [1]",
    "occurred_at": NOON,
    "question": "How [bold]long[/]?",
    "answer": "30 days.\x1b[2J",
    "retrieved_documents": [{"id": "d", "text": "Kept for 30 days."}, {"id": "e", "text": "Nine \u202eo'clock."}],
    "reference_answer": None,
    "verdict": "self_generated",
    "rule_verdict": "refusal",
    "reasons": ["no_support"],
    "p_grounded": 0.1,
    "p_refusal": 0.2,
    "p_self_generated": 0.7,
    "uncalibrated": True,
}


def offer(id_="q [1]", drawn=Drawn.MARGIN, **over):
    return Offer(candidate=a_candidate(id_, **over), drawn=drawn)


def printed(renderable, width=100):
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_a_person_reads_question_documents_and_answer_and_why_it_is_offered():
    text = printed(interaction_panel(ROW, offer()))
    for words in ("bot / q [1]", "How [bold]long[/]?", "Kept for 30 days.", "document 2", "30 days.", "margin"):
        assert words in text


def test_no_verdict_leads_the_person():
    text = printed(interaction_panel(ROW, offer()))
    for word in ("self", "refusal", "grounded", "70%", "support"):
        assert word not in text
    shown = offer_json(ROW, offer(), "command", reveal=False)
    assert not {"verdict", "rule_verdict", "p_grounded", "reasons"} & set(shown)
    assert offer_json(ROW, offer(), "command", reveal=True)["verdict"] == "self_generated"


def test_foreign_text_does_not_steer_the_terminal():
    text = printed(interaction_panel(ROW, offer()))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_nothing_retrieved_is_said_and_a_long_text_is_cut():
    text = printed(interaction_panel({**ROW, "retrieved_documents": [], "answer": "a" * (SHOWN + 5)}, offer()))
    assert "none were retrieved" in text
    assert "… and 5 more characters" in text


def test_the_reference_answer_is_shown_where_there_is_one():
    assert "A month." in printed(interaction_panel({**ROW, "reference_answer": "A month."}, offer()))


@pytest.mark.parametrize("id_", ["q-1", "q 1", "it's; rm -rf", "a/b", "$HOME"])
def test_the_command_is_one_for_a_shell(id_):
    words = shlex.split(label_command(offer(id_), "ann b"))
    assert words == ["monitor", "review", "label", "--by", "ann b", f"bot/{id_}", "LABEL"]


def test_an_app_that_looks_like_an_option_is_none():
    assert shlex.split(label_command(offer("1", app="-x"), None))[3:] == ["--", "-x/1", "LABEL"]


def test_each_label_has_a_key():
    assert dict(keys()) == {"g": G, "r": R, "s": S}


def weeks(number, **over):
    return summary("2025-W47", consensus([an_opinion(n, **over) for n in range(number)]), 3)


def test_a_week_is_a_line_with_the_intervals():
    text = printed(weeks_table([weeks(40, label=S, verdict=S)]), width=80)
    (line,) = (line for line in text.splitlines() if "2025-W47" in line)
    assert "100% (91–100%)" in line
    assert "0% (0–9%)" in line  # the rule
    assert "too few" not in line


def test_a_week_of_few_labels_says_so():
    assert "2 (too few)" in printed(weeks_table([weeks(2)]))
    assert week_json(weeks(2))["enough"] is False


def test_a_week_without_labels_has_no_shares():
    empty = week_json(weeks(0))
    assert (empty["labels"], empty["verdict"]["share"], empty["verdict"]["lower"]) == (0, None, None)
    assert "–" in printed(weeks_table([weeks(0)]))


def test_what_weakens_the_figures_is_said():
    said = "\n".join(remarks(weeks(2), 7))
    assert "3 were drawn at random and are open" in said
    assert "left out: 7" in said
