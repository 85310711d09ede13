"""What a golden item may be; a set that is written out is read back as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.probe.formats.read import parse_golden
from monitor.probe.golden import (
    LONGEST_ID,
    LONGEST_TAG,
    LONGEST_TEXT,
    MOST_TAGS,
    GoldenSet,
    NotGolden,
    Source,
    golden_item,
    question_key,
)

_TEXT = st.text(min_size=1, max_size=40)
_TAGS = st.dictionaries(st.text(max_size=10), st.text(max_size=10), max_size=3)


@given(
    st.lists(st.tuples(_TEXT, _TEXT, _TEXT, _TAGS, st.none() | st.builds(Source, _TEXT, _TEXT)), min_size=1, max_size=6)
)
def test_an_exported_set_is_imported_as_the_same_one(rows):
    items = {}
    for id_, question, reference, tags, source in rows:
        try:
            made = golden_item(id_=id_, question=question, reference=reference, tags=tags, source=source)
        except NotGolden:
            continue
        if made.id not in {one.id for one in items.values()}:
            items.setdefault(question_key(made.question), made)
    if not items:
        return
    written = "".join(json.dumps(item.to_json(), ensure_ascii=False) + "\n" for item in items.values())
    read = parse_golden(written, name="out.jsonl")
    assert GoldenSet(name="s", items=tuple(read)).hash == GoldenSet(name="s", items=tuple(items.values())).hash


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        ({"question": " \n"}, "its question is empty"),
        ({"reference": ""}, "its reference is empty"),
        ({"question": "x" * (LONGEST_TEXT + 1)}, "its question has more than 20,000 characters"),
        ({"reference": "x" * (LONGEST_TEXT + 1)}, "its reference has more than 20,000 characters"),
        ({"id_": "x" * (LONGEST_ID + 1)}, "its id has more than 200 characters"),
    ],
)
def test_texts_are_bounded(over, problem):
    with pytest.raises(NotGolden, match=problem):
        golden_item(**{"id_": "q", "question": "?", "reference": "!", "tags": {}, **over})


def test_tags_are_bounded_and_an_item_without_an_id_gets_one():
    tags = {"long": "x" * (LONGEST_TAG + 1), **{f"tag {n}": "x" for n in range(MOST_TAGS + 5)}}
    made = golden_item(id_=" ", question=" When? ", reference="At nine.", tags=tags)
    assert list(made.tags) == [f"tag {n}" for n in range(MOST_TAGS)]
    assert made.id.startswith("sha256:")
    assert made.question == "When?"
