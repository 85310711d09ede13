"""Reads events of any form by a mapping, which says where each field of a native event stands.

Rows of a table (CSV) are read so too, each column under its own name unless the mapping says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from monitor.core.assessment_json import storable_json
from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.model import Interaction, Json, Mark
from monitor.core.text.plain import readable
from monitor.core.trace import Collected
from monitor.ingest.dialects import native
from monitor.ingest.dialects.dialect import Context, content_id
from monitor.ingest.dialects.documents import documents
from monitor.ingest.dialects.spans import json_value
from monitor.ingest.dotted_path import at_path
from monitor.ingest.parse import JsonObject
from monitor.ingest.records import SURPLUS, TABLE

_TEXTS = (
    "id",
    "app",
    "environment",
    "occurred_at",
    "conversation_id",
    "question",
    "answer",
    "reference_answer",
    "model",
    "prompt_version",
    "trace_id",
)
_NUMBERS = ("turn", "latency_ms", "usage.input", "usage.output")
_DOCUMENTS = ("retrieved_documents", "supporting_documents")
_SEPARATOR = "separator"
TARGETS = (*_TEXTS, *_DOCUMENTS, *_NUMBERS, "tags.NAME", _SEPARATOR)
_TAG = re.compile(r"tags\..+")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_COLUMNS, _COLUMN_CHARS = 12, 40  # of a table, named where one is missing
# What makes an event itself where it has no id.
_IDENTITY = ("occurred_at", "conversation_id", "turn", "question", "retrieved_documents", "answer")


class EventMap:
    """Where the fields of native events stand; a field that `places` does not name is looked for under its own name.

    `separator` among the names is no place but the text that stands between two documents.

    Raises:
        WrongSettings: a name is not a field of a native event, or a place is empty.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        for name, place in places.items():
            if name not in TARGETS and not _TAG.fullmatch(name):
                raise WrongSettings(f"{name!r} is not a field that events can be mapped to; these are {_known()}")
            if not place:
                raise WrongSettings(f"the mapping of {name} names no field: write {name}=FIELD")
        self._places = {name: place for name, place in places.items() if name != _SEPARATOR}
        self._separator = places.get(_SEPARATOR)

    def read(self, event: JsonObject, context: Context) -> Interaction | Collected:
        """The interaction of an event, or its feedback; without an id, its id is a hash of its content.

        Raises:
            InvalidMessage: a field is missing or wrong; the path is that of the event's own field.
        """
        if SURPLUS in event:
            raise InvalidMessage("$", "has more or fewer cells than the header has columns: check its quotation marks")
        found = self._native(event)
        mapped = {name: storable_json(value) for name, value in found.items()}  # a cell may hold JSON with escapes
        if mapped != found:
            context = replace(context, marks=context.marks | {Mark.TEXT_REPLACED})
        if mapped.get("id") is None and context.id is None:
            identity = [mapped.get(name) for name in _IDENTITY]
            mapped["id"] = content_id(json.dumps(identity, ensure_ascii=False, separators=(",", ":")), digits=64)
        try:
            return native.read(mapped, context)
        except InvalidMessage as error:
            field = re.split(r"[.\[]", error.path)[0]
            place = self._places.get(error.path) or self._places.get(field)  # `usage.input`, or `supporting_documents`
            if place is not None:
                raise InvalidMessage(place, f"{error.problem} (mapped to {error.path})") from None
            if context.headers == TABLE and field not in event:
                columns = ", ".join(readable(name)[:_COLUMN_CHARS] for name in list(event)[:_COLUMNS])
                hint = f"the columns are {columns}; name the one: --map {field}=COLUMN"
                raise InvalidMessage(error.path, f"{error.problem}; {hint}") from None
            raise

    def _native(self, event: JsonObject) -> JsonObject:
        mapped: JsonObject = {}
        for name in _TEXTS:
            value = self._value(event, name)
            if value != "" or name in {"question", "answer"}:
                mapped[name] = value
        mapped["occurred_at"] = _number(mapped.get("occurred_at"))
        for name in ("turn", "latency_ms"):
            mapped[name] = _number(self._value(event, name))
        mapped["usage"] = self._usage(event)
        found = self._value(event, "retrieved_documents")
        if found is not None:
            mapped["retrieved_documents"] = documents(found, self._separator)
        support = self._value(event, "supporting_documents")
        if support is not None and support != "":
            mapped["supporting_documents"] = documents(support, self._separator)
        tags = json_value(event.get("tags"))
        own = {name[5:]: self._value(event, name) for name in self._places if name.startswith("tags.")}
        mapped["tags"] = {**(tags if isinstance(tags, dict) else {}), **own} or None
        return {name: value for name, value in mapped.items() if value is not None}

    def _usage(self, event: JsonObject) -> Json:
        if not {"usage.input", "usage.output"} & self._places.keys():
            return json_value(event.get("usage")) or None
        return {name: _number(self._value(event, f"usage.{name}")) for name in ("input", "output")}

    def _value(self, event: JsonObject, name: str) -> Json:
        return at_path(event, self._places.get(name, name))


def event_map(options: Iterable[str]) -> EventMap | None:
    """The mapping of options like `question=prompt`; None without any.

    Raises:
        WrongSettings: an option has another form, or two name the same field.
    """
    places: dict[str, str] = {}
    for option in options:
        name, equals, place = option.partition("=")
        if not equals:
            raise WrongSettings(f"--map {option}: write FIELD=PLACE, such as question=prompt; fields are {_known()}")
        if name in places:
            raise WrongSettings(f"--map {name} is given twice")
        places[name] = place
    return EventMap(places) if places else None


def _known() -> str:
    return ", ".join(TARGETS)


def _number(value: Json) -> Json:
    """A number that stands in a text, as in a cell; what is no such text stays as it is, but an empty one is none."""
    if not isinstance(value, str):
        return value
    cell = value.strip()
    if not cell:
        return None
    if not _NUMBER.fullmatch(cell):
        return value
    return float(cell) if "." in cell else int(cell)
