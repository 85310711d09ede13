from __future__ import annotations

import pytest

from monitor.probe.result import ItemState
from monitor.store.probe.items import ItemFilter
from monitor.web.probe.filters import parse_items

MAIL = "jane.doe@example.org"


def parsed(*, state="", score="", tag="", tags=(), unmask=False):
    return parse_items(state=state, score=score, tag=tag, tags=tags, unmask=unmask)


def test_what_is_typed_becomes_a_filter():
    query = parsed(state=" unsure ", score="0", tag="lang=de=at")
    assert query.wanted == ItemFilter(state=ItemState.UNSURE, score=0, tag=("lang", "de=at"))
    assert query.fields == {"state": "unsure", "score": "0", "tag": "lang=de=at"}
    assert parsed().wanted == ItemFilter()
    assert (query.faults, parsed().faults, parsed().fields) == ([], [], {})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"state": "good"}, "State: “good” is not valid; one of graded, unsure, failed, ungraded"),
        ({"score": "2.5"}, "Score: “2.5” is not valid; one of 0, 1, 2, 3, 4, 5"),
        ({"tag": "de"}, "Tag: “de” is not valid; no question of this run has one"),
        ({"tag": "de", "tags": ["lang=de"]}, "Tag: “de” is not valid; a tag is NAME=VALUE, such as lang=de"),
    ],
)
def test_what_is_not_valid_is_named_with_what_is(typed, said):
    query = parsed(**typed)
    assert (query.faults, query.fields, query.wanted) == ([said], {}, ItemFilter())


def test_only_who_sees_personal_data_finds_it():
    refused, allowed = (parsed(tag=f"user={MAIL}", unmask=unmask) for unmask in (False, True))
    assert (refused.wanted.tag, allowed.wanted.tag) == (None, ("user", MAIL))
    assert len(refused.faults) == 1
    assert MAIL not in parsed(tag=MAIL).faults[0]
