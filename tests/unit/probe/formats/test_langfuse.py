"""Dataset items as Langfuse exports them (CSV, JSON, JSON lines) and as its API answers."""

from __future__ import annotations

import json

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.formats.read import parse_golden

Q, R = "How long does a refund take?", "A refund takes 14 days."
ITEM = {
    "id": "clx1",
    "projectId": "p1",
    "datasetId": "d1",
    "datasetName": "support",
    "status": "ACTIVE",
    "input": {"question": Q},
    "expectedOutput": {"answer": R},
    "metadata": {"topic": "refunds"},
    "sourceTraceId": None,
    "sourceObservationId": None,
    "htmlSourcePath": "",
    "createdAt": "2026-11-01T10:00:00.000Z",
    "updatedAt": "2026-11-01T10:00:00.000Z",
}
ARCHIVED = {**ITEM, "id": "clx2", "status": "ARCHIVED", "input": {"question": "Old?"}}


def cell(text):
    return '"' + text.replace('"', '""') + '"'


def as_csv(items, *, texts_as_json):
    """As Langfuse writes it: each cell between quotation marks, objects as JSON, and once texts too."""

    def written(value):
        value = "" if value is None else value
        return value if isinstance(value, str) and not texts_as_json else json.dumps(value)

    lines = [[*ITEM], *[[written(value) for value in item.values()] for item in items]]
    return "".join(",".join(cell(text) for text in line) + "\n" for line in lines)


def read(text):
    return [(i.id, i.question, i.reference, i.tags) for i in parse_golden(text, name="export")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ITEM, ARCHIVED]),
        json.dumps(ITEM) + "\n" + json.dumps(ARCHIVED) + "\n",
        json.dumps({"data": [ITEM, ARCHIVED], "meta": {"page": 1, "totalItems": 2}}),
        json.dumps({"name": "support", "items": [ITEM, ARCHIVED], "runs": ["r1"]}),
        as_csv([ITEM, ARCHIVED], texts_as_json=False),
        as_csv([ITEM, ARCHIVED], texts_as_json=True),
    ],
    ids=["json", "json lines", "api", "api, dataset", "csv", "older csv"],
)
def test_each_form_is_read_without_archived_items(text):
    assert read(text) == [("clx1", Q, R, {"topic": "refunds"})]


@pytest.mark.parametrize("texts_as_json", [False, True])
def test_texts_in_csv(texts_as_json):
    item = {**ITEM, "input": 'Is "Express"\nfaster?', "expectedOutput": "Yes: 2 days.", "metadata": None}
    assert read(as_csv([item], texts_as_json=texts_as_json)) == [
        ("clx1", 'Is "Express"\nfaster?', "Yes: 2 days.", {}),
    ]


USER, ASSISTANT = {"role": "user", "content": Q}, {"role": "assistant", "content": R}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (Q, R),
        ({"text": Q}, {"text": R}),
        ({"messages": [{"role": "system", "content": "Be kind."}, USER]}, ASSISTANT),
        ([USER], [ASSISTANT]),
        (USER, {"messages": [ASSISTANT]}),
    ],
)
def test_texts_objects_and_messages(asked, expected):
    item = {**ITEM, "input": asked, "expectedOutput": expected}
    for text in (json.dumps([item]), as_csv([item], texts_as_json=False), as_csv([item], texts_as_json=True)):
        assert [found[1:3] for found in read(text)] == [(Q, R)]


@pytest.mark.parametrize(
    ("over", "why"),
    [
        ({"expectedOutput": None}, "its reference is not text"),
        ({"expectedOutput": {"score": 1}}, "its reference is not text"),
        ({"expectedOutput": [ASSISTANT, ASSISTANT]}, "its expected output has 2 messages of an assistant, and not one"),
        ({"expectedOutput": ["a", "b"]}, "its expected output has 0 messages of an assistant, and not one"),
        ({"input": [USER, USER]}, "its input has 2 messages of a user; a golden item has one question"),
        ({"input": {"from": "manual"}}, "its question is not text"),
    ],
)
def test_what_is_no_golden_item_is_named_and_nothing_is_read(over, why):
    with pytest.raises(WrongSettings) as caught:
        read(json.dumps([ITEM, {**ITEM, "id": "clx3", **over}]))
    assert str(caught.value) == f"export:2: {why}"


def test_an_export_with_archived_items_only_holds_none():
    with pytest.raises(WrongSettings, match="holds no golden items"):
        read(json.dumps([ARCHIVED]))


def test_a_status_of_your_own_leaves_nothing_out():
    assert len(read(json.dumps([{"question": Q, "reference": R, "status": "ARCHIVED"}]))) == 1
