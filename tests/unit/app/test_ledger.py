"""The ledger in words."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from monitor.app.ledger import complaints, ledger_json, losses, totals
from monitor.cli.ledger import ledger_table
from monitor.store.ledger.ledger import LedgerRow, Recount
from monitor.store.tables.ledger import LEDGER


def a_row(*, group="monitor", topic="answers", partition=0, live=True, **counts):
    known = {"received": 10, "assessed": 6, "duplicate": 1, "dead": 2, "pending": 1, "spanned": 10}
    return LedgerRow(
        group=group,
        topic=topic,
        partition=partition,
        live=live,
        next_offset=10,
        counts={**dict.fromkeys(LEDGER, 0), **known, **counts},
    )


def a_recount(**over):
    known = {
        "topic": "answers",
        "partition": 0,
        "assessed": 6,
        "pending": 1,
        "interactions": 7,
        "dead": 2,
        "letters": 2,
    }
    return Recount(**{**known, **over})


def shown(*rows, width=200):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(ledger_table(rows))
    return console.file.getvalue()


def test_where_all_is_in_balance_there_is_nothing_to_complain_of():
    assert list(complaints([a_row(), a_row(spanned=0)], [a_recount()])) == []
    assert list(complaints([], [a_recount(interactions=4, removed=3)])) == []


def test_what_retention_has_removed_is_said_where_rows_are_missing_all_the_same():
    (line,) = complaints([], [a_recount(interactions=3, removed=3)])
    assert line.endswith("3 interactions are stored and 3 removed by retention (-1)")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"received": 12, "spanned": 12}, "differ by 2: 2 messages are in no outcome"),
        ({"assessed": 7}, "differ by -1: 1 messages are in more than one outcome"),
        ({"spanned": 13}, "differ by 3: 3 offsets were neither read nor skipped"),
        ({"tombstone": 4}, "differ by -4: 4 messages were counted twice"),
    ],
)
def test_a_difference_is_named_with_its_place_and_size(counts, said):
    (line,) = complaints([a_row(), a_row(partition=3, **counts)], [])
    assert line.startswith("monitor, answers/3: ")
    assert line.endswith(said)


def test_a_recount_that_differs_says_what_is_stored():
    recounted = [a_recount(interactions=5, letters=4), a_recount(partition=1, pending=0)]
    assert list(complaints([a_row()], recounted)) == [
        "answers/0: 6 were counted as assessed and 1 as pending, 5 interactions are stored (-2)",
        "answers/0: 2 were counted as dead and not purged, 4 open dead letters are stored (+2)",
        "answers/1: 6 were counted as assessed, 7 interactions are stored (+1)",
    ]


def test_messages_that_expired_unread_are_a_loss_and_no_imbalance():
    rows = [a_row(), a_row(partition=1, expired=4, spanned=14), a_row(topic="b", expired=3, spanned=13)]
    assert list(complaints(rows, [])) == []
    assert list(losses(rows[:1])) == []
    assert list(losses(rows)) == [
        "7 messages were deleted by the broker's retention before they were read: 4 of answers/1, 3 of b/0"
    ]


def test_messages_of_unreadable_batches_are_a_loss_and_no_imbalance():
    rows = [a_row(unreadable=3, spanned=13)]
    assert list(complaints(rows, [])) == []
    assert list(losses(rows)) == [
        (
            "3 messages were in record batches that cannot be decompressed; "
            "the first message of each is recorded as a dead letter: "
            "3 of answers/0"
        )
    ]


def test_interactions_that_were_gone_before_their_assessment_are_told_and_no_imbalance():
    rows = [a_row(called_off=3), a_row(partition=1, called_off=1), a_row(topic="b")]
    assert list(complaints(rows, [])) == []
    assert list(losses(rows)) == [
        (
            "4 messages were never assessed, since their interactions were erased or removed by retention first: "
            "3 of answers/0, 1 of answers/1"
        )
    ]


def test_the_table_has_a_line_for_each_partition_and_one_for_all():
    text = shown(
        a_row(),
        a_row(group="rescore-1", partition=1, live=False, tombstone=2, control=1, spanned=13),
        a_row(topic="[bold]\x1b[2J"),
    )
    lines = [line.split() for line in text.splitlines()]
    assert lines[0][:2] == ["group:", "topic/partition"]
    assert lines[1] == ["monitor:", "answers/0", "10", "6", "1", "2", "1", "10"]
    assert "rescore-1 (rescore)" in text
    assert "2 tombstone, 1 control" in text
    assert "[bold]\ufffd[2J" in text
    assert lines[-1] == ["all", "30", "18", "3", "6", "3", "2", "tombstone,", "1", "control"]
    assert "all" not in shown(a_row()).split()


def test_no_number_is_cut_on_a_narrow_terminal():
    text = shown(a_row(topic="/var/log/answers.jsonl#10510428-6b9d648e912a18da", received=1_234_567_890), width=80)
    assert "…" not in text
    for words in ("1234567890", "assessed", "duplicate", "next", "  10\n"):
        assert words in text


def test_as_json_everything_is_there():
    found = ledger_json([a_row(), a_row(assessed=7)], None)
    assert found["balanced"] is False
    assert [row["balanced"] for row in found["rows"]] == [True, False]
    assert found["rows"][1]["unaccounted"] == -1
    assert found["total"] == totals([a_row(), a_row(assessed=7)])
    assert found["total"]["assessed"] == 13
    assert "recount" not in found
    assert ledger_json([a_row()], [a_recount()])["balanced"] is True
    recounted = ledger_json([a_row()], [a_recount(letters=0)])
    assert recounted["balanced"] is False
    assert recounted["recount"][0]["open_dead_letters"] == 0
    assert ledger_json([], None) == {"balanced": True, "rows": [], "total": dict.fromkeys(LEDGER, 0)}
