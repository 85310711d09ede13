"""What the doctor says of the turns of the last hour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pytest
from sqlalchemy import Engine

from monitor.app.doctor.stored import check_turns
from monitor.core.errors import Fatal
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE
from monitor.store.interaction.overview import OverviewStore
from tests.factories.answers import a_batch, an_assessment, an_interaction, at


@dataclass
class Installation:
    """What the check asks of the application."""

    engine: Engine
    overview: OverviewStore

    def now(self) -> datetime:
        return at(0)


@pytest.fixture
def installation(engine):
    return Installation(engine, OverviewStore(engine))


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
