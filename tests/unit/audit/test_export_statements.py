"""Statements of completeness in an export: the verifier names what was left out, and says what it cannot tell."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pytest

from monitor.audit.export import ExportedRecord, write_export
from monitor.audit.merkle import inclusion_proof
from monitor.audit.record import act_record, interaction_record
from tests.factories.answers import NOON, at
from tests.factories.audit.export import ABOUT
from tests.factories.audit.rows import SECRET, Log, an_interaction_row

EVERY_APP = replace(ABOUT, app=None)


def an_answer(offset, app="support-bot", minute=0):
    row = an_interaction_row(id=f"q-{offset}", app=app, source_offset=offset, occurred_at=at(minute), tag_digests=None)
    return interaction_record(row, SECRET)


def a_statement(first, end, *stored, **over):
    body = {
        "by": "monitor",
        "at": NOON.isoformat(),
        "group": "g",
        "topic": "answers",
        "partition": 0,
        "topic_id": "A",
        "first": first,
        "next": end,
        "received": end - first,
        "duplicate": [],
        "dead": [],
        "skipped": {},
        "stored": [
            {"app": app, "offsets": offsets, "earliest": at(start).isoformat(), "latest": at(last).isoformat()}
            for app, offsets, start, last in stored
        ],
    }
    return act_record(kind="positions", app="", subject="answers/0", body={**body, **over})


BOT = ("support-bot", [[3, 3]], 2, 2)
RECORDS = [
    an_answer(0),
    an_answer(1, minute=1),
    a_statement(0, 3, ("support-bot", [[0, 1]], 0, 1), duplicate=[[2, "support-bot", "q-0", "2026-03"]]),
    an_answer(3, minute=2),
    an_answer(4, app="other-bot", minute=2),
    a_statement(3, 7, BOT, ("other-bot", [[4, 4]], 2, 2), dead=[[5, 5]], skipped={"control": 1}),
    an_answer(7, minute=30),
    an_answer(8, minute=90),
    a_statement(7, 9, ("support-bot", [[7, 8]], 30, 90)),
]


def exported(*, without=(), about=EVERY_APP, records=RECORDS):
    """An export of the log of `records` without some of them."""
    out, log = BytesIO(), Log(records)
    size = len(log.leaves)
    held = (
        ExportedRecord(
            index=index, body=body.decode(), proof=inclusion_proof(index, size, log.node), disclosed=None, stored=None
        )
        for index, body in enumerate(log.bodies)
        if index not in without
    )
    write_export(out, records=held, checkpoints=[log.note(size)], consistency=[], profiles={}, rules=[], about=about)
    return out.getvalue()


def test_an_export_that_holds_everything_says_what_became_of_every_offset(verify):
    code, said = verify(exported(without=[7]))
    assert code == 0
    stated = "complete: offsets 0 to 8 of answers/0, as g read it, without a gap: 6 stored, 1 duplicate, 1 dead, "
    assert stated + "1 skipped (control)" in said
    assert "1 statements speak of other times too: they are not checked" in said  # offset 8 is after the export's end
    assert "not proved: that what never reached these partitions was recorded; what happened in others" in said


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ([1], "offset 1 of answers/0: stored for support-bot, and the record is not in the export"),
        ([0, 1], "offsets 0 to 1 of answers/0: stored for support-bot"),
        ([4], "offset 4 of answers/0: stored for other-bot"),
        ([5], "offsets 3 to 6 of answers/0: no statement says what became of that, as the group g reads it"),
    ],
)
def test_a_record_or_statement_that_was_left_out_is_named(verify, without, said):
    code, found = verify(exported(without=without))
    assert (code, f"fault: {said}" in found) == (1, True), found


def test_a_statement_of_more_offsets_than_anybody_could_count_is_checked_at_once(verify):
    most = 9 * 10**15
    endless = a_statement(9, most + 1, ("support-bot", [[9, most]], 3, 4))
    code, said = verify(exported(without=[7], records=[*RECORDS, endless]))
    assert (code, f"offsets 9 to {most} of answers/0: stored for support-bot" in said) == (1, True), said


def test_an_export_of_one_app_needs_the_answers_of_no_other(verify):
    code, said = verify(exported(without=[4, 7], about=ABOUT))
    assert (code, "fault" in said) == (0, False), said
    assert verify(exported(without=[3, 4, 7], about=ABOUT))[0] == 1


def test_a_gap_that_somebody_accounted_for_is_shown_and_no_fault(verify):
    nobody = a_statement(3, 7, by="ada", unstated=True)
    code, said = verify(exported(records=[*RECORDS[:3], *RECORDS[6:], nobody]))
    assert code == 0
    assert "note: nobody stated what became of offsets 3 to 6 of answers/0, as ada recorded at" in said


def test_without_statements_it_says_as_before_that_records_may_be_left_out(verify):
    code, said = verify(exported(records=RECORDS[:2]))
    assert (code, "not proved: that no record was left out;" in said) == (0, True)
