from __future__ import annotations

import io

import pytest
from rich.console import Console

from monitor.cli.explain.panel import LONGEST_PASSAGE, explanation
from monitor.core.model import Reason, Verdict
from monitor.core.reason_words import REASON_WORDS
from tests.factories.assess.explained_rows import EVIDENCE, ROW, pair
from tests.factories.assess.interactions import NOON


def shown(*, width=200, **changed):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(explanation({**ROW, **changed}))
    return console.file.getvalue()


def flat(text):
    """The words of the panel in a row, as they read without its frame."""
    return " ".join(word for word in text.split() if word not in "│╭╮╰╯─")


def test_the_verdict_its_figures_and_the_texts_are_there():
    text = shown()
    for part in (
        "shop / q-1  2026-03-02 12:00:00 UTC",
        "grounded, quite sure: 90% (refusal 4%, self-generated 6%)",
        "What does parking cost?",
        "Parking costs two euros per hour  [d1]",
        "extractive: the documents' sentences nearest to the answer",
    ):
        assert part in text


def test_an_erased_answer_is_not_called_an_empty_one():
    text = flat(shown(question="", answer="", marks=["erased"]))
    assert "question erased answer erased" in text
    assert "answer empty" in flat(shown(answer=""))


def test_what_the_user_said_is_there():
    said = {"thumb": "down", "comment": "I asked about boxes.\x1b[2J", "given_at": NOON}
    console = Console(file=io.StringIO(), width=200, color_system=None)
    console.print(explanation(ROW, feedback=said))
    text = console.file.getvalue()
    assert "thumb down: I asked about boxes." in flat(text)
    assert "\x1b" not in text
    assert "thumb" not in shown()


def test_probabilities_are_marked_where_they_are_not_calibrated_for_the_app():
    assert "uncalibrated for this app" in shown()
    assert "uncalibrated" not in shown(uncalibrated=False)


def test_every_sentence_stands_above_what_carries_it():
    lines = [line.strip("│ ") for line in shown().splitlines()]
    at = lines.index("1 Great question!")
    assert lines[at : at + 9] == [
        "1 Great question!",
        "courtesy, not judged",
        "2 Parking costs two euros per hour.",
        "supported by [d1] “Parking costs two euros per hour, also at night.”",
        "3 Dogs may come in.",
        "contradicted by [d0] “Dogs may not come in.”",
        "4 The Elm Street gate opens at 7.",
        "not supported; the nearest passage is [d1] “It is paid at the gate.”",
        "in no document: name “Elm Street”, number “7”",
    ]


def test_what_is_missing_and_what_refuses_is_marked_in_its_sentence():
    console = Console(file=io.StringIO(), width=200, color_system="standard", force_terminal=True)
    console.print(explanation({**ROW, "answer": f"{ROW['answer']} The documents do not mention cats."}))
    text = console.file.getvalue()
    assert "\x1b[1;7;31mElm Street\x1b[0m" in text
    assert "\x1b[4;33mdocuments do not mention\x1b[0m" in text


def test_a_refusing_sentence_names_its_cue_and_no_passage():
    text = shown(answer="The documents do not mention the price.", evidence={**EVIDENCE, "missing": []})
    assert "refuses: “documents do not mention”" in text
    assert "supported by" not in text
    assert "the nearest passage" not in text


def test_a_sentence_that_refuses_without_a_cue_of_its_own_is_not_repeated():
    text = shown(answer="No documents on parking.", evidence={}, reasons=["refusal_wording"], verdict="refusal")
    assert "refuses as a whole" in text


def test_polite_sentences_are_said_to_be_judged_where_nothing_else_is():
    answer = "I hope this helps!"
    carried = {**EVIDENCE, "missing": [], "alignment": [pair(answer, answer, 1, "It is paid at the gate.", 0.65)]}
    text = shown(answer=answer, evidence=carried)
    assert "but the answer says nothing else" in text
    assert "partly supported by [d1] “It is paid at the gate.”" in text


def test_why_a_sentence_has_no_passage_is_said():
    nothing = {**EVIDENCE, "alignment": [], "missing": []}
    assert "nothing was retrieved to compare it with" in shown(evidence=nothing, retrieved_documents=[])
    assert "it has no word to compare" in shown(evidence=nothing)
    assert "the passage is no longer stored" in shown(retrieved_documents=[])


def test_an_assessment_of_an_earlier_release_is_explained_too():
    text = shown(evidence={})
    assert "not compared with the documents, as an earlier release assessed it" in text
    assert "2 Parking costs two euros per hour." in text
    assert "supported by" not in text
    assert "evidence" not in text


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_empty_answer_is_said_to_be_empty(answer):
    text = shown(answer=answer, evidence={"features": {}, "alignment": [], "missing": []})
    assert "answer         empty" in text
    assert "sentence by sentence" not in text


def test_a_long_passage_is_cut_between_words():
    document = "word " * 200
    carried = {**EVIDENCE["alignment"][0], "document": 0, "document_id": "d0", "start": 0, "end": len(document)}
    row = {"retrieved_documents": [{"id": "d0", "text": document}], "evidence": {**EVIDENCE, "alignment": [carried]}}
    (passage,) = [part for part in shown(width=400, **row).split("“") if part.startswith("word")]
    kept = passage.partition("”")[0]
    assert kept.endswith("word …")
    assert LONGEST_PASSAGE - 10 < len(kept) <= LONGEST_PASSAGE + 2


def test_a_passage_without_a_space_is_cut_all_the_same():
    document = "字" * 1000
    carried = {**EVIDENCE["alignment"][0], "document": 0, "document_id": "d0", "start": 0, "end": len(document)}
    row = {"retrieved_documents": [{"id": "d0", "text": document}], "evidence": {**EVIDENCE, "alignment": [carried]}}
    assert shown(width=400, **row).count("字") == LONGEST_PASSAGE


@pytest.mark.parametrize(
    ("kind", "correct", "said"),
    [
        ("none", None, ""),
        ("partial", None, "in part: some sentences refuse"),
        ("full", True, "correct refusal"),
        ("full", False, "over-refusal"),
        ("full", None, "the documents do not show clearly"),
    ],
)
def test_what_kind_of_refusal_it_is_and_whether_it_was_right_is_said(kind, correct, said):
    text = shown(refusal_kind=kind, refusal_correct=correct)
    assert said in text
    assert ("refusal        " in text) is bool(said)


@pytest.mark.parametrize("evidence", [EVIDENCE, {}])
@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(width, evidence):
    text = shown(width=width, reasons=[reason.value for reason in Reason], evidence=evidence)
    assert max(map(len, text.splitlines())) <= width
    for part in ("Parking costs two euros per hour.", REASON_WORDS[Reason.CONTRADICTS_DOCUMENTS]):
        assert part in flat(text)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_put_into_words(reason):
    assert REASON_WORDS[reason] in shown(verdict="refusal", reasons=[reason.value])


@pytest.mark.parametrize("verdict", [v.value for v in Verdict])
def test_every_verdict_has_a_colour_and_a_word(verdict):
    text = shown(verdict=verdict)
    assert f"{verdict.replace('_', '-')}, " in text


def test_support_that_stands_in_no_document_says_so():
    support = {"origin": "logged", "documents": [{"document_id": None, "start": None, "text": "Invented."}]}
    assert "Invented.  [not from the documents]" in shown(support=support)


def test_an_answer_without_support_is_shown_too():
    lines = shown(support={"origin": "logged", "documents": []}).splitlines()
    assert not [line for line in lines if line.lstrip("│ ").startswith("support ")]
    assert [line for line in shown().splitlines() if line.lstrip("│ ").startswith("support ")]


HOSTILE = ["[red]x[/red]", "[/]", "[link=http://e.example]x[/link]", "[bold", "\\[red]", ":smile:", "[@click=a]x"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("field", ["question", "answer", "app", "id"])
def test_markup_in_texts_is_shown_as_it_is(field, text):
    assert text in shown(**{field: text})


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_support_is_shown_as_it_is(text):
    shown_text = shown(support={"origin": "logged", "documents": [{"document_id": text, "start": 0, "text": text}]})
    assert f"{text}  [{text}]" in shown_text


@pytest.mark.parametrize("text", [*HOSTILE, "\x1b[2J", "\x9b31m"])
def test_passages_and_facts_are_shown_as_they_are_and_steer_nothing(text):
    answer = f"It costs {text} there."
    carried = {
        "answer_start": 0,
        "answer_end": len(answer),
        "document": 0,
        "document_id": text,
        "start": 0,
        "end": len(text),
        "score": 0.9,
    }
    fact = {"kind": "name", "start": 9, "end": 9 + len(text), "text": text}
    said = shown(
        answer=answer,
        retrieved_documents=[{"id": text, "text": text}],
        evidence={**EVIDENCE, "alignment": [carried], "missing": [fact]},
    )
    seen = text.replace("\x1b", "\ufffd").replace("\x9b", "\ufffd")
    assert f"[{seen}] “{seen}”" in said
    assert f"in no document: name “{seen}”" in said


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x1b]0;title\x07", "\x1b[31mred", "\x9b31m", "a\x1b]8;;http://e.example\x1b\\b"]
)
@pytest.mark.parametrize("field", ["question", "answer", "id"])
def test_no_text_of_others_steers_the_terminal(field, text):
    assert not set(shown(**{field: text})) & set("\x1b\x9b\x07")


def test_long_words_are_folded_and_not_cut():
    text = shown(width=60, answer="x" * 300, evidence={})
    assert text.count("x") >= 300


def test_the_profile_is_named_and_a_rescore_is_said_to_be_one():
    live = shown()
    assert "profile minilm (01234567)" in live
    assert "rescore" not in live
    assert "a rescore that no alert counts" in shown(live=False)


SIDECAR = {"mode": "explain", "model": "m", "prompt_hash": "0123456789abcdef", "second_answer": None}


def test_where_each_piece_of_support_stands_is_said():
    pieces = [
        {"document_id": "d0", "start": 0, "end": 4, "text": "One.", "match": "exact"},
        {"document_id": "d1", "start": 0, "end": 4, "text": "Two.", "match": "fuzzy"},
        {"document_id": None, "start": None, "end": None, "text": "Three.", "match": None},
    ]
    text = shown(support={"origin": "sidecar", "documents": pieces, "sidecar": SIDECAR})
    for part in ("as the sidecar named it", "One.  [d0]", "Two.  [d1, nearly]", "Three.  [not from the documents]"):
        assert part in text


def test_a_stand_in_for_the_sidecar_says_why_and_whether_it_is_asked_again():
    stands_in = {"because": "no answer in time", "queued": True}
    text = shown(support={**ROW["support"], "stands_in": stands_in})
    assert "the sidecar did not answer: no answer in time; monitor will ask it again" in text
    text = shown(support={**ROW["support"], "stands_in": {"because": "content_filter", "queued": False}})
    assert "content_filter" in text
    assert "again" not in text


def test_what_the_sidecar_answered_itself_and_that_it_named_nothing_is_said():
    sidecar = {**SIDECAR, "second_answer": "Three euros."}
    text = shown(support={"origin": "sidecar", "documents": [], "sidecar": sidecar})
    assert "the sidecar named nothing that supports the answer" in text
    assert "Three euros." in text


def test_a_revised_verdict_says_what_it_was_before():
    assert "self-generated until 2026-03-02 12:00 UTC, when the sidecar answered" in shown(
        earlier={"verdict": "self_generated"}, revised_at=NOON
    )


def test_a_verdict_with_the_judges_word_in_it_says_so():
    heard = {"model": "judge-1", "score": 0.25, "says": "unsupported", "weight": 1.1, "labels": 0, "before": 0.02}
    text = shown(evidence={**EVIDENCE, "judge": heard}, earlier={"verdict": "grounded"}, revised_at=NOON)
    assert "judge-1 finds it unsupported" in text
    assert "grounded until 2026-03-02 12:00 UTC, when the judge answered" in text


def judgement(metric, score=None, reason=None, **parts):
    return {"metric": metric, "score": score, "reason": reason, "parts": parts, "model": "judge-1"}


def test_judgements_are_shown_with_what_speaks_against_the_answer():
    said = [
        {"statement": "Parking costs two euros.", "why": "it says so", "supported": True},
        {"statement": "It is free at night.", "why": "nothing of that", "supported": False},
    ]
    console = Console(file=io.StringIO(), width=200, color_system=None)
    judged = [
        judgement("faithfulness", 0.5, statements=said),
        judgement("answer_relevance", None, "refusal"),
        judgement("context_relevance", 0.25, sentences=[{"text": "x"}], total=4),
        judgement("context_precision", 0.5, documents=[{"document": 1, "useful": False, "why": "other town"}]),
        judgement("context_entity_recall", 0.5, found=["Ghent"], missed=["Bruges"]),
    ]
    console.print(explanation(ROW, judged))
    text = console.file.getvalue()
    for part in (
        "judged by judge-1",
        "0.50  1 of 2 statements",
        "✗ It is free at night. (nothing of that)",
        "–     refusal",
        "1 of 4 sentences are needed",
        "✗ document 2: other town",
        "missed: Bruges",
    ):
        assert part in text


# --- the conclusion --------------------------------------------------------------------------------------------------


def test_the_conclusion_comes_before_the_texts_and_names_the_sentences():
    text = shown(verdict="self_generated", p_self_generated=0.8, reasons=["contradicts_documents"])
    lines = [" ".join(line.strip("│ ").split()) for line in text.splitlines()]
    at = lines.index("self-generated, fairly sure: 80% (grounded 90%, refusal 4%)")
    assert lines[at + 2 : at + 10] == [
        "why a document contradicts a sentence of the answer, or gives another figure",
        "evidence the documents support sentence 2",
        "no document supports sentence 4",
        "the documents contradict sentence 3",
        "in no document: “Elm Street”, “7”",
        "rank no reference period is frozen for this app, so the profile alone decides",
        "next look at the generator and its prompt; check too that no document is out of date",
        "question What does parking cost?",
    ]


def test_a_rank_is_said_in_words():
    known = {"reference_frozen_at": NOON, "reference_size": 5_000}
    text = " ".join(shown(rank=0.02, reference="89abcdef01234567", **known).split())
    assert (
        "rarer than 98 in 100 of this app's usual answers (reference 89abcdef01234567, 5,000 scores, frozen on" in text
    )


def test_the_default_view_has_no_arithmetic():
    text = shown(reasons=[reason.value for reason in Reason])
    for figure in ("0.96", "0.81", "0.79", "log-odds", "starts at", "threshold", "SDQ", "alignment, missing numbers"):
        assert figure not in text


def test_the_trace_is_shown_where_its_address_is_known():
    console = Console(file=io.StringIO(), width=200, color_system=None)
    console.print(explanation(ROW, trace_url="https://traces.example/t/4bf9"))
    assert "https://traces.example/t/4bf9" in console.file.getvalue()
    assert "trace" not in shown()


# --- follow-up questions ---

READ_AS = {
    "text": "What does the plan cost?\x1b[2J And for seniors?",
    "problem": None,
    "borrowed": [{"id": "q-0", "text": "What does the plan cost?"}],
    "as_asked": {"sdq": -0.125, "qrd": 0.125, "qa": None},
}


def test_a_follow_up_is_shown_as_it_was_asked_and_as_it_was_read():
    text = shown(question="And for seniors?", read_as=READ_AS, sdq=0.75, qrd=0.5, qa=None)
    assert "question And for seniors? read as What does the plan cost?" in flat(text)
    assert "completed with the words of q-0: SDQ −0.12 → 0.75, QRD 0.12 → 0.50, QA – → –" in flat(text)
    assert "\x1b" not in text
    assert "read as" not in shown()
    assert "read as" not in shown(read_as=None)


def test_a_reading_that_is_gone_says_why():
    gone = {**READ_AS, "text": None, "problem": "the turn q-0 is no longer stored, or was erased"}
    assert "read as not known any more: the turn q-0 is no longer stored" in flat(shown(read_as=gone))
