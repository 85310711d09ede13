from __future__ import annotations

import hmac
import json
import struct
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.audit import record
from monitor.audit.canonical import canonical
from monitor.audit.commitment import field_key
from monitor.audit.record import (
    act_record,
    assessment_record,
    disclosed,
    interaction_record,
    judgement_record,
    opens,
    portable,
    tagged,
)
from monitor.store.audit.checks.leaf_and_row import public_differences
from monitor.store.tables import interactions as tables
from tests.factories.answers import NOON, at
from tests.factories.audit.rows import SECRET, a_judgement_row, an_assessment_row, an_interaction_row

PERSONAL = (*record.INTERACTION_PERSONAL, *record.INTERACTION_DIGESTS)
REVISED = {"unscored": "no_retrieval", "replaced_at": NOON, "replaced_offset": 9}
ROWS = {
    interaction_record: (partial(an_interaction_row, **REVISED), tables.interaction, PERSONAL),
    assessment_record: (
        partial(an_assessment_row, diagnosis="retrieval_missed"),
        tables.assessment,
        record.ASSESSMENT_PERSONAL,
    ),
    judgement_record: (a_judgement_row, tables.judgement, record.JUDGEMENT_PERSONAL),
}


def _containers(children):
    return st.lists(children, max_size=3) | st.dictionaries(st.text("$number", max_size=7), children, max_size=3)


def _untagged(value):
    if isinstance(value, dict):
        if set(value) == {"$number"}:
            return "number", value["$number"]
        return {name.removeprefix("$"): _untagged(item) for name, item in value.items()}
    return [_untagged(item) for item in value] if isinstance(value, list) else value


def _comparable(value):
    """`value` with the numbers that canonical JSON cannot hold as pairs, since NaN equals nothing."""
    if isinstance(value, dict):
        return {name: _comparable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    held = portable(value)
    if isinstance(held, str) and not isinstance(value, str):
        return "number", held
    return float(value) if isinstance(value, int | float) else value


EACH = pytest.mark.parametrize(("make", "row", "personal"), [(make, row, its) for make, (row, _, its) in ROWS.items()])


@EACH
def test_every_column_of_the_table_is_said_or_committed(make, row, personal):
    made = make(row(), SECRET)
    committed = made.pop("committed")
    assert set(committed) == set(personal)
    sealed = {column.name for column in ROWS[make][1].columns} - {
        *record.ASSESSMENT_LEFT_OUT,
        *record.INTERACTION_LEFT_OUT,
    }
    assert set(made) - {"v", "kind"} == sealed - set(personal)
    assert (made["v"], made["app"], made["id"]) == (2, "support-bot", "q-1")


def test_a_judgement_whose_chance_of_being_taken_is_unknown_has_the_record_of_earlier_releases():
    of_now, of_then = (
        judgement_record(a_judgement_row(), SECRET),
        judgement_record(a_judgement_row(inclusion=None), SECRET),
    )
    assert of_now == {**of_then, "inclusion": 0.125}


def test_an_interaction_without_redacted_tags_has_the_record_of_earlier_releases():
    of_now, of_then = (
        interaction_record(an_interaction_row(), SECRET),
        interaction_record(an_interaction_row(tag_digests=None), SECRET),
    )
    assert set(of_now["committed"]) - set(of_then["committed"]) == {"tag_digests"}
    del of_now["committed"]["tag_digests"]
    assert of_now == of_then


def test_an_interaction_that_is_scored_and_never_revised_has_the_record_of_earlier_releases():
    of_now, of_then = an_interaction_row(), an_interaction_row()
    for name in REVISED:
        del of_then[name]
    assert interaction_record(of_now, SECRET) == interaction_record(of_then, SECRET)


def test_an_interaction_without_a_cost_has_the_record_of_earlier_releases():
    of_now, of_then = (interaction_record(an_interaction_row(cost=cost), SECRET) for cost in (0.0042, None))
    assert of_now == {**of_then, "cost": 0.0042}


@EACH
def test_no_personal_text_is_in_the_leaf(make, row, personal):
    text = canonical(make(row(), SECRET)).decode()
    for name in personal:
        value = row()[name]
        assert value is None or json.dumps(value, ensure_ascii=False, separators=(",", ":")) not in text


@EACH
def test_what_is_disclosed_opens_its_commitment_and_no_other(make, row, personal):
    made, opened = make(row(), SECRET), disclosed(row(), SECRET, personal)
    for name, of in opened.items():
        assert opens(made, name, of["key"], of["value"])
        assert not opens(made, name, of["key"], "something else")
        assert not opens(made, name, bytes(32).hex(), of["value"])
        others = [other for other in personal if other != name]
        assert not any(opens(made, other, of["key"], of["value"]) for other in others)


def test_nothing_is_told_of_what_is_absent():
    absent = an_interaction_row(conversation_id=None, tags={})
    there, not_there = (interaction_record(row, SECRET)["committed"] for row in (an_interaction_row(), absent))
    assert there.keys() == not_there.keys()
    assert {name: len(value) for name, value in not_there.items()} == dict.fromkeys(there, 64)


def test_two_rows_of_one_interaction_share_no_key():
    rows = [
        *(an_interaction_row(**over) for over in ({}, {"replaced_at": NOON}, {"replaced_at": at(1)})),
        *(an_assessment_row(**over) for over in ({}, {"profile_hash": "f"}, {"revised_at": datetime.now(UTC)})),
        *(a_judgement_row(**over) for over in ({}, {"metric": "correctness"}, {"prompt_hash": "0"}, {"model": "m"})),
    ]
    fields = [PERSONAL] * 3 + [record.ASSESSMENT_PERSONAL] * 3 + [record.JUDGEMENT_PERSONAL] * 4
    keys = [of["key"] for row, names in zip(rows, fields, strict=True) for of in disclosed(row, SECRET, names).values()]
    assert len(set(keys)) == len(keys)


def test_another_secret_gives_other_commitments_of_the_same():
    one, other = (interaction_record(an_interaction_row(), secret) for secret in (SECRET, bytes(32)))
    assert not set(one["committed"].values()) & set(other["committed"].values())
    assert {**one, "committed": 0} == {**other, "committed": 0}


def test_times_are_rfc_3339_in_utc_with_microseconds():
    local = datetime(2025, 11, 21, 13, 30, 0, 5, tzinfo=timezone(timedelta(hours=1)))
    made = interaction_record(an_interaction_row(occurred_at=local), SECRET)
    assert made["occurred_at"] == "2025-11-21T12:30:00.000005Z"
    assert portable(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000000Z"


@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-1, max_value=1))
def test_a_float4_is_written_the_same_however_it_was_read(exact):
    as_text = float(f"{exact:.9g}")  # nine digits give any float4 back
    one, other = (assessment_record(an_assessment_row(sdq=value), SECRET)["sdq"] for value in (exact, as_text))
    assert one == other
    assert struct.pack("<f", one) == struct.pack("<f", exact)


def test_a_float4_is_written_short():
    (exact,) = struct.unpack("<f", struct.pack("<f", 0.1))
    assert [assessment_record(an_assessment_row(sdq=value), SECRET)["sdq"] for value in (exact, 0.1, 1, None)] == [
        *(0.1, 0.1, 1, None)
    ]


def test_a_float4_that_is_no_number_is_a_word():
    assert assessment_record(an_assessment_row(sdq=float("nan")), SECRET)["sdq"] == "NaN"


def test_features_are_digested():
    row = an_assessment_row(features={"b": 1.0, "a": 2**53 + 1})
    digests = [assessment_record(row, SECRET, version)["features"] for version in (1, 2)]
    written = b'{"a":"9007199254740993","b":1}', b'{"a":{"$number":"9007199254740993"},"b":1}'
    assert digests == [sha256(text).hexdigest() for text in written]


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (2**53, 2**53),
        (2**60, 2.0**60),
        (2**53 + 1, "9007199254740993"),
        (-(10**400), "-1" + "0" * 400),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
        (True, True),
        (("a", None), ["a", None]),
    ],
)
def test_what_canonical_json_cannot_hold_has_one_form(value, held):
    assert portable({"a": [value]}) == {"a": [held]}
    assert type(portable(value)) is type(held)
    canonical(portable(value))


def test_a_number_that_json_cannot_hold_is_committed_to_and_opened():
    row = an_interaction_row(retrieved_documents=[{"id": "d", "text": "", "metadata": {"n": 2**64 + 1, "m": 10**17}}])
    made, opened = interaction_record(row, SECRET), disclosed(row, SECRET, ["retrieved_documents"])
    assert opens(made, "retrieved_documents", **opened["retrieved_documents"])


@pytest.mark.parametrize(
    ("number", "text"),
    [(2**53 + 1, "9007199254740993"), (float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity")],
)
def test_a_number_does_not_commit_like_its_text_or_its_tag(number, text):
    def commits_to(metadata, version):
        row = an_interaction_row(retrieved_documents=[{"id": "d", "text": "", "metadata": {"n": metadata}}])
        return interaction_record(row, SECRET, version)["committed"]["retrieved_documents"]

    values = [number, text, {"$number": text}, {"$$number": text}, {"number": text}, [text]]
    assert len({commits_to(value, 2) for value in values}) == len(values)
    # what an earlier release has sealed stays what it is
    before = f'[{{"id":"d","metadata":{{"n":"{text}"}},"text":""}}]'
    sealed = hmac.new(field_key(SECRET, '["interaction"]retrieved_documents'), before.encode(), sha256).hexdigest()
    assert commits_to(number, 1) == commits_to(text, 1) == sealed


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text("$number"), _containers, max_leaves=8))
def test_a_tagged_value_has_a_form_and_gives_the_value_back(value):
    assert _untagged(json.loads(canonical(tagged(value)), parse_int=float)) == _comparable(value)


def test_an_act_is_told_whole():
    made = act_record(kind="silence", app="", subject="s-1", body={"by": "ann", "at": "2025-11-21T12:00:00+00:00"})
    body = {"by": "ann", "at": "2025-11-21T12:00:00+00:00"}
    assert made == {"v": 1, "kind": "silence", "app": "", "id": "s-1", "body": body}


@pytest.mark.parametrize("commitments", [None, [], {}, {"question": 5}])
def test_a_record_without_the_commitment_opens_nothing(commitments):
    assert not opens({"committed": commitments}, "question", "00", None)
    assert not opens({}, "question", "00", None)


def test_a_key_that_is_no_hex_opens_nothing():
    assert not opens(interaction_record(an_interaction_row(), SECRET), "question", "no hex", None)


def test_what_is_not_personal_is_not_disclosed():
    with pytest.raises(KeyError):
        disclosed(an_interaction_row(), SECRET, ["model"])


def test_a_record_has_a_rank_only_where_there_is_one():
    ranked, before = (assessment_record(row, SECRET) for row in (an_assessment_row(), _without_rank()))
    assert (ranked["rank"], ranked["reference"]) == (0.01996008, "89abcdef01234567")
    assert ranked.keys() - before.keys() == {"rank", "reference"}
    assert public_differences(before, ranked) == ["rank", "reference"]
    assert public_differences(assessment_record(an_assessment_row(rank=0.5), SECRET), ranked) == ["rank"]
    assert public_differences(assessment_record({**_without_rank(), "rank": 0.5}, SECRET), before) == ["rank"]


def test_an_assessment_without_a_diagnosis_has_the_record_of_earlier_releases():
    of_now, none, of_then = (
        assessment_record(row, SECRET)
        for row in (
            an_assessment_row(diagnosis="retrieval_missed"),
            an_assessment_row(),
            {name: value for name, value in an_assessment_row().items() if name != "diagnosis"},
        )
    )
    assert none == of_then
    assert of_now == {**of_then, "diagnosis": "retrieval_missed"}
    for changed in (of_then, assessment_record(an_assessment_row(diagnosis="healthy"), SECRET)):
        assert public_differences(changed, of_now) == public_differences(of_now, changed) == ["diagnosis"]


def _without_rank():
    """A row as the release before kept it in a revision: it does not know the columns."""
    return {name: value for name, value in an_assessment_row().items() if name not in {"rank", "reference"}}
