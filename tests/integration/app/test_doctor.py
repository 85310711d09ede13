"""What the doctor says of the turns of the last hour, and of what waits to be sealed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pytest
from sqlalchemy import Engine

from monitor.app.doctor.stored import check_audit, check_turns
from monitor.app.doctor.words import Warned
from monitor.app.wiring.audit import Auditing
from monitor.core.errors import Fatal
from monitor.core.message import Progress
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE
from monitor.core.settings.load import Settings, load_settings
from monitor.store.interaction.overview import OverviewStore
from monitor.store.ledger.progress import ReadingStore
from tests.factories.answers import a_batch, an_assessment, an_interaction, at


@dataclass
class Installation:
    """What the check asks of the application."""

    engine: Engine
    overview: OverviewStore
    auditing: Auditing
    settings: Settings
    minute: int = 0

    def now(self) -> datetime:
        return at(self.minute)


@pytest.fixture
def installation(engine):
    settings = load_settings()
    return Installation(engine, OverviewStore(engine), Auditing(settings, lambda: engine), settings)


def stored(writer, reason, number, *, app="shop", minute=-5):
    turns = [
        an_interaction(id=f"{app}-{reason}-{n}", app=app, occurred_at=at(minute), unscored=reason)
        for n in range(number)
    ]
    writer.write(a_batch(unscored=tuple(turns), received=number))


def test_an_hour_without_turns_is_well(installation):
    assert check_turns(installation).startswith("none in the hour up to ")


def test_turns_without_texts_are_told_with_what_to_switch_on(writer, installation):
    writer.write(a_batch(*(an_assessment(id=str(n), app="shop", occurred_at=at(-3)) for n in range(5))))
    stored(writer, Unscored.NO_DOCUMENT_TEXT, 3)
    with pytest.raises(Fatal, match="38% of shop's 8 turns carry no document text") as raised:
        check_turns(installation)
    assert UNSCORED_ADVICE[Unscored.NO_DOCUMENT_TEXT] in str(raised.value)


def test_turns_that_need_no_scores_and_those_of_earlier_hours_are_no_fault(writer, installation):
    stored(writer, Unscored.NO_RETRIEVAL, 2)
    stored(writer, Unscored.CONTENT_NOT_CAPTURED, 2, app="old", minute=-90)
    assert check_turns(installation) == "in the last hour 100% of shop's 2 turns looked nothing up"


def test_rows_that_wait_where_nothing_runs_are_a_reminder_with_the_next_step(writer, installation):
    writer.write(a_batch(an_assessment(id="a")))
    assert check_audit(installation).startswith("0 leaves, 0 signed; by monitor+")
    installation.minute = 30
    assert check_audit(installation) == Warned(
        detail="1 row to be sealed, the oldest waiting for 30 minutes; no process runs that seals",
        mended_by="`monitor audit seal`, or start `monitor run`",
    )


def test_rows_that_wait_although_processes_run_are_a_fault(writer, installation):
    writer.write(a_batch(an_assessment(id="a")))
    installation.minute = 30
    reading = ReadingStore(installation.engine)
    progress = [Progress(topic="answers", partition=0, through=at(0), behind=0)]
    reading.note("monitor", progress, at(5))  # one that ended before the rows had waited too long
    assert isinstance(check_audit(installation), Warned)
    reading.note("monitor", progress, at(29))
    with pytest.raises(Fatal, match=r"^1 row .* although a process was at work at 2025-11-21 12:29 UTC$"):
        check_audit(installation)
