"""Checks of what was stored: turns that have no scores, and the audit trail."""

from __future__ import annotations

from datetime import timedelta

from monitor.app.doctor.words import Warned, few
from monitor.app.wiring.application import Application
from monitor.core.errors import Fatal
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_WORDS
from monitor.core.text.duration import spelled
from monitor.core.text.plain import moment, plural
from monitor.store.audit.proofs import Proofs
from monitor.store.interaction.turns.unscored_counts import unscored_shares
from monitor.store.migrate import has_schema
from monitor.store.telemetry import TelemetryStore

_TOO_MANY = 0.1  # share of an app's turns without texts that a switch would bring
_SWITCHED_OFF = (Unscored.CONTENT_NOT_CAPTURED, Unscored.NO_DOCUMENT_TEXT)
_SEALED_WITHIN = timedelta(minutes=10)  # rows that wait longer are not being sealed


def check_turns(application: Application) -> str:
    """The shares of the turns of the last hour that have no scores, by app and reason."""
    if not has_schema(application.engine):
        return "none is stored yet"
    end = application.now().replace(second=0, microsecond=0)
    start = end - timedelta(hours=1)
    scored = {app: counts.total for app, counts in application.overview.totals(start, end).items()}
    shares = unscored_shares(application.engine, start, end, scored)
    found = [f"{one.share:.0%} of {one.app}'s {one.of} turns {UNSCORED_WORDS[one.reason]}" for one in shares]
    lost = [one for one in shares if one.reason in _SWITCHED_OFF and one.share >= _TOO_MANY]
    if lost:
        advice = dict.fromkeys(UNSCORED_ADVICE[one.reason] for one in lost)
        raise Fatal(f"in the last hour {few(found)}: {'; '.join(advice)}")
    if not found:
        number = sum(scored.values())
        return f"{number} in the last hour, all with scores" if number else f"none in the hour up to {end:%H:%M} UTC"
    return f"in the last hour {few(found)}"


def check_audit(application: Application) -> str | Warned:
    """Fails where rows were not sealed although processes run; where none has run since, it only says so."""
    audit = application.settings.audit
    if not audit.enabled:
        return "not sealed by this installation: MONITOR_AUDIT__ENABLED is false"
    keys = application.auditing.public_keys()
    key = f"by {keys[0]}" if keys else f"the first use creates a key in {application.auditing.key_file}"
    if not has_schema(application.engine):
        return key
    status = Proofs(application.engine).status()
    if application.auditing.key_file.exists():
        application.auditing.sealer().check()
    since, allowed = status.waiting_since, _SEALED_WITHIN + timedelta(seconds=audit.every)
    if since is not None and (waited := application.now() - since) > allowed:
        found = f"{plural(status.waiting or 0, 'row')} to be sealed, the oldest waiting for {spelled(waited)}"
        at_work = TelemetryStore(application.engine).last_at_work()
        if at_work is not None and at_work - since > allowed:
            raise Fatal(f"{found}, although a process was at work at {moment(at_work)}")
        return Warned(
            detail=f"{found}; no process runs that seals", mended_by="`monitor audit seal`, or start `monitor run`"
        )
    return f"{plural(status.size, 'leaf', 'leaves')}, {status.signed} signed; {key}"
