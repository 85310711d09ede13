"""Labels in files: JSON lines and CSV."""

from __future__ import annotations

import json

import pytest

from monitor.app.review.label_file import from_csv, from_json_lines
from monitor.app.review.labels import MOST_NAMED
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict


def test_lines_of_a_file_may_name_the_person_and_the_note_themselves():
    lines = [
        '{"app": "a", "id": "1", "label": "refusal", "by": "bob", "note": "no", "question": "?"}\n',
        "\n",
        '{"app": "a/b", "id": "2", "label": "grounded"}\n',
    ]
    first, second = from_json_lines(lines, by="ann", note="all")
    assert (first.spellings, first.label, first.by, first.note) == ((("a", "1"),), Verdict.REFUSAL, "bob", "no")
    assert (second.spellings, second.by, second.note) == ((("a/b", "2"),), "ann", "all")


def test_lines_that_are_no_labels_are_named_and_their_values_are_not_repeated():
    lines = ['{"app": "a", "id": "1", "label": "SECRET"}', "no JSON", '{"app": "a", "label": "grounded"}']
    with pytest.raises(WrongSettings) as error:
        from_json_lines(lines, by="ann", note=None)
    message = str(error.value)
    assert [part in message for part in ("line 1: label", "line 2: $", "line 3: id")] == [True] * 3
    assert "SECRET" not in message


def test_of_many_faults_the_first_are_named():
    with pytest.raises(WrongSettings, match="and 5 more"):
        from_json_lines(["{}"] * (MOST_NAMED + 5), by="ann", note=None)


def test_what_postgres_cannot_store_is_replaced():
    line = json.dumps({"app": "a\0", "id": "\ud800", "label": "grounded", "by": "b\0"})
    (wish,) = from_json_lines([line.replace("\\ud800", "x")], by="ann", note=None)
    assert wish.spellings == (("a\ufffd", "x"),)
    assert wish.by == "b\ufffd"


def test_a_table_names_its_columns_in_any_order():
    rows = ["label,id,by,app,colour\n", 'Self-Generated,"q,1",bob,shop,red\n', "grounded,q2,,shop,\n"]
    first, second = from_csv(rows, by="ann")
    assert (first.spellings, first.label, first.by) == ((("shop", "q,1"),), Verdict.SELF_GENERATED, "bob")
    assert (second.spellings, second.label, second.by, second.note) == (
        (("shop", "q2"),),
        Verdict.GROUNDED,
        "ann",
        None,
    )


def test_a_table_without_a_needed_column_is_refused():
    for lines in ([], ["app,label\n", "shop,grounded\n"]):
        with pytest.raises(WrongSettings, match=r"lacks .*id"):
            from_csv(lines, by="ann")


def test_rows_that_are_no_labels_are_named_by_their_line():
    rows = ["app,id,label\n", "shop,q1,grounded\n", "shop,q2,good\n", "shop,,grounded\n"]
    with pytest.raises(WrongSettings) as error:
        from_csv(rows, by="ann")
    assert "line 3: label" in str(error.value)
    assert "line 4: id" in str(error.value)
    assert "good" not in str(error.value)


def test_what_is_no_table_is_refused():
    with pytest.raises(WrongSettings, match=r"line .*: is no CSV"):
        from_csv(["app,id,label\n", "shop,q-1\r,grounded\n"], by="ann")
