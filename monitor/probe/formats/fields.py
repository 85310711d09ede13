"""The fields of a golden item in each format: ours first, since others may have fields of the same names beside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from monitor.core.assessment_json import storable
from monitor.core.text.plain import readable
from monitor.probe.golden import GoldenItem, NotGolden, Source, golden_item

Fields: TypeAlias = Mapping[str, Any]
_IDEALS = ("ideal", "reference", "ground_truth", "expected_output", "expected", "correct_answer", "answer")
_INPUTS = ("question", "query", "prompt", "input", "text")


def _ours(row: Fields) -> GoldenItem:
    return _made(row.get("id"), row["question"], row["reference"], _tags(row.get("tags")), row.get("source"))


def _ragas(row: Fields) -> GoldenItem:
    """`user_input` and `reference`; before RAGAS 0.2 `question` and `ground_truth`, or `ground_truths`, a list."""
    question = row.get("user_input") or row.get("question")
    reference = row.get("reference") or row.get("ground_truth") or _ground_truths(row.get("ground_truths"))
    named = {
        "synthesizer": row.get("synthesizer_name"),
        "persona": row.get("persona_name"),
        "style": row.get("query_style"),
        "length": row.get("query_length"),
        "evolution": row.get("evolution_type"),
    }
    named = {tag: text for tag, text in named.items() if text}
    return _made(row.get("id"), question, _first(reference), _tags(named))


def _ground_truths(value: object) -> object:
    """The list, which a CSV must hold as JSON: a list as Python prints it would pass for the text of the answer."""
    found = _from_json(value)
    if isinstance(found, str) and found[:1] == "[":
        raise NotGolden("its ground_truths is not a list in JSON")
    return found


def _langfuse(row: Fields) -> GoldenItem:
    """`input` and `expectedOutput` of a dataset item, each a text, an object that holds one, or chat messages.

    Older CSV exports write texts as JSON too, with quotation marks of their own.
    """
    if str(row.get("id"))[:1] == '"':
        row = {name: _from_json(cell, begins='"') for name, cell in row.items()}
    expected = row.get("expectedOutput", row.get("expected_output"))
    return _made(row.get("id"), _asked(row["input"]), _answered(expected), _tags(row.get("metadata")))


def is_archived(row: object) -> bool:
    """Whether the row is an item that was archived in Langfuse, whose exports hold those too."""
    return isinstance(row, Mapping) and "input" in row and str(row.get("status")).strip('"') == "ARCHIVED"


def _evals(row: Fields) -> GoldenItem:
    """`input`, a text or chat messages, and `ideal`, a text or several right ones, of which the first counts."""
    return _made(row.get("id"), _asked(row["input"]), _first(row["ideal"]), _tags(row.get("metadata")))


def _evals_item(row: Fields) -> GoldenItem:
    """`item` of the Evals API, whose fields each team names itself."""
    item = row["item"]
    question, ideal = (next((name for name in names if name in item), None) for names in (_INPUTS, _IDEALS))
    for found, names in ((question, _INPUTS), (ideal, _IDEALS)):
        if found is None:
            raise NotGolden(f"its item has none of the fields {', '.join(names)}")
    return _made(row.get("id"), _asked(item[question]), _first(item[ideal]), {})


FORMATS: Final[Sequence[tuple[Callable[[Fields], bool], Callable[[Fields], GoldenItem]]]] = (
    (lambda row: "question" in row and "reference" in row, _ours),
    (lambda row: "user_input" in row and "reference" in row, _ragas),
    (lambda row: "question" in row and ("ground_truth" in row or "ground_truths" in row), _ragas),
    (lambda row: "input" in row and ("expectedOutput" in row or "expected_output" in row), _langfuse),
    (lambda row: "input" in row and "ideal" in row, _evals),
    (lambda row: isinstance(row.get("item"), Mapping), _evals_item),
)

_REFERENCES: Final = {  # by the field of the question
    "question": ("reference", "ground_truth", "ground_truths"),
    "user_input": ("reference",),
    "input": ("expectedOutput", "expected_output", "ideal"),
}
_MOST_NAMED: Final = 10  # fields that a message repeats


def format_of(row: Fields) -> Callable[[Fields], GoldenItem] | None:
    """What reads the row; None if it has the fields of no format."""
    return next((read for recognises, read in FORMATS if recognises(row)), None)


def lacking(row: Fields, what: str) -> str:
    """What a row of no format has and lacks; `what` is what its fields are called: fields, or columns."""
    found = ", ".join(readable(name) for name in [*row][:_MOST_NAMED] if name)  # None: beyond the header
    question = next((name for name in _REFERENCES if name in row), None)
    if question is None:
        known = "question and reference, user_input and reference, input and expectedOutput, or input and ideal"
        return f"has none of the {what} {known}" + (f": it has {found}" if found else "")
    return f"has {question}, but no {' or '.join(_REFERENCES[question])}: its {what} are {found}"


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
    """The question in a text, an object with one, or chat messages, of which the user's only one counts."""
    value = _messages(_from_json(value))
    if isinstance(value, list):
        return _only(value, role="user", whose="its input has {} messages of a user; a golden item has one question")
    return _text_in(value, _INPUTS)


def _answered(value: object) -> object:
    """The reference in a text, an object with one, or chat messages, of which the assistant's only one counts."""
    value = _messages(_from_json(value))
    if isinstance(value, list):
        return _only(value, role="assistant", whose="its expected output has {} messages of an assistant, and not one")
    return _text_in(value, (*_IDEALS, "text"))


def _messages(value: object) -> object:
    """The list in an object with `messages`, a single message as a list, or what else it is."""
    if isinstance(value, Mapping) and "messages" in value:
        return value["messages"]
    return [value] if isinstance(value, Mapping) and "role" in value and "content" in value else value


def _only(messages: Sequence[object], *, role: str, whose: str) -> object:
    found = [one for one in messages if isinstance(one, Mapping) and one.get("role") == role]
    if len(found) != 1:
        raise NotGolden(whose.format(len(found)))
    return _content(found[0].get("content"))


def _content(value: object) -> object:
    """The text of a message, which may be its only part or parts: `{"type": "input_text", "text": …}`."""
    parts = value if isinstance(value, list) else [value]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    known = [text for text in texts if isinstance(text, str)]
    return "\n".join(known) if known and len(known) == len(texts) else None


def _text_in(value: object, names: Sequence[str]) -> object:
    if isinstance(value, Mapping):
        return next((value[name] for name in names if isinstance(value.get(name), str)), None)
    return value


def _from_json(value: object, begins: str = "{[") -> object:
    """What a cell of CSV holds as JSON, or the text as it is."""
    if isinstance(value, str) and value and value[0] in begins:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _tags(value: object) -> dict[str, str]:
    """Tags as names with texts: what is nested is left out."""
    value = _from_json(value)
    if isinstance(value, str) and value[:1] != "{":
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
