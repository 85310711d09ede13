"""The fields of a golden item in each format: ours first, since others may have fields of the same names beside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from monitor.core.assessment_json import storable
from monitor.probe.golden import GoldenItem, NotGolden, Source, golden_item

Fields: TypeAlias = Mapping[str, Any]
_IDEALS = ("ideal", "reference", "ground_truth", "expected_output", "expected", "correct_answer", "answer")
_INPUTS = ("question", "query", "prompt", "input", "text")


def _ours(row: Fields) -> GoldenItem:
    return _made(row.get("id"), row["question"], row["reference"], _tags(row.get("tags")), row.get("source"))


def _ragas(row: Fields) -> GoldenItem:
    """`user_input` and `reference`; before RAGAS 0.2 `question` and `ground_truth`, or `ground_truths`, a list."""
    question = row.get("user_input") or row.get("question")
    reference = row.get("reference") or row.get("ground_truth") or _first(row.get("ground_truths"))
    named = {"synthesizer": row.get("synthesizer_name"), "evolution": row.get("evolution_type")}
    return _made(row.get("id"), question, reference, _tags(named))


def _langfuse(row: Fields) -> GoldenItem:
    """`input` and `expectedOutput` of a dataset item, each a text, or an object that holds one."""
    expected = row.get("expectedOutput", row.get("expected_output"))
    return _made(row.get("id"), _asked(row["input"]), _text_in(expected, _IDEALS), _tags(row.get("metadata")))


def _evals(row: Fields) -> GoldenItem:
    """`input`, a text or chat messages, and `ideal`, a text or several right ones, of which the first counts."""
    return _made(row.get("id"), _asked(row["input"]), _first(row["ideal"]), _tags(row.get("metadata")))


def _evals_item(row: Fields) -> GoldenItem:
    """`item` of the Evals API, whose fields each team names itself."""
    item = row["item"]
    question = next((item[name] for name in _INPUTS if name in item), None)
    ideal = next((item[name] for name in _IDEALS if name in item), None)
    return _made(row.get("id"), _asked(question), _first(ideal), {})


FORMATS: Final[Sequence[tuple[Callable[[Fields], bool], Callable[[Fields], GoldenItem]]]] = (
    (lambda row: "question" in row and "reference" in row, _ours),
    (lambda row: "user_input" in row and "reference" in row, _ragas),
    (lambda row: "question" in row and ("ground_truth" in row or "ground_truths" in row), _ragas),
    (lambda row: "input" in row and ("expectedOutput" in row or "expected_output" in row), _langfuse),
    (lambda row: "input" in row and "ideal" in row, _evals),
    (lambda row: isinstance(row.get("item"), Mapping), _evals_item),
)


def _made(
    id_: object, question: object, reference: object, tags: Mapping[str, str], source: object = None
) -> GoldenItem:
    for field, text in (("question", question), ("reference", reference)):
        if not isinstance(text, str):
            raise NotGolden(f"its {field} is not text")
    return golden_item(
        id_=_id(id_),
        question=str(question),
        reference=str(reference),
        tags=tags,
        source=_source(source),
    )


def _source(value: object) -> Source | None:
    """The interaction in `{"app": …, "id": …}` or `APP/ID`; other texts, such as the name of a file, are none."""
    parts = (value.get("app"), value.get("id")) if isinstance(value, Mapping) else str(value or "").split("/")
    named = [storable(part) for part in parts if isinstance(part, str) and part]
    return Source(*named) if len(named) == len(parts) == 2 else None  # noqa: PLR2004  app and id


def _id(value: object) -> str:
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise NotGolden("its id is not text")
    return "" if value is None else str(value)


def _asked(value: object) -> object:
    """The question in a text, an object with one, or chat messages, of which the user's last counts."""
    if isinstance(value, str) and value[:1] in {"{", "["}:  # in a CSV export
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping):
        if "messages" not in value:
            return _text_in(value, _INPUTS)
        value = value["messages"]
    if isinstance(value, list):
        users = [one for one in value if isinstance(one, Mapping) and one.get("role") == "user"]
        if len(users) != 1:
            raise NotGolden(f"its input has {len(users)} messages of a user; a golden item has one question")
        return _content(users[0].get("content"))
    return value


def _content(value: object) -> object:
    """The text of a message, which may be its only part or parts: `{"type": "input_text", "text": …}`."""
    parts = value if isinstance(value, list) else [value]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    known = [text for text in texts if isinstance(text, str)]
    return "\n".join(known) if known and len(known) == len(texts) else None


def _text_in(value: object, names: Sequence[str]) -> object:
    if isinstance(value, str) and value[:1] == "{":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping):
        return next((value[name] for name in names if isinstance(value.get(name), str)), None)
    return value


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _tags(value: object) -> dict[str, str]:
    """Tags as names with texts: what is nested is left out."""
    if isinstance(value, str) and value[:1] == "{":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    elif isinstance(value, str):
        value = [tag.strip() for tag in value.split(",") if tag.strip()]
    if isinstance(value, list):
        value = {str(tag): "true" for tag in value}
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name): text if isinstance(text, str) else json.dumps(text)
        for name, text in value.items()
        if isinstance(text, str | int | float | bool)
    }
