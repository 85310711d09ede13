"""From rows to an explanation: what it shows, says and survives."""

from __future__ import annotations

import json
from dataclasses import replace
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.explain.cause import Broken, Cause, Told
from monitor.alert.explain.examples import LONGEST, MOST
from monitor.alert.explain.explain import explain
from monitor.alert.explain.explanation import Explanation
from monitor.alert.explain.finding import Cluster, Diagnoses, DiagnosisCount, Finding, Kind, Value
from monitor.assess.embed.hashing import HashEmbedder
from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import Retriable
from monitor.core.model import Probabilities
from tests.unit.alert.explain.rows import BAD, a_row, one_of, traffic

EMBED = HashEmbedder().embed
USUAL = traffic(1, 800, 0.04)
BROKEN = traffic(
    2, 800, lambda row: 0.6 if row["prompt_version"] == "v42" else 0.05, prompt_version=one_of("v41", "v42")
)


def an_explanation(**over):
    known = {"answers": 100, "matching": 50, "before_answers": 100, "before_matching": 10, "looked_at": 40}
    return Explanation(signal="negative", **{**known, **over})


def a_finding(**over):
    known = {
        "values": (Value(dimension="prompt_version", value="v42"),),
        "kind": Kind.WORSE,
        "answers": 60,
        "matching": 45,
        "rate": 0.75,
        "elsewhere": 0.125,
        "lift": 6.0,
        "share": 0.6,
        "before_rate": 0.04,
        "before_elsewhere": 0.05,
        "before_share": 0.5,
        "owed": 0.375,
        "p": 1e-9,
        "q": 1e-7,
    }
    return Finding(**{**known, **over})


def sentence_of(finding):
    return an_explanation(findings=(finding,)).sentences()[0]


# --- sentences ---


def test_the_first_sentence_says_what_changed():
    first, *others = explain(BROKEN, USUAL, embed=EMBED).sentences()
    assert first.startswith("prompt version v42: new, and ")
    assert not any("failing questions" in sentence for sentence in others), "all topics fail as often as before"
    (*_, last) = explain(BROKEN, [], embed=EMBED).sentences()
    assert "failing questions" in last


def test_each_kind_has_its_own_sentence():
    assert sentence_of(a_finding()) == (
        "prompt version v42: 75 % negative (4.0 % before); this explains 94 % of the rise."
    )
    assert sentence_of(a_finding(kind=Kind.NEW, before_rate=None, before_share=0.0, owed=0.4)) == (
        "prompt version v42: new, and 75 % negative (12 % elsewhere); this explains the whole rise."
    )
    assert sentence_of(a_finding(kind=Kind.MIX, before_rate=0.7, before_share=0.08, owed=0.2)) == (
        "prompt version v42: 60 % of the answers (8.0 % before), as bad as they were; this explains 50 % of the rise."
    )
    assert sentence_of(a_finding(kind=Kind.UNCOMPARED, before_rate=None)) == (
        "prompt version v42: 75 % negative (12 % elsewhere)."
    )


def test_if_nothing_changed_the_first_sentence_says_so():
    (sentence,) = an_explanation().sentences()
    assert sentence == ("No app, model, prompt version, topic, document or tag stands out among 40 compared values.")
    as_before = a_finding(kind=Kind.AS_BEFORE, before_rate=0.7, before_elsewhere=0.1)
    first, second = an_explanation(findings=(as_before,)).sentences()
    assert "explains the change" in first
    assert second == "prompt version v42: 75 % negative, as before."


def test_the_sentence_for_an_empty_window_says_so():
    assert explain([], USUAL, embed=EMBED).sentences() == ["Nothing can be compared: the window has no answers."]


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        ("refusal", "75 % refused"),
        ("missing_fact", "75 % where a number, date or name in the answer is in no document"),
        *((each.value, f"75 % diagnosed as {each.value.replace('_', ' ')}") for each in Diagnosis),
    ],
)
def test_the_sentence_names_the_signal(signal, words):
    explanation = replace(an_explanation(findings=(a_finding(),)), signal=signal)
    assert words in explanation.sentences()[0]


def diagnoses(answers, before_answers, **counts):
    """Each count is of now and before."""
    return Diagnoses(
        answers=answers,
        before_answers=before_answers,
        counts=tuple(DiagnosisCount(diagnosis=name, now=now, before=was) for name, (now, was) in counts.items()),
    )


def test_the_last_sentence_has_the_diagnoses_that_rose_most():
    counts = {
        "generator_invented": (3, 4),
        "retrieval_missed": (41, 6),
        "healthy": (40, 70),
        "retrieval_noisy": (10, 8),
        "retrieval_redundant": (0, 0),
        "generator_ignored": (5, 11),
        "of_a_later_release\x1b": (1, 1),
    }
    clusters = (Cluster(words=("refund",), questions=3, share=0.5, before_share=0.25, example="Refund?"),) * 2
    findings = (a_finding(),) * 5
    found = an_explanation(findings=findings, clusters=clusters, diagnoses=diagnoses(100, 100, **counts)).sentences()
    assert len(found) == 5
    assert found[-1] == ("Diagnoses: retrieval missed 41 % (6.0 % before), retrieval noisy 10 % (8.0 % before).")
    few = {"generator_invented": (3, 4), "of_a_later_release\x1b": (3, 1)}
    (_, last) = an_explanation(diagnoses=diagnoses(100, 100, **few)).sentences()
    assert last == "Diagnoses: of a later release 3.0 % (1.0 % before)."
    assert len(an_explanation(diagnoses=diagnoses(100, 100, generator_invented=(3, 4))).sentences()) == 1


def test_the_diagnoses_that_the_cause_rests_on_are_not_said_again():
    found = diagnoses(100, 100, retrieval_missed=(41, 6))
    cause = Cause(suspects=(Broken.RETRIEVER,), looked_at=7, missed=Told.YES)
    assert len(replace(an_explanation(diagnoses=found), cause=cause).sentences()) == 1
    assert len(replace(an_explanation(diagnoses=found), cause=replace(cause, missed=Told.OPEN)).sentences()) == 2


def test_where_nothing_was_diagnosed_before_only_the_diagnoses_of_now_are_said():
    (_, last) = an_explanation(diagnoses=diagnoses(40, 9, retrieval_missed=(10, 1), healthy=(30, 8))).sentences()
    assert last == "Diagnoses: retrieval missed 25 %."


@pytest.mark.parametrize(
    "found", [diagnoses(0, 900, retrieval_missed=(0, 90)), diagnoses(9, 0, retrieval_missed=(9, 0))]
)
def test_too_few_diagnoses_say_nothing(found):
    assert len(an_explanation(diagnoses=found).sentences()) == 1


def test_where_all_is_healthy_the_diagnoses_say_nothing():
    assert len(an_explanation(diagnoses=diagnoses(90, 90, healthy=(90, 90))).sentences()) == 1


def test_an_explanation_that_the_release_before_has_stored_has_no_diagnoses():
    stored = explain(BROKEN, USUAL, embed=EMBED).to_json()
    del stored["diagnoses"], stored["cause"]["diagnoses"], stored["cause"]["missed"]
    assert Explanation.from_json(stored) == explain(BROKEN, USUAL, embed=EMBED)


VALUES = st.builds(Value, dimension=st.text(max_size=90), value=st.text(max_size=300))


@given(
    st.lists(st.builds(a_finding, values=st.tuples(VALUES, VALUES, VALUES), kind=st.sampled_from(Kind)), max_size=5),
    st.lists(st.text(max_size=300), max_size=4),
)
def test_sentences_are_few_short_and_of_one_line(findings, texts):
    about = tuple(Cluster(words=(text,) * 4, questions=3, share=0.5, before_share=0.25, example=text) for text in texts)
    sentences = an_explanation(findings=tuple(findings), clusters=about).sentences()
    assert 1 <= len(sentences) <= 5
    assert all(len(sentence) < 200 for sentence in sentences)
    unseen = {c for c in "".join(sentences) if category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert unseen <= {"\u200c", "\u200d"}  # joiners, which many scripts and emoji need


def test_addresses_in_values_are_not_shown():
    assert "jane@" not in sentence_of(a_finding(values=(Value(dimension="tag user", value="jane@mail.example"),)))


# --- telling answers ---


def test_nothing_personal_is_in_an_explanation_as_it_is_stored():
    mail = "ada.lovelace@example.org"
    bad = [
        a_row(n, tags={f"of {mail}": mail, "user": mail}, documents=(mail,), question=f"Where is {mail} now, {n}?")
        for n in range(40)
    ]
    good = [a_row(n, matches=False, question=f"How long is snow white, {n}?") for n in range(100, 140)]
    stored = explain([*bad, *good], [], embed=EMBED)
    text = json.dumps(stored.to_json())
    values = [value for finding in stored.findings for value in finding.values]
    assert {value.value for value in values} == {"[e-mail]"}
    assert "tag of [e-mail]" in {value.dimension for value in values}
    assert stored.clusters
    for part in ("ada", "lovelace", "example", "org"):
        assert part not in text.replace('"example":', "")


def test_telling_answers_are_of_what_changed_however_certain_the_others_are():
    sure = Probabilities(grounded=0.0, refusal=0.0, self_generated=1.0)
    noise = [replace(row, probabilities=sure) if row.prompt_version == "v41" and row.matches else row for row in BROKEN]
    explanation = explain(noise, USUAL, embed=EMBED)
    of_version = {row.id for row in BROKEN if row.prompt_version == "v42"}
    assert len(explanation.telling) == MOST
    assert {shown.id for shown in explanation.telling} <= of_version


def test_a_readable_answer_is_shown_rather_than_a_surer_one_that_is_not():
    sure = Probabilities(grounded=0.0, refusal=0.0, self_generated=1.0)
    rows = [
        a_row(1, answer="x" * 5_000, probabilities=sure),
        a_row(2, answer="No.", probabilities=sure),
        a_row(3, answer="A refund takes ninety days, as everybody knows.", probabilities=BAD),
    ]
    assert explain(rows, []).telling[0].id == "q-3"


def test_the_rarest_answer_of_an_app_is_shown_rather_than_a_surer_one():
    sure = Probabilities(grounded=0.0, refusal=0.0, self_generated=1.0)
    texts = ("It takes ten days, as all know.", "It takes six days, as all know.", "It takes two days, as all know.")
    rows = [
        a_row(1, answer=texts[0], probabilities=sure, rank=0.3),
        a_row(2, answer=texts[1], probabilities=BAD, rank=0.01),
        a_row(3, answer=texts[2], probabilities=BAD),
    ]
    shown = [(its.id, its.rank) for its in explain(rows, []).telling]
    assert shown == [("q-2", 0.01), ("q-3", None), ("q-1", 0.3)]


def test_answers_are_shown_redacted_and_cut():
    row = a_row(1, question="I am jane@mail.example", answer="Card 4111 1111 1111 1111 " + "and so on " * 900)
    (shown,) = explain([row], []).telling
    assert shown.question == "I am [e-mail]"
    assert shown.answer.startswith("Card [card] and so on")
    assert len(shown.answer) <= LONGEST


def test_the_same_answer_is_not_shown_twice():
    rows = [a_row(n, answer="I cannot help with  that question.") for n in range(9)] + [a_row(10)]
    assert sorted(shown.answer for shown in explain(rows, []).telling) == [
        "I cannot help with  that question.",
        "It takes 10 days, as everybody knows.",
    ]


# --- what it survives ---


def test_as_json_and_back():
    broken, usual = ([replace(row, diagnosis="healthy") for row in rows] for rows in (BROKEN, USUAL))
    explanation = replace(explain(broken, usual, embed=EMBED), clusters=explain(broken, [], embed=EMBED).clusters)
    assert explanation.diagnoses.answers == len(BROKEN)
    assert explanation.findings
    assert explanation.parts
    assert explanation.clusters
    assert explanation.cause
    assert explanation.telling
    assert Explanation.from_json(json.loads(json.dumps(explanation.to_json(), allow_nan=False))) == explanation


def test_json_that_is_no_explanation_is_refused():
    with pytest.raises(ValueError, match="looked_at"):
        Explanation.from_json({"signal": "negative", "answers": 1})


def test_the_order_of_the_rows_does_not_matter():
    shuffled = [BROKEN[place] for place in np.random.default_rng(3).permutation(len(BROKEN))]
    assert explain(shuffled, USUAL, embed=EMBED) == explain(BROKEN, USUAL, embed=EMBED)


def test_without_an_embedder_there_are_findings_and_no_clusters():
    explanation = explain(BROKEN, USUAL)
    assert explanation.findings
    assert explanation.clusters == ()


def test_an_embedder_out_of_reach_costs_the_clusters_only():
    def embed(_):
        raise Retriable("busy")

    assert explain(BROKEN, USUAL, embed=embed) == explain(BROKEN, USUAL)


def test_no_more_than_300_questions_are_embedded():
    asked = []

    def embed(texts):
        asked.extend(texts)
        return EMBED(texts)

    explain(traffic(3, 800, 0.5), traffic(4, 800, 0.5), embed=embed)
    assert len(asked) == 300


ODD_TEXT = st.none() | st.text(max_size=40)
ODD_ROWS = st.lists(
    st.builds(
        a_row,
        number=st.integers(0, 20),
        matches=st.booleans(),
        app=st.sampled_from(["", "a", "\ud800"]),
        verdict=st.sampled_from(["grounded", "refusal", "never heard of"]),
        model=ODD_TEXT,
        topic=ODD_TEXT,
        tags=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3),
        documents=st.lists(st.sampled_from(["d", "", "e"]), max_size=3).map(tuple),
        question=ODD_TEXT,
        answer=ODD_TEXT,
        diagnosis=ODD_TEXT | st.sampled_from(Diagnosis),
    ),
    max_size=40,
)


@given(ODD_ROWS, ODD_ROWS)
def test_odd_rows_do_no_harm(window, baseline):
    explanation = explain(window, baseline, embed=EMBED)
    assert explanation.sentences()
    assert explanation.to_json()["answers"] == len(window)
    assert all(np.isfinite([f.rate, f.owed, f.p, f.q]).all() for f in explanation.findings)
