"""What every `AlertStore` promises of its lock, of a busy database and of one out of reach."""

from __future__ import annotations

import pytest
from sqlalchemy import event, text

from monitor.alert.signal import Signal, SignalKind
from monitor.core.errors import Retriable
from monitor.store import database
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.database import connect
from tests.factories.alert.stored_alerts import ALL, DIGEST, FIRING, PENDING, change, rate, save
from tests.factories.answers import NOON


def test_the_lock_that_nobody_holds_is_ours_and_is_given_back(store):
    with pytest.raises(ZeroDivisionError), store.evaluating():
        raise ZeroDivisionError
    for _ in range(3):
        with store.evaluating() as ours:
            assert ours


def test_the_lock_that_another_replica_holds_is_not_ours(backend, store, request):
    if backend == "memory":
        store.locked_by_another = True
        with store.evaluating() as ours:
            assert not ours
        return
    another = PostgresAlertStore(request.getfixturevalue("engine"))
    with another.evaluating() as theirs:
        assert theirs
        for _ in range(2):  # giving back what was not ours does not free it
            with store.evaluating() as ours:
                assert not ours
    with store.evaluating() as ours:
        assert ours


def test_the_server_watches_the_session_of_the_lock(backend, store, request):
    """Without a host there is nobody to close the session: the server has to ask. On a Unix socket all are 0."""
    if backend == "memory":
        return
    engine, opened, sent = request.getfixturevalue("engine"), [], []
    event.listen(engine, "engine_connect", opened.append)
    event.listen(engine, "before_cursor_execute", lambda *its: sent.append(its[2]))
    with store.evaluating() as ours:
        assert ours
        assert all(f"SET tcp_keepalives_{its}" in sent[0] for its in ("idle = 10", "interval = 5", "count = 3"))
        asked = [opened[-1].scalar(text(f"SHOW tcp_keepalives_{name}")) for name in ("idle", "interval", "count")]
    local = engine.url.query.get("host", engine.url.host or "/").startswith("/")
    assert asked == (["0", "0", "0"] if local else ["10", "5", "3"])


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(database, "_BOUNDS", text("SET LOCAL statement_timeout = 500; SET LOCAL lock_timeout = 200"))


@pytest.mark.usefixtures("impatient")
def test_what_somebody_else_has_locked_is_not_waited_for(backend, store, request):
    if backend == "memory":
        return
    save(store, change(None, PENDING))
    with request.getfixturevalue("engine").begin() as another:
        another.execute(text("SELECT * FROM alert FOR UPDATE"))
        with pytest.raises(Retriable, match="lock timeout"):
            save(store, change(PENDING, FIRING))
        another.execute(text("LOCK TABLE verdict_hour, verdict_minute, reading, rule_state, alert_event"))
        for read in (
            lambda: store.counts(rate("negative"), {}, (), [ALL]),
            lambda: store.hour_sums(rate("negative"), {}, (), ALL),
            lambda: store.watermark(NOON),
            lambda: store.memory(DIGEST),
            lambda: store.active_spans(DIGEST, NOON),
        ):
            with pytest.raises(Retriable, match="lock timeout"):
                read()
    save(store, change(PENDING, FIRING))
    assert store.alerts() == [FIRING]


@pytest.mark.usefixtures("impatient")
def test_a_statement_that_takes_too_long_is_a_busy_database(backend, request):
    if backend == "memory":
        return
    engine = request.getfixturevalue("engine")
    with pytest.raises(Retriable, match="statement timeout"), database.bounded(engine) as connection:
        connection.execute(text("SELECT pg_sleep(60)"))  # the time limit ends it
    with engine.connect() as connection:
        assert connection.scalar(text("SHOW statement_timeout")) == "0"  # of that transaction only


@pytest.fixture
def lost(backend, store):
    """A store that cannot be reached."""
    if backend == "memory":
        store.out_of_reach = True
        yield store
        return
    engine = connect("postgresql://127.0.0.1:1/nothing")
    yield PostgresAlertStore(engine)
    engine.dispose()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.alerts(),
        lambda s: s.watermark(NOON),
        lambda s: s.memory(DIGEST),
        lambda s: save(s, change(None, PENDING)),
        lambda s: s.end([change(None, PENDING)], []),
        lambda s: s.counts(rate("negative"), {}, (), [ALL]),
        lambda s: s.hour_sums(rate("negative"), {}, (), ALL),
        lambda s: s.momentary(Signal(kind=SignalKind.LEDGER), NOON),
        lambda s: s.active_spans(DIGEST, NOON),
        lambda s: s.evaluating().__enter__(),
    ],
    ids=[
        "alerts",
        "watermark",
        "memory",
        "save",
        "end",
        "counts",
        "hour_sums",
        "momentary",
        "active_spans",
        "evaluating",
    ],
)
def test_a_store_out_of_reach_is_retriable(lost, call):
    with pytest.raises(Retriable):
        call(lost)
