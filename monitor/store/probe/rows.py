"""Between the results of probes and their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import Spend
from monitor.core.assessment_json import storable
from monitor.probe.golden import GoldenItem, Source
from monitor.probe.result import ItemResult, ItemState, ProbeRun, RunState, Turn

GONE = "[removed]"  # stands for the texts of an item or a turn that an erasure or a retention has removed
RUN_NAMES: Final = tuple(field.name for field in fields(ProbeRun))  # columns of a run


def result_row(number: int, place: int, result: ItemResult) -> dict[str, Any]:
    return {
        "run": number,
        "place": place,
        "item": result.item.id,
        "state": result.state,
        "correctness": result.correctness,
        "wscore": result.wscore,
        "lscore": result.lscore,
        "mscore": result.mscore,
        "spread": result.spread,
        "seconds": result.seconds,
        "calls": result.spend.calls,
        "input_tokens": result.spend.input_tokens,
        "output_tokens": result.spend.output_tokens,
        "cost": result.spend.cost,
    }


def turn_rows(number: int, place: int, result: ItemResult) -> list[dict[str, Any]]:
    return [
        {
            "run": number,
            "place": place,
            "turn": n,
            "question": storable(turn.question),
            "answer": storable(turn.answer),
            "documents": [storable(document) for document in turn.documents],
            "composed": _storable(turn.composed),
            "scores": [] if turn.grade is None else list(turn.grade.scores),
            "feedback": "" if turn.grade is None else storable(turn.grade.feedback),
            "reason": None if turn.grade is None else _storable(turn.grade.reason),
            "failure": _storable(turn.failure),
            "latency_ms": turn.latency_ms,
            "leaks": [storable(leak) for leak in turn.leaks],
        }
        for n, turn in enumerate(result.turns)
    ]


def probe_run_of(row: Mapping[Any, Any]) -> ProbeRun:
    """The run in a row with the columns `RUN_NAMES`."""
    return ProbeRun(**{name: row[name] for name in RUN_NAMES} | {"state": RunState(row["state"])})


def item_result(row: Mapping[Any, Any], turns: Sequence[Mapping[Any, Any]]) -> ItemResult:
    """The result in a row joined with its golden item, and the rows of its turns."""
    source = None if row["source_id"] is None else Source(row["source_app"], row["source_id"])
    return ItemResult(
        item=GoldenItem(
            id=row["item"],
            question=GONE if row["question"] is None else row["question"],
            reference=GONE if row["reference"] is None else row["reference"],
            tags=row["tags"] or {},
            source=source,
        ),
        state=ItemState(row["state"]),
        turns=tuple(map(_turn, turns)),
        correctness=row["correctness"],
        wscore=row["wscore"],
        lscore=row["lscore"],
        mscore=row["mscore"],
        spread=row["spread"],
        seconds=row["seconds"],
        spend=Spend(
            calls=row["calls"],
            input_tokens=row["input_tokens"],
            output_tokens=row["output_tokens"],
            cost=row["cost"],
        ),
    )


def _turn(row: Mapping[Any, Any]) -> Turn:
    judged = row["scores"] or row["reason"] is not None
    grade = Grade(scores=tuple(row["scores"]), feedback=row["feedback"], reason=row["reason"]) if judged else None
    is_gone = not row["question"]  # by an erasure or a retention: no question is empty
    return Turn(
        question=GONE if is_gone else row["question"],
        answer=GONE if is_gone else row["answer"],
        documents=tuple(row["documents"]),
        composed=row["composed"],
        grade=grade,
        failure=row["failure"],
        latency_ms=row["latency_ms"],
        leaks=tuple(row["leaks"]),
    )


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)
