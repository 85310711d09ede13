"""What fourteen packages really wrote, and the turns that a person reads: `traces` beside MONITOR_DATA_DIR."""

from __future__ import annotations

import random
from datetime import datetime

import pytest

from monitor.ingest.traces.turn import NoTurn, Turn
from monitor.ingest.traces.turns import turns
from tests.rig.ingest.spans import Recorded, grouped, recorded
from tests.rig.recorded import traces

CASES = list(recorded(traces()))


def found(case: Recorded) -> dict[str, Turn | NoTurn]:
    return {one.trace_id: one for one in turns(list(grouped(case.spans, case.logs).values()))}


def documents(turn: Turn, *, with_prompt: bool = False) -> list[dict[str, object]] | None:
    if turn.documents is None:
        return None
    return [
        {"id": d.id, "text": d.in_prompt if with_prompt and d.text is None else d.text, "score": d.score}
        for d in turn.documents
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_turn_is_read_as_a_person_reads_it_and_none_is_invented(case: Recorded) -> None:
    read = {i: one for i, one in found(case).items() if isinstance(one, Turn)}
    assert read.keys() == {wanted["trace_id"] for wanted in case.expected["interactions"]}
    for wanted in case.expected["interactions"]:
        turn = read[wanted["trace_id"]]
        also = wanted["also_acceptable"]
        fields = {
            "question": turn.question,
            "documents": documents(turn),
            "answer": turn.answer,
            "model": turn.model,
            "conversation": turn.conversation_id,
            "user": turn.user,
            "status": "error" if turn.failed else "ok",
        }
        for name, value in fields.items():
            assert value in [wanted[name], *also.get(name, [])], name
        assert documents(turn, with_prompt=True) in [wanted["documents"], *also.get("documents", [])]
        for name in ("started", "ended"):  # recorded to the nanosecond
            assert getattr(turn, name) == datetime.fromisoformat(wanted[name][:26] + "+00:00"), name
        known = turn.question is not None and turn.answer is not None and turn.documents is not None
        assert known or turn.unscored is not None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_shuffled_repeated_and_split_spans_give_the_same_turns(case: Recorded) -> None:
    in_order = found(case)
    chance = random.Random(case.name)
    for _ in range(3):
        spans, logs = list(case.spans) * 2, list(case.logs) * 2
        chance.shuffle(spans)
        chance.shuffle(logs)
        assert {one.trace_id: one for one in turns(list(grouped(spans, logs).values()))} == in_order
