"""What an explanation of one interaction says, as JSON: the fields `explanation` of `monitor explain --json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from monitor.assess.classify.profile import Profile
from monitor.assess.explain import Carried, ReadSentence, advice, moved, refusal_words, sentences
from monitor.assess.explain_chunks import retrieval_findings_json
from monitor.assess.score.features import FEATURES
from monitor.core.model import Reason
from monitor.core.reason_words import REASON_WORDS


def findings_json(row: Mapping[str, Any], profile: Profile | None) -> dict[str, Any]:
    """What there is to conclude, as JSON; `moved` and `thresholds` need the profile."""
    return {
        "sentences": [_sentence_json(row["answer"], s) for s in sentences(row)],
        "reasons": [REASON_WORDS[Reason(reason)] for reason in row["reasons"]],
        "refusal": refusal_words(row),
        "moved": [{**asdict(m), "says": FEATURES[m.name]} for m in moved(row, profile)],
        "thresholds": None if profile is None else dict(_thresholds(profile)),
        "retrieval": retrieval_findings_json(row),
        "advice": advice(row),
    }


def _thresholds(profile: Profile) -> Iterator[tuple[str, float]]:
    yield from profile.thresholds
    yield "self_generated", profile.groundedness.threshold


def _sentence_json(answer: str, s: ReadSentence) -> dict[str, Any]:
    pair = s.pair
    return {
        "start": s.start,
        "end": s.end,
        "text": answer[s.start : s.end],
        "role": s.role,
        "cue": None if s.cue is None else {"start": s.cue[0], "end": s.cue[1], "text": answer[slice(*s.cue)]},
        "carried": None if pair is None else Carried.by(pair.score),
        "score": None if pair is None else pair.score,
        "passage": None
        if pair is None
        else {"document_id": pair.document_id, "start": pair.start, "end": pair.end, "text": s.passage},
        "contradicts": s.contradicted,
        "missing": [asdict(fact) for fact in s.missing],
    }
