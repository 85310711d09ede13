from __future__ import annotations

import json

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.explain_json import findings_json
from monitor.assess.score.features import FEATURES
from monitor.core.model import Reason
from monitor.core.reason_words import REASON_WORDS
from tests.factories.assess.diagnosed_rows import TEXTS, diagnosed_row
from tests.factories.assess.explained_rows import DOCUMENTS, ROW, place
from tests.factories.assess.interactions import profile

WEIGHTS = {"grounding": -2.0, "content_overlap": -4.0, "missing_names": 0.5}
FEATURE_WEIGHTS = {name: FeatureWeight(weight=weight, center=0.0, scale=1.0) for name, weight in WEIGHTS.items()}
BY = profile(groundedness=Groundedness(bias=-1.0, threshold=0.6, features=FEATURE_WEIGHTS))


def test_the_json_has_everything_that_the_panel_says():
    row = {**ROW, "reasons": ["missing_fact"], "refusal_kind": "full", "refusal_correct": False}
    found = json.loads(json.dumps(findings_json(row, BY)))
    courtesy, parking, dogs, gate = found["sentences"]
    assert (courtesy["text"], courtesy["role"], courtesy["carried"], courtesy["passage"]) == (
        "Great question!",
        "courtesy",
        None,
        None,
    )
    start, end = place(DOCUMENTS[1], "Parking costs two euros per hour, also at night.")
    assert parking["passage"] == {"document_id": "d1", "start": start, "end": end, "text": DOCUMENTS[1][start:end]}
    assert (parking["carried"], parking["score"], parking["contradicts"]) == ("carried", 0.96, False)
    assert dogs["contradicts"] is True
    assert (gate["carried"], [fact["kind"] for fact in gate["missing"]]) == ("not_carried", ["name", "number"])
    assert found["reasons"] == [REASON_WORDS[Reason.MISSING_FACT]]
    assert found["refusal"].startswith("over-refusal")
    assert found["moved"][0] == {
        "name": "content_overlap",
        "value": 0.75,
        "log_odds": -3.0,
        "says": FEATURES["content_overlap"],
    }
    assert found["thresholds"] == {"sdq": 0.8, "sdrd": 0.8, "sda": 0.8, "qrd": 0.8, "qa": 0.8, "self_generated": 0.6}


def test_the_json_of_a_refusing_sentence_has_its_cue():
    answer = "The documents do not mention it."
    (found,) = findings_json({**ROW, "answer": answer, "evidence": {}}, None)["sentences"]
    assert found["role"] == "refusing"
    assert answer[found["cue"]["start"] : found["cue"]["end"]] == found["cue"]["text"]


def test_the_json_does_without_profile_and_evidence():
    found = findings_json({**ROW, "evidence": {}}, None)
    assert (found["moved"], found["thresholds"]) == ([], None)
    assert [s["carried"] for s in found["sentences"]] == [None] * 4


def test_the_json_has_the_diagnosis_with_the_text_of_each_chunk():
    found = json.loads(json.dumps(findings_json(diagnosed_row(verdict="self_generated"), BY)))
    assert found["advice"].startswith("look at the generator")
    retrieval = found["retrieval"]
    assert retrieval["diagnosis"] == "generator_invented"
    assert retrieval["order"] == [2, 3, 1]
    assert [(c["number"], c["standing"], c["repeats"]) for c in retrieval["chunks"]] == [
        (1, "not_relevant", None),
        (2, "not_relevant", None),
        (3, "kept", None),
        (4, "kept", None),
        (5, "repeats", 3),
    ]
    assert (retrieval["chunks"][4]["document_id"], retrieval["chunks"][4]["text"]) == ("d2", TEXTS[2])


def test_the_json_of_a_row_without_a_diagnosis_has_none():
    assert findings_json(ROW, None)["retrieval"] is None


def test_the_json_of_an_erased_row_has_the_diagnosis_without_chunks():
    row = diagnosed_row(evidence={"alignment": [], "missing": []}, retrieved_documents=[], answer="")
    found = findings_json(row, None)["retrieval"]
    assert (found["diagnosis"], found["chunks"]) == ("generator_invented", [])
