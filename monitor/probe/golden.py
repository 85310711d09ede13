"""Golden sets: questions with reference answers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, NamedTuple

from typing_extensions import override

from monitor.core.assessment_json import storable
from monitor.core.errors import MonitorError
from monitor.core.model import Json
from monitor.core.text.content_id import content_id
from monitor.core.text.plain import readable

MOST_ITEMS: Final = 10_000  # of a set
LONGEST_TEXT: Final = 20_000  # characters of a question or a reference
LONGEST_ID: Final = 200  # characters
SET_NAME: Final = r"^[^\s/][^/\x00-\x1f]{0,99}$"  # of a set, and of a probe
MOST_TAGS: Final = 20
LONGEST_TAG: Final = 200  # characters of a name or a value


class NotGolden(MonitorError):
    """What is no golden item; the message goes on from the name of its place."""


class Source(NamedTuple):
    """The interaction that an item was made of."""

    app: str
    id: str

    @override
    def __str__(self) -> str:
        return f"{self.app}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenItem:
    """A question with its reference answer."""

    id: str  # unique in its set
    question: str
    reference: str
    tags: Mapping[str, str] = field(default_factory=dict)
    source: Source | None = None

    def to_json(self) -> dict[str, Json]:
        """The item as `golden import` reads it: `{id, question, reference, tags, source: {app, id} or null}`."""
        source: Json = None if self.source is None else dict(self.source._asdict())
        about: dict[str, Json] = {"id": self.id, "question": self.question, "reference": self.reference}
        return {**about, "tags": dict(self.tags), "source": source}


def golden_item(
    *, id_: str, question: str, reference: str, tags: Mapping[str, str], source: Source | None = None
) -> GoldenItem:
    """The item of these texts, without white space around them; one without an id gets one from its question.

    Of the tags, the first `MOST_TAGS` that are short enough are kept.

    Raises:
        NotGolden: a text is empty or too long.
    """
    asked, right, name = (storable(text).strip() for text in (question, reference, id_))
    for field_, text in (("question", asked), ("reference", right)):
        if not text:
            raise NotGolden(f"its {field_} is empty")
        if len(text) > LONGEST_TEXT:
            raise NotGolden(f"its {field_} has more than {LONGEST_TEXT:,} characters")
    if len(name) > LONGEST_ID:
        raise NotGolden(f"its id has more than {LONGEST_ID} characters")
    short = [(tag, text) for tag, text in tags.items() if max(len(tag), len(text)) <= LONGEST_TAG]
    kept = {storable(tag): storable(text) for tag, text in short[:MOST_TAGS]}
    made_of = None if source is None else Source(*map(storable, source))
    return GoldenItem(id=name or content_id(asked), question=asked, reference=right, tags=kept, source=made_of)


def question_key(question: str) -> str:
    """What the same question has in common, whatever its case and white space: a set asks it once."""
    return " ".join(question.casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """The items of one version of a set, in their order, with different ids."""

    name: str
    items: tuple[GoldenItem, ...]
    version: int = 0  # 1, 2, 3, … as stored; 0: not stored

    @property
    def hash(self) -> str:
        """The SHA-256 of the items by id, in hex: the same items in another order have the same hash."""
        items = sorted(self.items, key=lambda item: item.id)
        content = [[i.id, i.question, i.reference, dict(sorted(i.tags.items())), i.source] for i in items]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def changes(before: GoldenSet | None, after: GoldenSet) -> dict[str, int]:
    """How many items of `after` are new, changed and unchanged against `before`, and how many are gone."""
    earlier = {} if before is None else {item.id: item for item in before.items}
    kept = [item for item in after.items if item.id in earlier]
    unchanged = sum(item == earlier[item.id] for item in kept)
    return {
        "new": len(after.items) - len(kept),
        "changed": len(kept) - unchanged,
        "unchanged": unchanged,
        "gone": len(earlier) - len(kept),
    }


def no_golden_set(name: str) -> str:
    """What is wrong where no golden set has this name, and the command that makes it."""
    command = f"monitor golden import FILE --set {shlex.quote(readable(name))}"
    return f"there is no golden set {readable(name)!r}: make it with {command}"
