"""Checks that no range of leaves covers: rows in no leaf, secrets without a row, acts against their rows, the queue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select, text

from monitor.audit.finding import Fault, Finding
from monitor.audit.record import portable
from monitor.core.model import Mark
from monitor.store.audit.acts import STORED_ACTS, ActKey, TrailAct, readable_acts, trail_acts
from monitor.store.audit.backfill import UNSEALED
from monitor.store.audit.checks.accounts import Accounts
from monitor.store.audit_queue import STORED, Act, Entry, Kind, driver, is_authentic
from monitor.store.audit_rows import PART
from monitor.store.tables.alerts import rule_state

_UNSEALED = "SELECT r.app, r.id, {part} AS part FROM {kind} r WHERE {unsealed} ORDER BY 1, 2, 3"
_TWICE = """
    SELECT r.app, r.id, {part} AS part FROM {kind} r GROUP BY 1, 2, 3 HAVING count(*) > 1 ORDER BY 1, 2, 3
"""
_STRAY_SECRETS = text("""
    SELECT s.app, s.id FROM audit_secret s WHERE NOT EXISTS (
        SELECT FROM interaction r WHERE r.app = s.app AND r.id = s.id AND NOT :erased = ANY (r.marks)
    ) ORDER BY 1, 2
""").bindparams(erased=Mark.ERASED.value)
_SECRETS_OF = text("""
    SELECT s.app, s.id, (
        SELECT max(l.index) FROM audit_leaf l WHERE l.app = s.app AND l.subject = s.id AND l.kind = 'interaction'
    )
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS w (app, id)
    JOIN audit_secret s ON s.app = w.app AND s.id = w.id
""")
_DROPPED = text("SELECT app, month FROM retention_month ORDER BY 1, 2")
_ERASED_ITEMS = text("""
    SELECT name, version, id, source_app, source_id FROM golden_item WHERE erased ORDER BY name, version, place
""")
_BLANK_RESULTS = text("""
    SELECT r.number, r.app, r.began_at, p.item, g.name, g.version
    FROM probe_result p
    JOIN probe_run r ON r.number = p.run
    LEFT JOIN golden_item g ON g.name = r.golden AND g.version = r.golden_version AND g.id = p.item AND g.erased
    WHERE p.secret IS NULL AND p.committed IS NOT NULL ORDER BY p.run, p.place
""")
# When an answer occurred decides in which period its label counts; the acts do not say it, and the answer's leaf does.
_AT_ANOTHER_TIME = text("""
    SELECT w.what, i.app, i.id FROM (
        SELECT 'label ' || r.id, r.app, r.interaction_id, r.occurred_at FROM review r
        UNION ALL
        SELECT 'item of plan ' || p.plan, p.app, p.interaction_id, p.occurred_at FROM review_plan_item p
    ) AS w (what, app, id, at)
    JOIN interaction i ON i.app = w.app AND i.id = w.id AND i.occurred_at <> w.at ORDER BY 1, 2, 3
""")
_LONGEST_NUMBER = 18  # digits that surely fit a bigint
_QUEUE = "SELECT refused, source, number, mac, kind, app, subject, part, records FROM audit_queue ORDER BY seq"


@dataclass(slots=True)
class QueueCheck:
    """What waits in the queue: how many entries, and whether the sealer still looks through older rows.

    `findings` are the entries that no process with the audit key has queued.
    """

    waiting: int = 0
    backfilling: bool = False
    findings: list[Finding] = field(default_factory=list)


def check_queue(connection: Connection, key: bytes | None, *, adopting: bool) -> QueueCheck:
    """Checks every entry of the queue; without the `key` only that it claims to have been queued with one.

    `adopting`: this release has sealed nothing yet, and its first batch will take in all entries as they are.
    """
    checked = QueueCheck()
    with driver(connection).cursor("audit_queue") as cursor:
        for refused, source, number, mac, *rest in cursor.execute(_QUEUE):
            entry = Entry(*rest)
            own = mac is not None if key is None else is_authentic(key, entry, source, number, mac)
            if own and refused and key is not None:
                checked.findings.append(_kept_back(entry))
            if entry.kind == Kind.MISSING:
                checked.backfilling |= own or adopting  # otherwise such a request has no effect
            elif own or adopting:
                checked.backfilling |= not own
                checked.waiting += 1
            else:
                sentence = (
                    f"{_named(entry.kind, entry.app, entry.subject, entry.part)} waits to be sealed, but no process "
                    "with the audit key queued it"
                )
                checked.findings.append(
                    Finding(fault=Fault.QUEUE, app=entry.app, subject=entry.subject, sentence=sentence)
                )
    return checked


def _kept_back(entry: Entry) -> Finding:
    named = _named(entry.kind, entry.app, entry.subject, entry.part)
    sentence = (
        f"{named} is kept from being sealed: it is marked as refused, and a process with the audit key queued it; "
        "`monitor audit seal` seals it"
    )
    return Finding(fault=Fault.QUEUE, app=entry.app, subject=entry.subject, sentence=sentence)


def check_entries(named: Mapping[str, Sequence[tuple[int, int]]], *, from_first: bool) -> Iterator[Finding]:
    """Finds entries of the queue that were never sealed, or sealed twice, by the numbers that leaves name.

    `named` holds runs of numbers, first and last, by source (`EntrySource.name`). Entries of one source are sealed in
    the order of their numbers, which begin with 1. Unless `from_first`, the leaves of the first were not looked at.
    """
    last = {source.partition("~")[0]: max(end for _, end in runs) for source, runs in named.items()}
    for source, runs in named.items():
        before = 0 if from_first else min(runs)[0] - 1
        for first, end in sorted(runs):
            if first <= before:
                yield _entry_finding(f"entry {first} of the source {source} was sealed twice")
            elif first > before + 1:
                yield _never_sealed(before + 1, first - 1, source)
            before = max(before, end)
        _, _, follows = source.partition("~")
        token, _, stored = follows.partition("~")
        if from_first and stored.isdecimal() and int(stored[:_LONGEST_NUMBER]) > last.get(token, 0):
            yield _never_sealed(last.get(token, 0) + 1, int(stored[:_LONGEST_NUMBER]), token)


def _never_sealed(first: int, last: int, source: str) -> Finding:
    entries = f"entry {first}" if first == last else f"entries {first} to {last}"
    return _entry_finding(f"{entries} of the source {source} never reached the sealer: taken out of the queue")


def _entry_finding(sentence: str) -> Finding:
    return Finding(fault=Fault.QUEUE, sentence=sentence)


def dropped_months(connection: Connection, accounts: Accounts) -> Iterator[Finding]:
    """Finds months that are closed to new answers as if retention had dropped them, and no retention says so."""
    for app, month in connection.execute(_DROPPED):
        if not any(scope.month == month for scope in accounts.retentions.get(app, ())):
            sentence = f"answers of {app} of {month:%Y-%m} are not stored any more, and no retention says why"
            yield Finding(fault=Fault.ACT, app=app, subject=f"{month:%Y-%m}", sentence=sentence)


def unsealed(connection: Connection) -> Iterator[Finding]:
    """Finds rows that are in no leaf and do not wait for one, and rows that are stored twice."""
    for kind in STORED:
        names = {"kind": kind.value, "part": PART[kind], "unsealed": UNSEALED[kind]}
        for app, id_, part in connection.execute(text(_UNSEALED.format(**names))):
            named = _named(kind, app, id_, part)
            sentence = f"{named} was never sealed: it was inserted past this program, or taken out of the queue"
            yield Finding(fault=Fault.UNSEALED, app=app, subject=id_, sentence=sentence)
        for app, id_, part in connection.execute(text(_TWICE.format(**names))):
            sentence = f"{_named(kind, app, id_, part)} is stored more than once"
            yield Finding(fault=Fault.UNSEALED, app=app, subject=id_, sentence=sentence)


def stray_secrets(connection: Connection, accounts: Accounts) -> Iterator[Finding]:
    """Finds secrets of interactions that are not stored or were erased: such a secret still opens commitments."""
    found = {(app, id_) for app, id_ in connection.execute(_STRAY_SECRETS)}
    columns = [list(column) for column in zip(*accounts.erased, strict=True)] or [[], []]
    for app, id_, newest in connection.execute(_SECRETS_OF, {"apps": columns[0], "ids": columns[1]}):
        if newest is None or newest < accounts.erased[app, id_]:  # otherwise stored anew since
            found.add((app, id_))
    for app, id_ in sorted(found):
        sentence = f"there is a secret of {id_} in {app}, which is not stored or was erased"
        yield Finding(fault=Fault.SECRET, app=app, subject=id_, sentence=sentence)


def blanked_probes(connection: Connection, accounts: Accounts) -> Iterator[Finding]:
    """Finds golden items, and results of probes, whose texts are gone though no erasure or retention says why."""
    unaccounted = set()
    for name, version, item, app, id_ in connection.execute(_ERASED_ITEMS):
        if (app, id_) not in accounts.erased:
            unaccounted.add((name, version, item))
            sentence = f"the item {item} of the golden set {name} {version} is erased, and no erasure says why"
            yield Finding(fault=Fault.ACT, app=app or "", subject=f"{name} {version}", sentence=sentence)
    for number, app, began_at, item, *of_set in connection.execute(_BLANK_RESULTS):
        kept_from = accounts.probe_texts.get(app)
        erased = of_set[0] is not None and (*of_set, item) not in unaccounted
        if not erased and (kept_from is None or began_at >= kept_from):
            sentence = f"the texts about {item} in run {number} of a probe are gone, and nothing says why"
            yield Finding(fault=Fault.ACT, app=app, subject=str(number), sentence=sentence)


def acts_against_rows(connection: Connection, queue_key: bytes | None) -> Iterator[Finding]:
    """Finds acts whose row is gone or contradicts them, and rows without an act."""
    stored, unread = readable_acts(connection)
    for kind, why in unread.items():
        yield Finding(fault=Fault.ACT, sentence=f"a row of the kind {kind} holds what none of ours does: {why}")
    sealed: dict[ActKey, TrailAct] = {}
    ends: dict[str, Any] = {}
    for act in trail_acts(connection, (*STORED_ACTS, Kind.UNSILENCE), queue_key):
        if act.kind == Kind.UNSILENCE:
            ends[act.subject] = act.body.get("ends_at")
        elif act.kind not in unread:
            sealed.setdefault(act.key, act)
    for key, act in sealed.items():
        row_act = stored.get(key)
        if row_act is None:
            yield _finding(key, act.number, act.app, "is not stored any more")
        elif fields := _differing(row_act, act, ends.get(act.subject) if act.kind == Kind.SILENCE else None):
            yield _finding(key, act.number, act.app, f"was changed: {', '.join(fields)}")
    for key, row_act in stored.items():
        if key not in sealed:
            yield _finding(key, None, row_act.app, "was never sealed")
    yield from _at_another_time(connection)
    yield from _rules(connection, queue_key)


def _differing(row_act: Act, act: TrailAct, ends_at: str | None) -> list[str]:
    """The fields in which a row contradicts its act; `ends_at` is when a silence was ended early."""
    stored: dict[str, Any] = {"by": row_act.by, "at": row_act.at.isoformat(), **row_act.body}
    sealed = dict(act.body)
    if act.kind == Kind.SILENCE:
        stored.pop("at")  # its row does not say when it was made
        sealed.pop("at", None)
        sealed["ends_at"] = ends_at or sealed.get("ends_at")
    fields = [name for name in stored.keys() | sealed.keys() if _portable(stored.get(name)) != sealed.get(name)]
    if act.kind != Kind.ACKNOWLEDGE and act.app != row_act.app:
        fields.append("app")
    return sorted(fields)


def _at_another_time(connection: Connection) -> Iterator[Finding]:
    for what, app, id_ in connection.execute(_AT_ANOTHER_TIME):
        sentence = f"the {what} says that {id_} in {app} occurred at another time than the stored answer"
        yield Finding(fault=Fault.ACT, app=app, subject=id_, sentence=sentence)


def _portable(value: Any) -> Any:
    """As `portable`; what has none stays, and is no value that was sealed."""
    try:
        return portable(value)
    except ValueError:
        return value


def _rules(connection: Connection, key: bytes | None) -> Iterator[Finding]:
    """Finds rules that were evaluated since the first rule set was recorded, and that are in no recorded set."""
    known: set[tuple[str, str]] = set()
    since: str | None = None
    for act in trail_acts(connection, (Kind.RULES,), key):
        since = since or str(act.body.get("at"))
        rules = act.body.get("rules")
        known |= {(name, str(digest)) for name, digest in rules.items()} if isinstance(rules, dict) else set()
    if since is None:
        return
    s = rule_state.c
    for name, digest, evaluated_at in connection.execute(select(s.rule, s.rule_digest, s.evaluated_at)):
        if evaluated_at.isoformat() > since and (name, digest) not in known:
            sentence = f"the rule {name} ({digest}) was evaluated and is in no set of rules that was sealed"
            yield Finding(fault=Fault.ACT, subject=name, sentence=sentence)


def _finding(key: ActKey, index: int | None, app: str, problem: str) -> Finding:
    leaf = "" if index is None else f", leaf {index},"
    sentence = f"the {key[0]} {' '.join(key[1:])}{leaf} {problem}"
    return Finding(fault=Fault.ACT, index=index, app=app, subject=key[1], sentence=sentence)


def _named(kind: str, app: str, id_: str, part: str) -> str:
    return f"the {kind} of {id_} in {app}{f' ({part})' if part else ''}"
