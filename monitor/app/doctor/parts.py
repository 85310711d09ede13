"""Checks of what a run is made of: settings, database, models, rules."""

from __future__ import annotations

from monitor.alert.receivers import receivers
from monitor.alert.rules.file import DEFAULT_RULES, read_rules
from monitor.alert.rules.version import SHIPPED, name_of
from monitor.app.doctor.words import Warned, few
from monitor.app.reference import State, listed
from monitor.app.wiring.application import Application
from monitor.app.wiring.prices import prices_of
from monitor.assess.judge.registry import metrics
from monitor.core.errors import Fatal
from monitor.core.installed.plugins import GROUPS, announced
from monitor.core.settings.file import settings_file
from monitor.core.settings.load import readable_secrets, unknown_names
from monitor.core.text.plain import plural
from monitor.ingest.dialects import dialects
from monitor.store.database import retriable
from monitor.store.migrate import has_schema, schema_state
from monitor.store.reference.references import ReferenceStore

PROBE = "Is the support line open on Sundays?"


def check_settings(_: Application) -> str | Warned:
    slips = unknown_names()
    if slips:
        raise Fatal(f"not settings of monitor: {', '.join(slips)}")
    file = settings_file()
    read = "no settings file" if file is None else f"settings file: {file.absolute()}"
    if secrets := readable_secrets():
        return Warned(
            detail=f"{read}; every user of this machine can read {', '.join(secrets)} in it",
            mended_by=f"chmod 640 {file}; or give each secret in a file of its own, as MONITOR_…_FILE",
        )
    return f"every MONITOR_… variable is a setting; {read}"


def check_plugins(_: Application) -> str:
    for load in (dialects, receivers, metrics):
        load()
    added = [
        f"{group.rpartition('.')[2].removesuffix('s')} {name} of {package}"
        for group in GROUPS
        for name, package in announced(group)
    ]
    return ", ".join(added) or "no installed package adds anything"


def check_database(application: Application) -> str:
    with retriable(), application.engine.connect() as connection:
        version = connection.exec_driver_sql("SHOW server_version").scalar_one()
    kind = "embedded" if application.settings.database_url is None else "MONITOR_DATABASE_URL"
    return f"PostgreSQL {version} ({kind})"


def check_migrations(application: Application) -> str:
    return schema_state(application.engine)


def check_embedder(application: Application) -> str:
    embedder = application.assessing.embedder
    vector = embedder.embed([PROBE])
    return f"{embedder.model}, {vector.shape[1]} dimensions"


def check_detector(application: Application) -> str:
    detector = application.assessing.detector
    return "not set: MONITOR_DETECTOR__PATH" if detector is None else f"{detector.model} on {detector.device}"


def check_reranker(application: Application) -> str:
    reranker = application.assessing.reranker
    return "not set: MONITOR_RERANKER__PATH" if reranker is None else f"{reranker.model} on {reranker.device}"


def check_profile(application: Application) -> str:
    profile = application.assessing.profile
    state = "calibrated" if profile.calibrated else "uncalibrated for your app"
    return f"{profile.name} ({profile.hash}), {state}"


def check_references(application: Application) -> str:
    profile = application.assessing.profile
    if not has_schema(application.engine):
        return "none is frozen yet"
    found = listed(ReferenceStore(application.engine), profile=(profile.hash, profile.embedding_model))
    if not found:
        return "none is frozen: the threshold of the profile decides what is looked at first"
    if stale := sorted({one.frozen.app for one in found if one.state is State.OTHER_PROFILE}):
        raise Fatal(f"made with another profile than {profile.name} ({profile.hash}), so without ranks: {few(stale)}")
    if changed := [one.hash for one in found if one.state is State.CHANGED]:
        raise Fatal(f"not what was frozen, and not used: {few(changed)}")
    ranked = [one for one in found if one.state is State.IN_FORCE]
    return f"{len(ranked)} in force, of {len({one.frozen.app for one in ranked})} apps"


def check_rules(application: Application) -> str:
    alerting = application.alerting
    if application.settings.rules is None and not has_schema(application.engine):
        rules, origin = alerting.parse_rules(read_rules(None), DEFAULT_RULES).rules, name_of(SHIPPED)
    else:
        in_force = alerting.rules_in_force()
        rules, origin = in_force.rules.rules, in_force.origin
        if in_force.problem:
            raise Fatal(f"{origin} is in force, because {in_force.problem}")
    return f"{origin}, {len(rules)}: {', '.join(rule.name for rule in rules)}"


def check_prices(application: Application) -> str:
    table = prices_of(application.settings)
    if table is None:
        return "not set: MONITOR_PRICES, so answers have no cost"
    return f"{plural(len(table.models), 'price')} in {table.currency}: {few([one.model for one in table.models])}"
