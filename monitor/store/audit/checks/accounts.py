"""What erasures and retentions account for: the interactions that may be missing, or stored without their texts.

A retention accounts only for what was sealed before it, of its app, month, verdict and time, and for no more
interactions than it says that it removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import chain

from sqlalchemy import Connection

from monitor.audit.finding import Fault, Finding
from monitor.store.audit.acts import trail_acts
from monitor.store.audit_queue import Kind
from monitor.store.probe.proof import TEXTS_REMOVED

_ELSEWHERE = "other times"  # the subject of a retention in the default partition, which holds no single month
_EVER = datetime.min.replace(tzinfo=UTC)
_LAST = 2**63  # the place of an act that waits to be sealed: after every leaf


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionScope:
    """What one retention removed: `rows` interactions of `app` that occurred before a time, in one month.

    `number` is the index of its leaf. `month` is None where they were in no month's partition. `verdict` None stands
    for any verdict, '' for interactions without an assessment.
    """

    number: int
    app: str
    month: date | None
    verdict: str | None
    before: datetime
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """An interaction that is sealed and not stored: when it occurred, and the time by which retention went.

    Both are None where it was gone when it was sealed. `verdict` is that of its live assessment, None if it has none.
    """

    app: str
    number: int  # the index of its leaf
    occurred_at: datetime | None = None
    kept_from: datetime | None = None
    verdict: str | None = None

    @property
    def month(self) -> date | None:
        return None if self.occurred_at is None else self.occurred_at.astimezone(UTC).date().replace(day=1)


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """The erased interactions by app and id, each with the place of the act, and what retentions removed, by app.

    `probe_texts` is the time, by app, before which runs of probes may be without texts.
    """

    erased: Mapping[tuple[str, str], int] = field(default_factory=dict)
    retentions: Mapping[str, tuple[RetentionScope, ...]] = field(default_factory=dict)
    probe_texts: Mapping[str, datetime] = field(default_factory=dict)

    @cached_property
    def _by_month(self) -> Mapping[tuple[str, date | None], Sequence[RetentionScope]]:
        found: defaultdict[tuple[str, date | None], list[RetentionScope]] = defaultdict(list)
        for app, scopes in self.retentions.items():
            for scope in scopes:
                found[app, scope.month].append(scope)
        return found

    def removed(self, gone: Removed, *, until: int = _LAST) -> bool:
        """Whether a retention may have removed it that was sealed after it, and not after leaf `until`."""
        if gone.kept_from is None:  # the last retention accounts for it, if any does
            return any(gone.number < scope.number <= until for scope in reversed(self.retentions.get(gone.app, ())))
        scopes = chain(self._by_month.get((gone.app, gone.month), ()), self._by_month.get((gone.app, None), ()))
        return any(
            gone.number < scope.number <= until
            and gone.kept_from < scope.before
            and scope.verdict in {None, gone.verdict or ""}
            for scope in scopes
        )

    def too_many(self, missing: Counter[tuple[str, date | None]]) -> Iterator[Finding]:
        """Finds apps and months of which more interactions are missing than retentions say that they removed.

        `missing` counts, by app and month, those for which only retentions account.
        """
        by_app: defaultdict[str, Counter[date | None]] = defaultdict(Counter)
        for (app, month), number in missing.items():
            by_app[app][month] += number
        for app, months in sorted(by_app.items()):
            removed: Counter[date | None] = Counter()
            for scope in self.retentions.get(app, ()):
                removed[scope.month] += scope.rows
            spare = removed.pop(None, 0)  # of the default partition, and for what was gone when it was sealed
            spare += sum(rows for month, rows in removed.items() if month not in months)
            exceeding = {month: n - removed[month] for month, n in months.items() if n > removed[month]}
            if sum(exceeding.values()) > spare:
                where = ", ".join(
                    f"{month:%Y-%m}" if month else "times unknown" for month in sorted(exceeding, key=str)
                )
                sentence = (
                    f"{months.total()} sealed interactions of {app} are not stored, and retentions removed "
                    f"{removed.total() + spare}: some were removed otherwise ({where})"
                )
                yield Finding(fault=Fault.MISSING, app=app, sentence=sentence)


def read_accounts(connection: Connection, key: bytes | None) -> Accounts:
    """What the erasures and retentions in the trail account for; with the `key`, those too that wait to be sealed."""
    erased: dict[tuple[str, str], int] = {}
    retentions: defaultdict[str, list[RetentionScope]] = defaultdict(list)
    probe_texts: dict[str, datetime] = {}
    for act in trail_acts(connection, (Kind.ERASURE, Kind.RETENTION), key):
        number = _LAST if act.number is None else act.number
        if act.kind == Kind.ERASURE:
            erased[act.app, act.subject] = number
        elif act.subject == TEXTS_REMOVED:
            probe_texts[act.app] = max(probe_texts.get(act.app, _EVER), _time(act.body.get("before")))
        elif (scope := _scope(number, act.app, act.subject, act.body)) is not None:
            retentions[act.app].append(scope)
    scopes_of = {app: tuple(scopes) for app, scopes in retentions.items()}
    return Accounts(erased=erased, retentions=scopes_of, probe_texts=probe_texts)


def _time(value: object) -> datetime:
    """The time in an act; the first of all where its body was replaced by something else."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        return _EVER
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _scope(number: int, app: str, subject: str, body: Mapping[str, object]) -> RetentionScope | None:
    """The scope of a retention's act; None where its body was replaced by something else."""
    verdict, rows = body.get("verdict"), body.get("rows")
    try:
        before = datetime.fromisoformat(str(body.get("before")))
        month = None if subject == _ELSEWHERE else date.fromisoformat(f"{subject}-01")
    except ValueError:
        return None
    return RetentionScope(
        number=number,
        app=app,
        month=month,
        verdict=None if verdict is None else str(verdict),
        before=before if before.tzinfo else before.replace(tzinfo=UTC),
        rows=rows if isinstance(rows, int) and rows > 0 else 0,
    )
