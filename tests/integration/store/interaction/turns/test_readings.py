"""How stored follow-ups were read is put together again, whatever time a producer gave them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from monitor.core.model import Mark
from monitor.store.interaction.assessments import AssessmentQueries
from tests.factories.answers import a_batch
from tests.factories.conversations import READ_AS, a_follow_up


@pytest.mark.parametrize("when", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)])
def test_a_time_at_either_end_of_the_calendar_is_read(engine, writer, when):
    marks = frozenset({Mark.TIME_OUT_OF_RANGE})
    turns = [
        replace(a, interaction=replace(a.interaction, occurred_at=when + timedelta(minutes=n), marks=marks))
        for n, a in enumerate(a_follow_up())
    ]
    writer.write(a_batch(*turns))
    (row,) = AssessmentQueries(engine).with_assessments("q-2")
    assert row["read_as"]["text"] == READ_AS
