"""`monitor doctor`: checks everything that a run needs, and says how to mend what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

from typing_extensions import override

from monitor.alert.receivers import receivers
from monitor.alert.rules.file import DEFAULT_RULES, read_rules
from monitor.alert.rules.version import SHIPPED, name_of
from monitor.app.reference import State, listed
from monitor.app.wiring.application import Application, utc_now
from monitor.app.wiring.export import destinations
from monitor.app.wiring.lookup import sources
from monitor.app.wiring.models import chat_model
from monitor.app.wiring.prices import prices_of
from monitor.assess.complete.sidecar import PROMPTS
from monitor.assess.judge.registry import metrics
from monitor.assess.llm.exchange import Block, Purpose, Request, Reservation, Spend
from monitor.assess.ports import Budget
from monitor.core.errors import Fatal, MonitorError
from monitor.core.model import SENDING, Unscored
from monitor.core.plugins import GROUPS, announced
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_WORDS
from monitor.core.settings.load import Settings, unknown_names
from monitor.ingest.dialects import dialects
from monitor.store.audit.proofs import Proofs
from monitor.store.database import retriable
from monitor.store.interaction.turns.unscored_counts import unscored_shares
from monitor.store.migrate import schema_state
from monitor.store.pending.queue import PendingQueue
from monitor.store.reference.references import ReferenceStore

_NAMED = 5  # apps of a finding
_TOO_MANY = 0.1  # share of an app's turns without texts that a switch would bring
_SWITCHED_OFF = (Unscored.CONTENT_NOT_CAPTURED, Unscored.NO_DOCUMENT_TEXT)
_SEALED_WITHIN = 600.0  # seconds; rows that wait longer are not being sealed
NO_DOCUMENT = "monitor-doctor"  # an id that a look-up may be asked for
PROBE = "Is the support line open on Sundays?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check. `mended_by` says what to do if `good` is False."""

    check: str
    good: bool
    detail: str
    mended_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    name: str
    run: Callable[[Application], str]
    mended_by: str
    needs: str | None = None


def examine(application: Application) -> Iterator[Finding]:
    """Runs every check in turn; a check that needs one that failed is skipped and says so.

    Changes nothing, except that it starts the embedded database and builds the encoder's graph.
    """
    failed: set[str] = set()
    for check in _CHECKS:
        if check.needs in failed:
            failed.add(check.name)
            yield Finding(check=check.name, good=False, detail="not checked", mended_by=f"mend the {check.needs} first")
            continue
        try:
            yield Finding(check=check.name, good=True, detail=check.run(application))
        except MonitorError as error:
            failed.add(check.name)
            yield Finding(check=check.name, good=False, detail=str(error), mended_by=check.mended_by)


def _settings(_: Application) -> str:
    slips = unknown_names()
    if slips:
        raise Fatal(f"not settings of monitor: {', '.join(slips)}")
    return "every MONITOR_… variable is a setting"


def _plugins(_: Application) -> str:
    for load in (dialects, receivers, metrics):
        load()
    added = [
        f"{group.rpartition('.')[2].removesuffix('s')} {name} of {package}"
        for group in GROUPS
        for name, package in announced(group)
    ]
    return ", ".join(added) or "no installed package adds anything"


def _database(application: Application) -> str:
    with retriable(), application.engine.connect() as connection:
        version = connection.exec_driver_sql("SHOW server_version").scalar_one()
    kind = "embedded" if application.settings.database_url is None else "MONITOR_DATABASE_URL"
    return f"PostgreSQL {version} ({kind})"


def _migrations(application: Application) -> str:
    return schema_state(application.engine)


def _embedder(application: Application) -> str:
    embedder = application.embedder
    vector = embedder.embed([PROBE])
    return f"{embedder.model}, {vector.shape[1]} dimensions"


def _detector(application: Application) -> str:
    detector = application.detector
    return "not set: MONITOR_DETECTOR__PATH" if detector is None else f"{detector.model} on {detector.device}"


def _profile(application: Application) -> str:
    profile = application.profile
    state = "calibrated" if profile.calibrated else "uncalibrated for your app"
    return f"{profile.name} ({profile.hash}), {state}"


def _references(application: Application) -> str:
    profile = application.profile
    if not schema_state(application.engine).startswith("at "):
        return "none is frozen yet"
    found = listed(ReferenceStore(application.engine), profile=(profile.hash, profile.embedding_model))
    if not found:
        return "none is frozen: the threshold of the profile decides what is looked at first"
    if stale := sorted({one.frozen.app for one in found if one.state is State.OTHER_PROFILE}):
        raise Fatal(f"made with another profile than {profile.name} ({profile.hash}), so without ranks: {_few(stale)}")
    if changed := [one.hash for one in found if one.state is State.CHANGED]:
        raise Fatal(f"not what was frozen, and not used: {_few(changed)}")
    ranked = [one for one in found if one.state is State.IN_FORCE]
    return f"{len(ranked)} in force, of {len({one.frozen.app for one in ranked})} apps"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _kafka(application: Application) -> str:
    kafka = application.settings.kafka
    if not kafka.bootstrap_servers and not kafka.topics and kafka.topic_pattern is None:
        return "not set: `monitor run` follows files, `monitor collect` takes traces and events"
    topics = application.kafka.partitions()
    found = [f"{topic} ({number} partition{'s' * (number != 1)})" for topic, number in topics.items()]
    return f"{', '.join(kafka.bootstrap_servers)}: {', '.join(found) or 'no topic matches the pattern yet'}"


def _lookup(application: Application) -> str:
    """Asks every source for a document that there is not."""
    found = []
    for name, source in sources(application.settings.lookup).items():
        with closing(source):
            source.texts(application.settings.ingest.app, [NO_DOCUMENT])
        found.append(f"{name}: {source.describe()} answers")
    return "; ".join(found) or "not set: texts that a trace does not hold stay unknown, see docs/operate/lookup.md"


def _language_models(application: Application) -> str:
    settings = application.settings
    found = []
    if settings.sidecar.mode != "off":
        found.append(f"sidecar ({settings.sidecar.mode}): {_asked(settings, Purpose.SIDECAR)}")
    if settings.judge.mode != "off":
        found.append(f"judge ({settings.judge.mode}): {_asked(settings, Purpose.JUDGE)}")
    if not found:
        return "not used: MONITOR_SIDECAR__MODE and MONITOR_JUDGE__MODE are off"
    if not any(value is not None for value in settings.llm.budget.model_dump().values()):
        found.append("no budget is set: MONITOR_LLM__BUDGET__…")
    return "; ".join(found)


class _Uncounted(Budget):
    """A budget without limits, for one question: its table may not exist yet."""

    @override
    def reserve(self, purpose: Purpose, model: str, most: Spend) -> Reservation:
        return Reservation(purpose=purpose, model=model, at=utc_now(), spend=most)

    @override
    def settle(self, reservation: Reservation, spend: Spend) -> None:
        pass


def _asked(settings: Settings, purpose: Purpose) -> str:
    """Sends the explain prompt with one line of text."""
    blocks = [Block(name=name, text=PROBE) for name in ("question", "document 1", "answer")]
    with closing(chat_model(settings, purpose, _Uncounted())) as model:
        reply = model.ask(Request(prompt=PROMPTS["explain"], blocks=tuple(blocks)))
    hint = ", after a repair; MONITOR_LLM__STRUCTURE=json_object would save calls" if reply.repaired else ""
    return f"{model.model} answers in the requested form{hint}"


def _export(application: Application) -> str:
    found, problems = list[str](), list[str]()
    for destination in destinations(application.settings):
        with closing(destination):
            try:
                found.append(destination.check())
            except MonitorError as error:
                problems.append(str(error))
    if not found and not problems:
        return "not used: no MONITOR_EXPORT__… is set"
    if schema_state(application.engine).startswith("at "):
        counts = PendingQueue(application.engine).counts(application.now(), *SENDING)
        if lost := sum(count.given_up for count in counts):
            why = max(count.last_error or "" for count in counts)
            problems.append(f"verdicts that were refused and given up: {lost}; {why}")
        found.append(f"verdicts that wait to be sent: {sum(count.waiting for count in counts)}")
    if problems:
        raise Fatal("; ".join([*problems, *found]))
    return "; ".join(found)


def _rules(application: Application) -> str:
    alerting = application.alerting
    if application.settings.rules is None and not schema_state(application.engine).startswith("at "):
        rules, origin = alerting.parse_rules(read_rules(None), DEFAULT_RULES).rules, name_of(SHIPPED)
    else:
        in_force = alerting.rules_in_force()
        rules, origin = in_force.rules.rules, in_force.origin
        if in_force.problem:
            raise Fatal(f"{origin} is in force, because {in_force.problem}")
    return f"{origin}, {len(rules)}: {', '.join(rule.name for rule in rules)}"


def _prices(application: Application) -> str:
    table = prices_of(application.settings)
    if table is None:
        return "not set: MONITOR_PRICES, so answers have no cost"
    number = len(table.models)
    return f"{number} price{'s' * (number != 1)} in {table.currency}: {_few([one.model for one in table.models])}"


def _receivers(application: Application) -> str:
    application.alerting.patience(application.alerting.receivers)
    found = [f"{name}: {receiver.check()}" for name, receiver in application.alerting.receivers.items()]
    return "; ".join(found)


def _audit(application: Application) -> str:
    audit = application.settings.audit
    if not audit.enabled:
        return "not sealed by this installation: MONITOR_AUDIT__ENABLED is false"
    keys = application.auditing.public_keys()
    key = f"by {keys[0]}" if keys else f"the first use creates a key in {application.auditing.key_file}"
    if not schema_state(application.engine).startswith("at "):
        return key
    status = Proofs(application.engine).status()
    if application.auditing.key_file.exists():
        application.auditing.sealer().check()
    if status.waiting_since is not None:
        waited = (application.now() - status.waiting_since).total_seconds()
        if waited > audit.every + _SEALED_WITHIN:
            raise Fatal(f"{status.waiting} rows wait to be sealed, the oldest for {waited:.0f} s")
    return f"{status.size} leaves, {status.signed} signed; {key}"


def _turns(application: Application) -> str:
    """The shares of the turns of the last hour that have no scores, by app and reason."""
    if not schema_state(application.engine).startswith("at "):
        return "none is stored yet"
    end = application.now().replace(second=0, microsecond=0)
    start = end - timedelta(hours=1)
    scored = {app: counts.total for app, counts in application.overview.totals(start, end).items()}
    shares = unscored_shares(application.engine, start, end, scored)
    found = [f"{one.share:.0%} of {one.app}'s {one.of} turns {UNSCORED_WORDS[one.reason]}" for one in shares]
    lost = [one for one in shares if one.reason in _SWITCHED_OFF and one.share >= _TOO_MANY]
    if lost:
        advice = dict.fromkeys(UNSCORED_ADVICE[one.reason] for one in lost)
        raise Fatal(f"in the last hour {_few(found)}: {'; '.join(advice)}")
    if not found:
        number = sum(scored.values())
        return f"{number} in the last hour, all with scores" if number else f"none in the hour up to {end:%H:%M} UTC"
    return f"in the last hour {_few(found)}"


_CHECKS = (
    _Check(name="settings", run=_settings, mended_by="correct or unset them; `monitor settings` lists all settings"),
    _Check(name="plugins", run=_plugins, mended_by="update or uninstall the package; see docs/develop/extend.md"),
    _Check(
        name="database",
        run=_database,
        mended_by="correct MONITOR_DATABASE_URL, or unset it to use the embedded database",
    ),
    _Check(name="migrations", run=_migrations, mended_by="run `monitor migrate`", needs="database"),
    _Check(
        name="embedder",
        run=_embedder,
        mended_by="check MONITOR_EMBEDDING__PROVIDER; see docs/operate/embedding.md",
    ),
    _Check(name="detector", run=_detector, mended_by="see docs/quality/detector.md"),
    _Check(
        name="profile",
        run=_profile,
        mended_by="set MONITOR_PROFILE to a profile for this embedder",
        needs="embedder",
    ),
    _Check(
        name="references",
        run=_references,
        mended_by="run `monitor reference freeze --app APP` for each; `monitor reference list` says which",
        needs="migrations",
    ),
    _Check(
        name="kafka",
        run=_kafka,
        mended_by="check the settings, see docs/operate/kafka.md; a missing topic may be created later",
    ),
    _Check(
        name="prices", run=_prices, mended_by="correct the file that MONITOR_PRICES names; see docs/operate/cost.md"
    ),
    _Check(name="document look-up", run=_lookup, mended_by="see docs/operate/lookup.md"),
    _Check(name="language models", run=_language_models, mended_by="see docs/quality/language-models.md"),
    _Check(name="receivers", run=_receivers, mended_by="see docs/on-call/receivers.md"),
    _Check(
        name="verdicts out",
        run=_export,
        mended_by="check MONITOR_EXPORT__…, see docs/operate/export.md; `monitor pending list` shows what waits",
    ),
    _Check(
        name="alert rules",
        run=_rules,
        mended_by="correct the file that MONITOR_RULES names, or save a version that can be used",
    ),
    _Check(
        name="turns",
        run=_turns,
        mended_by="see docs/start/traces.md; `monitor decode` shows what is read from a file of spans",
        needs="migrations",
    ),
    _Check(
        name="audit",
        run=_audit,
        mended_by="do what it says; if rows only wait, start `monitor run`, or run `monitor audit seal`",
        needs="migrations",
    ),
)
