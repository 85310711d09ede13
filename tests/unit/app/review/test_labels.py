"""How people name what they label."""

from __future__ import annotations

import pytest

from monitor.app.review.labels import MAX_PERSON_CHARS, named, person
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


def test_what_postgres_cannot_store_is_replaced():
    assert spelt("a/\udcff") == (("a", "\ufffd"),)


def test_a_person_has_a_name_of_some_length():
    assert person("  ann ") == "ann"
    for name in ("", "  ", "x" * (MAX_PERSON_CHARS + 1)):
        with pytest.raises(WrongSettings, match="--by"):
            person(name)
