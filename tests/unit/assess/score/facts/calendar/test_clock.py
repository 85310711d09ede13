"""Times of day in figures, words and Chinese characters, also where the half of the day is only at the range's end."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing


def lacking(answer, document):
    return [fact.text for fact in missing(answer, FactIndex.of([document]))]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It is open 9–5 pm.", "9:00 to 17:00"),
        ("It is open from 9 to 5 pm.", "9:00-17:00"),
        ("It is open from 9 am to 5 pm.", "9-17 Uhr"),
        ("It is open from 9.", "It is open 9 to 5 pm."),
        ("It is open at five pm.", "It is open at 17:00."),
        ("It is open at 5 pm.", "It is open at five o'clock."),
        ("下午5点开门。", "17:00"),
        ("17:00", "午後5時に開きます。"),
        ("15时30分开门。", "15:30"),
        ("오후 5시에 엽니다.", "17:00"),
    ],
)
def test_times(answer, document):
    assert lacking(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It is open from 10 to 5 pm.", "9:00-17:00"),
        ("It is open at five pm.", "It is open at 6 pm."),
        ("下午5点开门。", "6:00"),
        ("15时30分开门。", "15:20"),
    ],
)
def test_another_time_is_not_held(answer, document):
    assert len(lacking(answer, document)) == 1
