"""Parses the filters of a run's items from its address, leniently, since people also write it by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from monitor.privacy.masking import redact
from monitor.probe.result import ItemState
from monitor.store.interaction.filters import parsed_tag
from monitor.store.probe.items import ItemFilter

STATE_WORDS: Final[Mapping[ItemState, tuple[str, str]]] = {  # words and the colour of the badge
    ItemState.GRADED: ("graded", "good"),
    ItemState.UNSURE: ("not sure", "warn"),
    ItemState.FAILED: ("no answer", "bad"),
    ItemState.UNGRADED: ("not graded", "warn"),
}
SCORE_WORDS: Final[Mapping[str, str]] = {"0": "0: not sure"} | {f"{n}": f"{n}" for n in range(1, 6)}
_NAMED = 5  # tags in a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemQuery:
    """The fields that are valid as typed, the filter that they mean, and a sentence about each other one."""

    fields: Mapping[str, str]
    wanted: ItemFilter
    faults: Sequence[str]


def parse_items(*, state: str, score: str, tag: str, tags: Sequence[str], unmask: bool) -> ItemQuery:
    """The query of these fields; `tags` are known ones, and only who may `unmask` finds a tag that pages mask."""
    typed = {"state": state.strip(), "score": score.strip(), "tag": tag.strip()}
    faults = []
    if typed["state"] and typed["state"] not in set(ItemState):
        faults.append(_fault("State", typed.pop("state"), ", ".join(ItemState)))
    if typed["score"] and typed["score"] not in SCORE_WORDS:
        faults.append(_fault("Score", typed.pop("score"), ", ".join(SCORE_WORDS)))
    if typed["tag"]:
        form = f"a tag is NAME=VALUE, such as {', '.join(tags[:_NAMED])}" if tags else "no question of this run has one"
        try:
            parsed_tag(typed["tag"])
        except ValueError:
            faults.append(f"Tag: “{redact(typed.pop('tag'))[:100]}” is not valid; {form}")
        else:
            if not unmask and redact(typed["tag"]) != typed["tag"]:
                faults.append("Tag: your role sees personal data masked only, and cannot search for it")
                del typed["tag"]
    fields = {name: value for name, value in typed.items() if value}
    return ItemQuery(
        fields=fields,
        wanted=ItemFilter(
            state=ItemState(fields["state"]) if "state" in fields else None,
            score=int(fields["score"]) if "score" in fields else None,
            tag=parsed_tag(fields["tag"]) if "tag" in fields else None,
        ),
        faults=faults,
    )


def _fault(name: str, typed: str, valid: str) -> str:
    return f"{name}: “{typed[:100]}” is not valid; one of {valid}"
