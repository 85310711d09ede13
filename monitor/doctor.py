"""`monitor doctor`: is everything there that a run needs, and if not, how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from monitor.app import Application
from monitor.errors import Fatal, MonitorError
from monitor.store.database import retriable, revisions

PROBE = "Is the support line open on Sundays?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found. `mended_by` says what to do where `good` is False."""

    check: str
    good: bool
    detail: str
    mended_by: str = ""


def examine(application: Application) -> Iterator[Finding]:
    """Runs every check in turn, each on its own: one that fails does not keep the others from running.

    Changes nothing but what starting the embedded database and building the encoder's graph do.
    """
    checks: dict[str, tuple[Callable[[Application], str], str]] = {
        "database": (_database, "start the server, or unset MONITOR_DATABASE_URL to use the embedded one"),
        "migrations": (_migrations, "run `monitor migrate`"),
        "embedder": (_embedder, "see MONITOR_EMBEDDING__PROVIDER and docs/embedding.md"),
        "profile": (_profile, "set MONITOR_PROFILE to one made for this embedder"),
        "alert rules": (_rules, "mend the file that MONITOR_RULES names"),
        "receivers": (_receivers, "see docs/alerts.md for how to set up Slack"),
    }
    for name, (check, mended_by) in checks.items():
        try:
            yield Finding(check=name, good=True, detail=check(application))
        except MonitorError as error:
            yield Finding(check=name, good=False, detail=str(error), mended_by=mended_by)


def _database(application: Application) -> str:
    with retriable(), application.engine.connect() as connection:
        version = connection.exec_driver_sql("SHOW server_version").scalar_one()
    kind = "embedded" if application.settings.database_url is None else "MONITOR_DATABASE_URL"
    return f"PostgreSQL {version} ({kind})"


def _migrations(application: Application) -> str:
    current, head = revisions(application.engine)
    if current != head:
        raise Fatal(f"the database is at {current or 'no revision'}, this release needs {head}")
    return f"at {head}"


def _embedder(application: Application) -> str:
    embedder = application.embedder
    vector = embedder.embed([PROBE])
    return f"{embedder.model}, {vector.shape[1]} dimensions"


def _profile(application: Application) -> str:
    profile = application.profile
    state = "calibrated" if profile.calibrated else "uncalibrated for your app"
    return f"{profile.name} ({profile.hash}), {state}"


def _rules(application: Application) -> str:
    rules = application.rules
    return f"{len(rules)}: {', '.join(rule.name for rule in rules)}"


def _receivers(application: Application) -> str:
    found = [f"{name}: {receiver.check()}" for name, receiver in application.receivers.items()]
    return "; ".join(found)
