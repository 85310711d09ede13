"""Runs the checks one after the other, and says how to mend what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from monitor.app.doctor.parts import (
    check_database,
    check_detector,
    check_embedder,
    check_migrations,
    check_plugins,
    check_prices,
    check_profile,
    check_references,
    check_reranker,
    check_rules,
    check_settings,
)
from monitor.app.doctor.probes import check_probes
from monitor.app.doctor.services import (
    check_authorities,
    check_collect,
    check_export,
    check_kafka,
    check_language_models,
    check_lookup,
    check_receivers,
    check_sign_in,
    check_traces,
)
from monitor.app.doctor.stored import check_audit, check_turns
from monitor.app.doctor.words import Warned
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check. `mended_by` is the next step: of a good one it makes a warning."""

    check: str
    good: bool
    detail: str
    mended_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check:
    name: str
    run: Callable[[Application], str | Warned]
    mended_by: str
    needs: str | None = None


def examine(application: Application) -> Iterator[Finding]:
    """Runs every check in turn; a check that needs one that failed is skipped and says so.

    So does one that meets the same fault as an earlier check. Changes nothing, except that it starts the embedded
    database and builds the encoder's graph.
    """
    failed: dict[str, str] = {}  # what was found, by check
    for check in _CHECKS:
        if check.needs in failed:
            failed[check.name] = ""
            yield _not_checked(check, check.needs)
            continue
        try:
            found = check.run(application)
            told = Warned(detail=found, mended_by="") if isinstance(found, str) else found
            yield Finding(check=check.name, good=True, detail=told.detail, mended_by=told.mended_by)
        except MonitorError as error:
            earlier = next((name for name, detail in failed.items() if detail == str(error)), None)
            failed[check.name] = str(error)
            if earlier is not None:
                yield _not_checked(check, earlier)
            else:
                yield Finding(check=check.name, good=False, detail=str(error), mended_by=check.mended_by)


def _not_checked(check: _Check, earlier: str) -> Finding:
    return Finding(check=check.name, good=False, detail="not checked", mended_by=f"mend the {earlier} first")


_CHECKS = (
    _Check(
        name="settings", run=check_settings, mended_by="correct or unset them; `monitor settings` lists all settings"
    ),
    _Check(
        name="plugins",
        run=check_plugins,
        mended_by="update or uninstall the package; see `monitor docs develop/extend`",
    ),
    _Check(
        name="database",
        run=check_database,
        mended_by="correct MONITOR_DATABASE_URL if it is set; without it the embedded database is used",
    ),
    _Check(name="migrations", run=check_migrations, mended_by="run `monitor migrate`", needs="database"),
    _Check(
        name="embedder",
        run=check_embedder,
        mended_by="check MONITOR_EMBEDDING__PROVIDER; see `monitor docs operate/embedding`",
    ),
    _Check(name="detector", run=check_detector, mended_by="see `monitor docs quality/detector`"),
    _Check(name="reranker", run=check_reranker, mended_by="see `monitor docs quality/reranker`"),
    _Check(
        name="profile",
        run=check_profile,
        mended_by="set MONITOR_PROFILE to a profile for this embedder",
        needs="embedder",
    ),
    _Check(
        name="references",
        run=check_references,
        mended_by="run `monitor reference freeze --app APP` for each; `monitor reference list` says which",
        needs="migrations",
    ),
    _Check(
        name="kafka",
        run=check_kafka,
        mended_by="check the settings, see `monitor docs operate/kafka`; a missing topic may be created later",
    ),
    _Check(
        name="collect",
        run=check_collect,
        mended_by="install it, or correct MONITOR_COLLECT__…; see `monitor docs operate/collect`",
    ),
    _Check(
        name="sign-in",
        run=check_sign_in,
        mended_by="install it, or correct or unset MONITOR_WEB__OIDC__…; see `monitor docs operate/dashboard`",
    ),
    _Check(
        name="prices",
        run=check_prices,
        mended_by="correct the file that MONITOR_PRICES names; see `monitor docs operate/cost`",
    ),
    _Check(
        name="probes",
        run=check_probes,
        mended_by="do what it says; `monitor docs quality/probes` describes the file that MONITOR_PROBES names",
    ),
    _Check(name="document look-up", run=check_lookup, mended_by="see `monitor docs operate/lookup`"),
    _Check(name="language models", run=check_language_models, mended_by="see `monitor docs quality/language-models`"),
    _Check(name="receivers", run=check_receivers, mended_by="see `monitor docs on-call/receivers`"),
    _Check(
        name="verdicts out",
        run=check_export,
        mended_by="check MONITOR_EXPORT__…, see `monitor docs operate/export`; `monitor pending list` shows what waits",
    ),
    _Check(
        name="traces",
        run=check_traces,
        mended_by="install it, or correct or unset MONITOR_TRACING__…; see `monitor docs operate/tracing`",
    ),
    _Check(
        name="alert rules",
        run=check_rules,
        mended_by="correct the file that MONITOR_RULES names, or save a version that can be used",
    ),
    _Check(
        name="turns",
        run=check_turns,
        mended_by="see `monitor docs start/traces`; `monitor decode` shows what is read from a file of spans",
        needs="migrations",
    ),
    _Check(
        name="time stamps",
        run=check_authorities,
        mended_by="install it, or correct or unset MONITOR_AUDIT__…; see `monitor docs audit/audit`",
    ),
    _Check(
        name="audit",
        run=check_audit,
        mended_by="see `monitor docs audit/audit`; `monitor run` seals, and logs why it cannot",
        needs="migrations",
    ),
)
