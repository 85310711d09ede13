"""Reads interactions with their assessments, offsets and profiles from a real server."""

from __future__ import annotations

import pytest

from monitor.assess.classify.profile import load_profile
from monitor.core.message import Offset
from monitor.store.interaction.assessments import AssessmentQueries
from tests.factories.answers import NOON, a_batch, an_assessment


@pytest.fixture
def queries(engine):
    return AssessmentQueries(engine)


# --- interactions with their assessments ---


def test_what_was_never_stored_is_not_explained(queries):
    assert queries.with_assessments("q-1") == []


def test_apps_that_share_an_id_are_explained_together_or_one_by_one(writer, queries):
    writer.write(a_batch(an_assessment(app="a", answer="A"), an_assessment(app="b", answer="B"), an_assessment(id="2")))
    assert sorted(row["answer"] for row in queries.with_assessments("q-1")) == ["A", "B"]
    assert [row["answer"] for row in queries.with_assessments("q-1", "b")] == ["B"]
    assert queries.with_assessments("q-1", "c") == []


# --- offsets and profiles ---


def test_offsets_say_how_far_each_source_was_read(writer, queries):
    assert queries.offsets() == {}
    writer.write(a_batch(offsets=(Offset(topic="a#1", partition=0, expected=None, next=5),)))
    assert queries.offsets() == {("a#1", 0): 5}
    assert queries.offsets("another") == {}


def test_a_profile_is_kept_once_and_comes_back(queries, rows):
    profile = load_profile("hash", "hash/64", "hash/64")
    for _ in range(2):
        queries.save_profile(profile, NOON)
    assert queries.profile(profile.hash) == profile
    assert rows("SELECT hash, name, embedding_model FROM profile") == [(profile.hash, "hash", "hash/64")]
    assert queries.profile("0" * 16) is None


def test_a_profile_of_another_releases_form_is_not_known(queries, rows):
    queries.save_profile(load_profile("hash", "hash/64", "hash/64"), NOON)
    rows("UPDATE profile SET definition = definition || '{\"of a later release\": 1}', hash = 'later'")
    assert queries.profile("later") is None
