"""Rounds of retention: the timer, and what is in doubt because a clock may be ahead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Event

import pytest

from monitor.app.privacy.retention import Rounds, doubt, due, scheduled_retention, trusted_time
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.privacy.retention import Keeping, Policy
from monitor.store.interaction.writer import Writer
from monitor.store.privacy.retention import Retention
from tests.factories.answers import NOON, a_batch, clock
from tests.rig.store.keys import QUEUE_KEY, SIGNER
from tests.rig.store.privacy import told
from tests.rig.store.retaining import AUGUST, DAY, MONTHS, NOVEMBER, ids, removed
from tests.rig.waiting import until

YEAR = Policy(others=Keeping(keep=345 * DAY))


@pytest.fixture
def retention(engine):
    return Retention(engine)


def doubted(retention, policy, now):
    return doubt(retention, due(retention, policy, now), now)


@pytest.fixture
def application(database, tmp_path):
    """Builds one by its clock, with the key of the tests; it keeps interactions for 75 days."""
    key = tmp_path / "key"
    key.write_text(SIGNER.private_key)
    key.chmod(0o600)

    def build(now=clock, keep="75d"):
        settings = load_settings(database_url=database, retention={"keep": keep}, audit={"key_file": key})
        return Application(settings, now=now)

    return build


def test_it_runs_beside_the_events(application, writer, rows):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", NOVEMBER)))
    with application() as ours:
        with scheduled_retention(ours):
            until("the month is gone", lambda: ids(rows) == ["q-2"])
        assert not ours.retention_refused
        with scheduled_retention(application(keep=None)):
            assert ids(rows) == ["q-2"]


@pytest.fixture
def months_of_answers(database):
    """Ten a month for a year, each stored when it occurred; the last is of NOON."""
    for months in range(12):
        at = NOON - months * 30 * DAY
        writer = Writer(database, lambda at=at: at, queue_key=QUEUE_KEY)
        writer.write(a_batch(*(told(f"q-{months}-{n}", at) for n in range(10))))
        writer.close()


@pytest.mark.usefixtures("months_of_answers")
def test_what_falls_due_from_day_to_day_goes_without_a_question(retention):
    assert doubted(retention, YEAR, NOON) is None
    assert doubted(retention, YEAR, NOON + 15 * DAY + timedelta(seconds=1)) is None
    assert sum(removed(retention, YEAR, NOON + 16 * DAY).values()) == 10


@pytest.mark.usefixtures("months_of_answers")
@pytest.mark.parametrize("ahead", [18, 60, 365, 3650])
def test_a_clock_that_is_ahead_of_the_newest_answer_removes_nothing(retention, ahead):
    why = doubted(retention, YEAR, NOON + ahead * DAY)
    assert (
        f"of 120 interactions have been due for more than 2 days, and nothing was stored since {NOON:%Y-%m-%d}" in why
    )
    assert "run `monitor retention --yes`" in why


@pytest.mark.usefixtures("months_of_answers")
def test_a_clock_that_is_ahead_while_answers_are_stored_with_it_removes_nothing(database, retention):
    later = NOON + 90 * DAY
    writer = Writer(database, lambda: later, queue_key=QUEUE_KEY)
    writer.write(a_batch(told("q-1", later)))
    writer.close()
    assert "30 of 121 interactions have been due for more than 2 days: rounds were missed" in doubted(
        retention, YEAR, later
    )


@pytest.mark.usefixtures("months_of_answers")
def test_a_length_that_was_shortened_needs_a_person(retention):
    assert "90 of 120" in doubted(retention, MONTHS, NOON)


def test_an_imported_history_is_no_reason_to_doubt(writer, retention):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", AUGUST), told("q-3", NOVEMBER)))
    assert doubted(retention, MONTHS, NOON) is None


def test_the_clock_of_the_database_counts_where_it_is_earlier(retention, caplog):
    there = retention.clock()
    assert abs(there - datetime.now(UTC)) < timedelta(minutes=1)
    assert trusted_time(retention, NOON) == NOON
    assert not caplog.messages
    assert there <= trusted_time(retention, there + 400 * DAY) < there + DAY
    assert "set it right" in caplog.text


@pytest.mark.usefixtures("months_of_answers")
def test_the_timer_removes_nothing_that_is_in_doubt_and_says_what_to_do(application, rows, caplog):
    with application(now=lambda: NOON + 60 * DAY, keep="345d") as ours, scheduled_retention(ours):
        until("it is refused", lambda: ours.retention_refused)
    assert "retention removed nothing: 20 of 120 interactions" in caplog.text
    assert "`monitor retention --yes`" in caplog.text
    assert len(ids(rows)) == 120


@pytest.mark.usefixtures("months_of_answers")
def test_what_a_person_has_confirmed_elsewhere_is_no_longer_refused(application, retention, rows, monkeypatch, caplog):
    monkeypatch.setattr("monitor.app.privacy.retention.LOOKS", 0.05)
    later = NOON + 60 * DAY
    with application(now=lambda: later, keep="345d") as ours, scheduled_retention(ours):
        until("it is refused", lambda: ours.retention_refused)
        confirmed = removed(retention, YEAR, later)  # as `monitor retention --yes` removes, in a process of its own
        until("it looked again", lambda: not ours.retention_refused)
    assert sum(confirmed.values()) == 120 - len(ids(rows))
    assert caplog.text.count("retention removed nothing") == 1  # however often it looked


def test_looks_at_what_was_refused_take_a_small_share_of_the_time(application, monkeypatch):
    """A look counts all that is stored, which takes minutes in a large database."""
    now, asked = [1000.0], []
    monkeypatch.setattr("monitor.app.privacy.retention.monotonic", lambda: now[0])
    with application() as ours:
        rounds = Rounds(ours, YEAR, Event())
        monkeypatch.setattr("monitor.app.privacy.retention.doubt", lambda *_: now.append(now.pop() + 60) or "a clock")
        rounds.remove_due()
        for minutes in (5, 10, 19, 20, 30):
            now[0] = 1060 + minutes * 60
            rounds.look_again(lambda minutes=minutes: asked.append(minutes))
        ours.retention_refused = False
        rounds.look_again(lambda: asked.append("although nothing is refused"))
    assert asked == [20, 30]


def test_a_round_of_another_replica_is_not_refused_here(application, retention):
    with retention.holding(), application() as ours:
        ours.retention_refused = True  # by the round of the day before
        with scheduled_retention(ours):
            until("it is no longer said", lambda: not ours.retention_refused)


def test_a_wrong_length_is_said_at_the_start(database):
    settings = load_settings(database_url=database, retention={"keep": "soon"})
    wrong = pytest.raises(WrongSettings, match="'soon' is not a duration")
    with Application(settings) as application, wrong, scheduled_retention(application):
        pass
