"""Which part broke: the retriever, the generator or the knowledge base, and when that is left open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from monitor.alert.explain.cause import BadKind, Broken, Cause, KindCount, Told, suspects_of
from monitor.alert.explain.cause_words import conclusion
from monitor.alert.explain.conclude import kind_by_diagnosis, kind_of
from monitor.alert.explain.explain import explain
from monitor.alert.explain.finding import Value
from monitor.assess.embed.hashing import HashEmbedder
from tests.unit.alert.explain.rows import a_row

EMBED = HashEmbedder().embed
TOPICS = ("billing", "login", "shipping", "returns")
OFF = ("retrieval_off_question", "answer_off_support")
NONE_FOUND = ("no_documents", "refusal_wording")


def question(topic, number):
    return f"{topic} question, wording {number % 15}"


def anywhere(_):
    return True


def answers(seed, count, *, bad=0.06, broken=None, hit=anywhere, **over):
    """`count` answers over four topics; where `hit`, those of `broken` apply, each a value or drawn from the rng."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        topic = str(rng.choice(TOPICS))
        row = a_row(
            f"{seed}-{number}",
            matches=bool(rng.random() < bad),
            topic=topic,
            model=str(rng.choice(["large", "mini"])),
            question=question(topic, int(rng.integers(1_000))),
            qrd=float(rng.normal(0.5, 0.1)),
            embedding_model="m",
            documents=tuple(f"{topic}-{n}" for n in rng.choice(5, 3, replace=False)),
            **over,
        )
        if broken and hit(row):
            fields = {name: value(rng) if callable(value) else value for name, value in broken.items()}
            row = replace(row, matches=True, **{"verdict": "self_generated", "reasons": OFF, **fields})
        elif row.matches:
            row = replace(row, verdict="refusal", reasons=("refusal_wording",))
        rows.append(row)
    return rows


PAST = answers(1, 1_500)
WRONG = {"qrd": lambda rng: float(rng.normal(0.1, 0.05)), "documents": ("other-1", "other-2")}
INVENTED = {"reasons": ("not_in_documents",)}
REFUSED = {"verdict": "refusal", "reasons": ("refusal_wording", "answer_off_support")}
LACKING = {
    "verdict": "refusal",
    "reasons": ("refusal_wording",),
    "qrd": lambda rng: float(rng.normal(0.33, 0.08)),
    "question": lambda rng: f"do you sell gift vouchers, variant {rng.integers(1_000)}",
}


MISSED, IGNORED, MADE_UP = "retrieval_missed", "generator_ignored", "generator_invented"


def billing(row):
    return row.topic == "billing"


def diagnosed(rows, *, healthy="healthy"):
    """Those without a diagnosis get that of a fine answer; half of the bad ones lack a relevant chunk."""
    bad = (MISSED, IGNORED)
    return [
        row if row.diagnosis else replace(row, diagnosis=bad[int(row.id[-1]) % 2] if row.matches else healthy)
        for row in rows
    ]


def caused(broken, hit=anywhere, *, past=PAST, count=200, embed=EMBED):
    return explain(answers(2, count, broken=broken, hit=hit), past, embed=embed)


@pytest.mark.parametrize(
    ("broken", "hit", "part", "where", "says"),
    [
        (WRONG, billing, Broken.RETRIEVER, Value(dimension="topic", value="billing"), "documents are off the question"),
        (
            {"reasons": NONE_FOUND, "qrd": None, "documents": ()},
            anywhere,
            Broken.RETRIEVER,
            None,
            "there are no documents",
        ),
        (
            {"reasons": ("not_in_documents",), "qrd": lambda rng: float(rng.normal(0.3, 0.05))},
            anywhere,
            Broken.RETRIEVER,
            None,
            "documents fit the questions less than before (QRD 0.",
        ),
        (
            INVENTED,
            lambda row: row.model == "mini",
            Broken.GENERATOR,
            Value(dimension="model", value="mini"),
            "invented",
        ),
        (REFUSED, lambda row: int(row.id[-1]) < 6, Broken.GENERATOR, None, "refused"),
        (LACKING, lambda row: int(row.id[-1]) < 5, Broken.KNOWLEDGE_BASE, None, "unlike earlier ones"),
    ],
)
def test_the_part_that_broke_is_named_first(broken, hit, part, where, says):
    explanation = caused(broken, hit)
    first, sure, tell = explanation.conclusion()
    assert explanation.cause.named is part
    assert explanation.cause.where == where
    assert first.startswith(part.value.replace("_", " ").capitalize())
    assert says in first
    assert "1 in 1,000,000" in sure
    assert tell.startswith("Next: ")


def test_a_conclusion_reads_like_this():
    first, sure, tell = caused(WRONG, billing).conclusion()
    assert first == (
        "Retriever, topic billing: documents are off the question in 100 % of the bad answers (0 % before)."
    )
    assert sure == ("How sure: the chance of so many bad answers without a change is less than 1 in 1,000,000.")
    assert tell == (
        "Next: document billing-2: is it still in the index? It came with many of these answers before, and"
        " now with hardly any. If it is gone, the knowledge base lost it."
    )


@pytest.mark.parametrize(("others", "said"), [(60, True), (9, False)])
def test_the_generator_is_as_usual_only_where_enough_answers_show_it(others, said):
    """Answers with documents on the question: 5 % of them are bad, as before."""
    cause = Cause(
        suspects=(Broken.RETRIEVER,),
        looked_at=7,
        where=None,
        answers=40 + others,
        bad=40 + others // 20,
        before_answers=1_000,
        before_bad=50,
        kinds=(KindCount(kind=BadKind.OFF_QUESTION, now=40, before=0),),
        poor=Told.YES,
        unlike=Told.NO,
    )
    assert ("; generator as usual" in conclusion(cause, ())[0]) is said


def test_nothing_is_named_when_nothing_moved():
    explanation = explain(answers(3, 200), PAST, embed=EMBED)
    assert explanation.cause.suspects == ()
    first, tell = explanation.conclusion()
    assert first == "No part stands out: bad answers have not clearly risen in any of 7 places compared."
    assert "`monitor explain" in tell


def test_a_burst_of_a_topic_that_was_always_bad_names_nothing():
    def hard(row):
        return billing(row) and int(row.id[-1]) < 5

    past = answers(4, 1_500, broken=INVENTED, hit=hard)
    burst = [row for row in answers(5, 900, broken=INVENTED, hit=hard) if billing(row) or row.id[-2] in "01"]
    assert np.mean([row.matches for row in burst]) > 1.5 * np.mean([row.matches for row in past])
    assert explain(burst, past, embed=EMBED).cause.suspects == ()


def test_without_a_past_nothing_is_named():
    (first, *_) = caused(WRONG, past=[]).conclusion()
    assert first == "No part stands out: there are too few answers before to compare with."


def test_similarities_of_another_embedding_model_are_not_compared():
    cause = caused({**WRONG, "embedding_model": "another", "reasons": ("not_in_documents",)}).cause
    assert (cause.poor, cause.named) == (Told.OPEN, None)
    assert cause.suspects == (Broken.GENERATOR, Broken.RETRIEVER)


def test_a_new_release_is_compared_with_the_models_before():
    cause = caused({**INVENTED, "model": "next"}, lambda row: int(row.id[-1]) < 5).cause
    assert (cause.named, cause.where, cause.new) == (Broken.GENERATOR, Value(dimension="model", value="next"), True)


def test_new_questions_are_told_by_their_wording_where_there_is_no_embedder():
    assert caused(LACKING, lambda row: int(row.id[-1]) < 5, embed=None).cause.named is Broken.KNOWLEDGE_BASE


def test_bad_answers_before_do_not_make_a_question_a_usual_one():
    """The incident has begun before the window does."""
    begun = answers(6, 40, broken=LACKING)
    assert caused(LACKING, lambda row: int(row.id[-1]) < 5, past=[*PAST, *begun]).cause.named is Broken.KNOWLEDGE_BASE


def test_every_pair_of_findings_leaves_a_suspect():
    assert all(suspects_of(poor, unlike) for poor in Told for unlike in Told)


def test_a_cause_is_rarely_found_in_quiet_windows():
    found = [explain(answers(seed, 150), PAST).cause.suspects for seed in range(10, 30)]
    assert not any(found)


def test_values_from_outside_are_masked_and_end_no_command():
    mail = "ada@example.org"
    rows = [
        replace(row, model=mail, documents=(mail,), id=f"`; rm {row.id}") for row in answers(2, 200, broken=INVENTED)
    ]
    text = " ".join(explain(rows, PAST, embed=EMBED).conclusion())
    assert mail not in text
    assert "rm " not in text


# the part that diagnoses name, where the similarities of documents and questions say otherwise or nothing
LIKE_BEFORE = {"reasons": ("not_in_documents",)}
LESS_ALIKE = {"reasons": OFF, "qrd": lambda rng: float(rng.normal(0.3, 0.05))}


@pytest.mark.parametrize(
    ("broken", "part", "says"),
    [
        (
            {**LIKE_BEFORE, "diagnosis": MISSED},
            Broken.RETRIEVER,
            "Retriever, topic billing: 100 % of the bad answers lack a relevant chunk (",
        ),
        (
            {**LESS_ALIKE, "diagnosis": IGNORED},
            Broken.GENERATOR,
            "Generator, topic billing: 100 % of the answers ignore the relevant chunk that was retrieved",
        ),
        (
            {**LESS_ALIKE, "diagnosis": MADE_UP},
            Broken.GENERATOR,
            "Generator, topic billing: 100 % of the answers use a relevant chunk, and say more than the documents",
        ),
    ],
)
def test_the_diagnoses_name_the_part(broken, part, says):
    explanation = explain(diagnosed(answers(2, 200, broken=broken, hit=billing)), diagnosed(PAST), embed=EMBED)
    assert explanation.cause.named is part
    assert explanation.conclusion()[0].startswith(says)


def test_a_conclusion_about_the_generator_reads_like_this():
    rows = answers(2, 200, broken={**LESS_ALIKE, "diagnosis": IGNORED}, hit=billing)
    assert explain(diagnosed(rows), diagnosed(PAST), embed=EMBED).conclusion()[0] == (
        "Generator, topic billing: 100 % of the answers ignore the relevant chunk that was retrieved "
        "(2.1 % before); retriever as usual."
    )


def test_a_knowledge_base_that_lacks_something_is_told_by_diagnoses_too():
    broken = {**LACKING, "qrd": 0.6, "diagnosis": MISSED}
    rows = answers(2, 200, broken=broken, hit=lambda row: int(row.id[-1]) < 5)
    explanation = explain(diagnosed(rows), diagnosed(PAST), embed=EMBED)
    assert explanation.cause.named is Broken.KNOWLEDGE_BASE
    assert (
        "on questions unlike earlier ones; 96 % of the bad answers lack a relevant chunk ("
        in (explanation.conclusion()[0])
    )


@pytest.mark.parametrize("past", [PAST, [*diagnosed(PAST[:9]), *PAST[9:]]], ids=["none before", "nine before"])
def test_with_too_few_diagnoses_the_similarities_decide(past):
    """As in the first week after an update."""
    rows = answers(2, 200, broken={**WRONG, "diagnosis": IGNORED}, hit=billing)
    explanation = explain(diagnosed(rows), past, embed=EMBED)
    assert (explanation.cause.missed, explanation.cause.poor) == (Told.OPEN, Told.YES)
    assert explanation.cause.named is Broken.RETRIEVER


def test_more_bad_answers_with_the_diagnoses_of_before_leave_it_to_the_similarities():
    """As where a generator refuses more, and half of what it refuses is taken for missed."""
    rows = answers(2, 200, broken=REFUSED, hit=billing)
    explanation = explain(diagnosed(rows), diagnosed(PAST), embed=EMBED)
    assert (explanation.cause.missed, explanation.cause.named) == (Told.OPEN, Broken.GENERATOR)
    assert "are refused (4.4 % before), though documents fit the questions as before" in explanation.conclusion()[0]


def test_two_diagnoses_that_rise_alike_leave_it_to_the_similarities():
    each = {**INVENTED, "diagnosis": lambda rng: str(rng.choice([MISSED, MADE_UP]))}
    rows = answers(2, 200, broken=each, hit=billing)
    explanation = explain(diagnosed(rows), diagnosed(PAST), embed=EMBED)
    assert (explanation.cause.missed, explanation.cause.named) == (Told.OPEN, Broken.GENERATOR)
    assert "documents fit the questions as before" in explanation.conclusion()[0]


def test_where_bad_answers_have_not_risen_no_diagnosis_names_a_part():
    noisy = diagnosed(answers(3, 200), healthy="retrieval_noisy")
    explanation = explain(noisy, diagnosed(PAST), embed=EMBED)
    assert explanation.cause.suspects == ()
    assert explanation.conclusion()[0].startswith("No part stands out: ")


def test_several_suspects_are_told_with_what_the_diagnoses_say():
    rows = answers(2, 200, broken={**INVENTED, "diagnosis": MISSED, "question": None}, hit=billing)
    explanation = explain(diagnosed(rows), diagnosed(PAST), embed=EMBED)
    assert explanation.cause.suspects == (Broken.RETRIEVER, Broken.KNOWLEDGE_BASE)
    assert "are bad (4.4 % before); 100 % of the bad answers lack a relevant chunk (" in explanation.conclusion()[0]


@pytest.mark.parametrize(
    ("diagnosis", "reasons", "kind"),
    [
        (None, OFF, BadKind.OFF_QUESTION),
        (None, ("not_in_documents",), BadKind.INVENTED),
        (MISSED, ("not_in_documents",), BadKind.OFF_QUESTION),
        (MISSED, ("no_documents",), BadKind.NO_DOCUMENTS),
        (IGNORED, OFF, BadKind.INVENTED),
        (MADE_UP, OFF, BadKind.INVENTED),
        ("healthy", OFF, BadKind.OFF_QUESTION),
        ("of a later release", ("not_in_documents",), BadKind.INVENTED),
    ],
)
def test_the_kind_of_a_bad_answer_is_by_its_diagnosis_if_that_names_a_part(diagnosis, reasons, kind):
    assert kind_by_diagnosis(a_row(diagnosis=diagnosis, reasons=reasons)) is kind
    assert kind_of(a_row(diagnosis=diagnosis, reasons=reasons)) is kind_of(a_row(reasons=reasons))
    if kind is BadKind.INVENTED:
        assert kind_by_diagnosis(a_row(diagnosis=diagnosis, reasons=reasons, verdict="refusal")) is BadKind.REFUSED
