"""The long-running processes: `monitor run` reads, assesses and evaluates alert rules; `monitor consume` only reads.

`monitor collect` takes requests instead of reading. All of them store what the inbox holds, one process at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from monitor.alert.notify.loop import AlertLoop
from monitor.app.background.alert_rounds import alert_rounds
from monitor.app.background.collecting import collecting
from monitor.app.background.connecting import unless_stopped
from monitor.app.background.progress import recorded_progress
from monitor.app.background.sealer_process import sealer_process
from monitor.app.background.trimming import trimming
from monitor.app.metrics.health import Check, Health, Readiness, lives, polls
from monitor.app.metrics.pages import served
from monitor.app.metrics.stage_times import StageTimes
from monitor.app.metrics.timed_source import TimedSource
from monitor.app.pending.worker_process import worker_process
from monitor.app.privacy.retention import scheduled_retention
from monitor.app.probe.schedule import scheduled_probes
from monitor.app.report import scheduled_reports
from monitor.app.run_log import RunLog
from monitor.app.wiring.application import Application
from monitor.core.batch import Batch, Tally
from monitor.core.errors import WrongSettings
from monitor.core.ports import Source, Store
from monitor.core.retry import Interrupted
from monitor.core.stage import observed_by
from monitor.ingest.files import STDIN, FileSource
from monitor.ingest.follow import FollowSource
from monitor.ingest.mapping import EventMap
from monitor.store.collect.inbox import TOPICS
from monitor.store.interaction.writer import GROUP
from monitor.store.ledger.progress import ReadingStore

if TYPE_CHECKING:
    from monitor.ingest.kafka.consumer import KafkaSource
    from monitor.ingest.kafka.span import Span

log = logging.getLogger(__name__)
_NOTHING_TO_READ = (
    "nothing to read: name files, or set MONITOR_KAFKA__BOOTSTRAP_SERVERS and …_TOPICS; to run probes only, let "
    "MONITOR_PROBES name a file in which a probe has `every` or `at`; `monitor collect` takes what chatbots send"
)


def serve(
    application: Application,
    files: Sequence[Path],
    *,
    app: str | None,
    dialect: str | None,
    event_map: EventMap | None = None,
    stop: Event,
) -> Tally:
    """Reads `files`, or Kafka where none is named, and evaluates the alert rules, until `stop` is set or stdin ends.

    Without either it runs scheduled probes, and does what else goes by the clock. Returns the ledger of the run. After
    the start it waits for a database, broker or provider that goes away, for as long as it takes, and acknowledges
    nothing meanwhile.

    Raises:
        OutOfReach: the database or the broker is down at the start.
        WrongSettings: a file, a setting or a rule is wrong; nothing was read.
        Fatal: a service refused for good.
    """
    settings = application.settings
    if event_map is not None and not files:
        raise WrongSettings("--map is for files; the map of a topic stands in MONITOR_KAFKA__BY_TOPIC")
    if not files and not settings.kafka.bootstrap_servers:
        kafka = settings.kafka
        meant = app or dialect or kafka.topics or kafka.topic_pattern  # to read something
        if meant or not any(probe.scheduled for probe in application.probing.probes().values()):
            raise WrongSettings(_NOTHING_TO_READ)
        log.info("no files and no Kafka to read: running probes, alert rules and what else goes by the clock")
        return collect(application, stop.wait, receive_only=False, stop=stop)
    application.prepare()
    alerts = _alerts(application, application.alerting.loop())
    source: Source
    store: Store
    alive = lives  # files may wait for their writer for as long as they like
    if files:
        source, store = _files(application, files, stop), application.store
    else:
        try:
            store, topics = unless_stopped(stop, lambda: (application.kafka.store(), _topics(application)))
        except Interrupted:
            return Tally()
        source, alive = topics, _polls(application, topics)
    with _scheduled(application):
        return _flow(
            application,
            source,
            store,
            app=app,
            dialect=dialect,
            event_map=event_map,
            stop=stop,
            alive=alive,
            meanwhile=alerts,
        )


def collect(application: Application, receive: Callable[[], object], *, receive_only: bool, stop: Event) -> Tally:
    """Runs `receive`, which takes requests until `stop` is set, and does with them what `serve` does with files.

    With `receive_only` what comes is kept, and left to another process. Returns the ledger of the run; raises as
    `serve` does.
    """
    if receive_only:
        application.migrate()
        with _metrics(application, assesses=False):
            receive()
        return Tally()
    application.prepare()
    alerts = _alerts(application, application.alerting.loop())
    _log_setup(application)
    written = _written(application)
    with _scheduled(application), _metrics(application), alerts, worker_process(application):
        with collecting(application, stop, written) as inbox:
            receive()
        return inbox.tally


def consume(
    application: Application,
    *,
    app: str | None,
    dialect: str | None,
    stop: Event,
    span: Span | None = None,
    rescore: bool = False,
) -> Tally:
    """Reads Kafka until `stop` is set, or reads one span of it, without evaluating alert rules.

    With `rescore`, stored interactions get one more assessment, under the configured profile; earlier assessments stay,
    and alerts do not count the new ones. Returns the ledger of the run; raises as `serve` does.
    """
    application.prepare()
    of = application.assessing.profile.hash if rescore else ""
    try:
        store, source = unless_stopped(stop, lambda: (application.kafka.store(rescore=of), _topics(application, span)))
    except Interrupted:
        return Tally()
    tally = _flow(
        application,
        source,
        store,
        app=app,
        dialect=dialect,
        stop=stop,
        alive=_polls(application, source),
        meanwhile=nullcontext(),
        set_aside=not rescore,
    )
    if span is not None and not tally.received and not stop.is_set():
        group = application.settings.kafka.group_id
        log.warning("nothing to read: the span is empty, or the group %s has read it; name another --group", group)
    return tally


def _flow(
    application: Application,
    source: Source,
    store: Store,
    *,
    app: str | None,
    dialect: str | None,
    stop: Event,
    alive: Check,
    meanwhile: AbstractContextManager[None],
    event_map: EventMap | None = None,
    set_aside: bool = True,
) -> Tally:
    written = _written(application) if set_aside else RunLog(application.now).written
    flow = application.flow(
        TimedSource(source, application.process_metrics.read),
        app=app,
        dialect=dialect,
        event_map=event_map,
        stop=stop,
        written=written,
        store=store,
        set_aside=set_aside,
    )
    _log_setup(application)
    try:
        with _metrics(application, alive), meanwhile, ExitStack() as live:
            if not set_aside:
                return flow.run()
            live.enter_context(worker_process(application))
            live.enter_context(_recorded(application, source))
            inbox = live.enter_context(collecting(application, stop, written))
            tally = flow.run()
        return tally + inbox.tally
    finally:
        source.close()


def _log_setup(application: Application) -> None:
    kind = "embedded database" if application.settings.database_url is None else "database of MONITOR_DATABASE_URL"
    profile, embedder = application.assessing.profile, application.assessing.embedder
    log.info("storing in the %s, profile %s, embedder %s", kind, profile.name, embedder.model)
    sidecar, judge = application.settings.sidecar.mode, application.settings.judge.mode
    log.info("sidecar: %s; judge: %s", sidecar, judge)


@contextmanager
def _scheduled(application: Application) -> Iterator[None]:
    """Seals, reports, probes, removes and shrinks by the clock while the block runs."""
    with (
        trimming(application),
        sealer_process(application),
        scheduled_reports(application),
        scheduled_probes(application),
        scheduled_retention(application),
    ):
        yield


@contextmanager
def _alerts(application: Application, loop: AlertLoop) -> Iterator[None]:
    """Evaluates the rules, notifies receivers, and takes clicks in Slack while the block runs."""
    rules = ", ".join(rule.name for rule in loop.rules().rules)
    log.info("rules: %s; receivers: %s", rules, ", ".join(loop.receivers))
    interval = application.settings.evaluation_interval
    with application.alerting.listening(), alert_rounds(loop, interval=interval, now=application.now):
        yield


@contextmanager
def _metrics(application: Application, alive: Check = lives, *, assesses: bool = True) -> Iterator[None]:
    """Measures what this process does, and serves the metrics and its health, while the block runs."""
    settings, metrics = application.settings.metrics, application.process_metrics
    if assesses:
        profile = application.assessing.profile
        metrics.built(profile=profile.name, embedding_build=profile.embedding_model)
    health = Health(alive=alive, ready=Readiness(application.queries.ping).check)
    pages = served(application.metrics_pages, settings.host, settings.port, health)
    with observed_by(StageTimes(metrics.ended)), pages:
        yield


def _written(application: Application) -> Callable[[Batch, Tally], None]:
    """Logs each batch that is stored, and measures how long that took since its messages were received."""
    logged, metrics = RunLog(application.now).written, application.process_metrics

    def written(batch: Batch, tally: Tally) -> None:
        metrics.stored(batch.arrived, application.now())
        logged(batch, tally)

    return written


def _polls(application: Application, source: KafkaSource) -> Check:
    return polls(lambda: source.polled_at, application.settings.kafka.max_poll_interval_ms / 1000)


def _recorded(application: Application, source: Source) -> AbstractContextManager[None]:
    """Records the progress of the source, and first forgets topics and files that this group no longer reads."""
    reading, kafka = ReadingStore(application.engine), application.settings.kafka
    if isinstance(source, (FollowSource, FileSource)):
        group = GROUP
        reading.keep(group, (*(source.paths if isinstance(source, FollowSource) else ()), *TOPICS))
    else:
        group = kafka.group_id
        if kafka.topic_pattern is None:
            reading.keep(group, (*kafka.topics, *TOPICS))
    return recorded_progress(source, partial(reading.note, group), application.now)


def _topics(application: Application, span: Span | None = None) -> KafkaSource:
    kafka = application.settings.kafka
    source = application.kafka.source(span)
    topics = kafka.topic_pattern or ", ".join(kafka.topics)
    log.info("reading %s from %s as group %s", topics, ", ".join(kafka.bootstrap_servers), kafka.group_id)
    return source


def _files(application: Application, files: Sequence[Path], stop: Event) -> Source:
    limit = application.settings.ingest.max_message_bytes
    if list(files) == [STDIN]:
        return FileSource(files, max_message_bytes=limit, now=application.now)
    if STDIN in files:
        raise WrongSettings("-: standard input cannot be followed together with files")
    known = {topic: reached for (topic, _), reached in application.queries.offsets().items()}
    source = FollowSource(files, known=known, now=application.now, max_message_bytes=limit, stop=stop)
    for file in files:
        log.info("following %s%s", file, "" if file.exists() else ", which does not exist yet")
    return source
