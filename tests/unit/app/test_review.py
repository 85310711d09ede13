"""How people name what they label, by words and by lines of a file."""

from __future__ import annotations

import json

import pytest

from monitor.app.review import MAX_PERSON_CHARS, MOST_NAMED, listed, named, person
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict

G = Verdict.GROUNDED


def spelt(name):
    return named(name, G, by="ann", note=None).spellings


def test_an_interaction_is_named_by_app_and_id():
    assert spelt("bot/q-1") == (("bot", "q-1"),)


def test_slashes_in_either_are_tried_in_turn():
    assert spelt("a/b/c") == (("a", "b/c"), ("a/b", "c"))


@pytest.mark.parametrize("name", ["", "q-1", "/q-1", "bot/", "/"])
def test_a_name_without_app_or_id_is_none(name):
    with pytest.raises(WrongSettings, match="APP/ID"):
        spelt(name)


def test_lines_of_a_file_may_name_the_person_and_the_note_themselves():
    lines = [
        '{"app": "a", "id": "1", "label": "refusal", "by": "bob", "note": "no", "question": "?"}\n',
        "\n",
        '{"app": "a/b", "id": "2", "label": "grounded"}\n',
    ]
    first, second = listed(lines, by="ann", note="all")
    assert (first.spellings, first.label, first.by, first.note) == ((("a", "1"),), Verdict.REFUSAL, "bob", "no")
    assert (second.spellings, second.by, second.note) == ((("a/b", "2"),), "ann", "all")


def test_lines_that_are_no_labels_are_named_and_their_values_are_not_repeated():
    lines = ['{"app": "a", "id": "1", "label": "SECRET"}', "no JSON", '{"app": "a", "label": "grounded"}']
    with pytest.raises(WrongSettings) as error:
        listed(lines, by="ann", note=None)
    message = str(error.value)
    assert [part in message for part in ("line 1: label", "line 2: $", "line 3: id")] == [True] * 3
    assert "SECRET" not in message


def test_of_many_faults_the_first_are_named():
    with pytest.raises(WrongSettings, match="and 5 more"):
        listed(["{}"] * (MOST_NAMED + 5), by="ann", note=None)


def test_what_postgres_cannot_store_is_replaced():
    line = json.dumps({"app": "a\0", "id": "\ud800", "label": "grounded", "by": "b\0"})
    (wish,) = listed([line.replace("\\ud800", "x")], by="ann", note=None)
    assert wish.spellings == (("a\ufffd", "x"),)
    assert wish.by == "b\ufffd"
    assert spelt("a/\udcff") == (("a", "\ufffd"),)


def test_a_person_has_a_name_of_some_length():
    assert person("  ann ") == "ann"
    for name in ("", "  ", "x" * (MAX_PERSON_CHARS + 1)):
        with pytest.raises(WrongSettings, match="--by"):
            person(name)
