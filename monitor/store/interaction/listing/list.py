"""Lists interactions under their live assessment: newest first, filtered, a page at a time.

However many rows there are, a page reads few of them: the rollups say which minutes hold answers of an app, model or
verdict (`presence`), a covering index holds the other filtered columns of assessments, and a search for words reads a
limited number of texts and says how far it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    DateTime,
    Engine,
    FromClause,
    Select,
    and_,
    func,
    literal,
    select,
    true,
    tuple_,
)

from monitor.privacy.masking import redact
from monitor.store.database import TakesTooLong, limited_read
from monitor.store.interaction.filters import (
    Filters,
    InteractionPage,
    ListedInteraction,
    PagePosition,
    assessment_conditions,
    interaction_conditions,
)
from monitor.store.interaction.listing.presence import OccupiedSpans, RollupFilter, hours, pieces
from monitor.store.interaction.listing.search import Terms, terms
from monitor.store.interaction.listing.shown import listed, listed_row, same
from monitor.store.tables.interactions import assessment, interaction
from monitor.store.tables.review import review

PAGE = 50
READ = 20_000  # texts that one page searches for words: some 50 ms
LOOKED_UP = 4_000  # texts that one page searches where each is looked up for an assessment
SCANNED = 300_000  # entries of the covering index that one page reads
_MOST_LOOKS = 40  # pages of rows found, to fill one page with rows that match when masked
COUNTED = 10_000  # rows up to which a list says exactly how many there are
COUNTING = 60  # milliseconds that counting them may take, so that a list takes 150 in all
NARROW = "choose a shorter span of time, or an app, verdict or model"
# far enough from the limits of datetime to add hours
_FIRST, _LAST = (
    datetime(1, 1, 2, tzinfo=UTC),
    datetime(9999, 12, 30, tzinfo=UTC),
)
_a, _i, _r = assessment.c, interaction.c, review.c


class InteractionList:
    """Reads. Safe to use from several threads; may raise `Retriable`, and `TakesTooLong`, which says what to narrow.

    A search finds only rows that match when personal data are masked, so that a search cannot be used to guess them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def page(
        self,
        filters: Filters,
        *,
        older_than: PagePosition | None = None,
        newer_than: PagePosition | None = None,
        most: int = PAGE,
    ) -> InteractionPage:
        """The newest rows that match, or the rows next to a position; at most one of the two positions is given."""
        searched = terms(filters.words or "")
        forward = newer_than is not None
        place = newer_than or older_than
        start, end = max(filters.since, _FIRST), min(filters.until, _LAST)
        if place is not None:
            behind = place.occurred_at + timedelta(microseconds=1)  # rows of the position's own moment are read again
            start, end = (max(start, place.occurred_at), end) if forward else (start, min(end, behind))
        with limited_read(self._engine, NARROW) as connection:
            found = _Found(rows=(), through=None)
            if start < end:
                page = _Stretch(start=start, end=end, place=place, forward=forward, most=most)
                found = _search_masked(connection, filters, searched, page)
        rows = tuple(found.rows[:most])
        more = len(found.rows) > most
        ended = rows[-1] if more else None
        far = _place(ended) if ended else None if found.through is None else PagePosition(occurred_at=found.through)
        near = _place(rows[0]) if rows else place
        if forward:
            return InteractionPage(rows=rows[::-1], older=near, newer=far, reached=None if more else found.through)
        newer = near if place is not None else None
        return InteractionPage(rows=rows, older=far, newer=newer, reached=None if more else found.through)

    def total(self, filters: Filters, most: int = COUNTED) -> int | None:
        """How many rows match, counted up to `most` + 1; None where that is a search for words, or takes too long."""
        if filters.words:
            return None
        conditions = [*assessment_conditions(filters), *_app_conditions(filters, assessment), _a.live]
        on_texts = interaction_conditions(filters, terms(""))
        source: FromClause = assessment.join(interaction, same(_a)) if on_texts else assessment
        within = (_a.occurred_at >= max(filters.since, _FIRST), _a.occurred_at < min(filters.until, _LAST))
        rows = select(literal(1)).select_from(source).where(*within, *conditions, *on_texts).limit(most + 1).subquery()
        try:
            with limited_read(self._engine, NARROW, milliseconds=COUNTING) as connection:
                return connection.scalar(select(func.count()).select_from(rows))
        except TakesTooLong:
            return None

    def every(self, filters: Filters, most: int, *, size: int = 1_000) -> Iterator[ListedInteraction]:
        """Up to `most` rows that match, newest first, however far back; reads each page in its own transaction."""
        place, left = None, most
        while left > 0:
            listing = self.page(filters, older_than=place, most=min(size, left))
            yield from listing.rows
            left -= len(listing.rows)
            if (place := listing.older) is None:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    """Where a page of `most` rows is searched: in [start, end), after `place`, backward or forward in time."""

    start: datetime
    end: datetime
    place: PagePosition | None
    forward: bool
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The rows found, in the direction of the search, and one more if there are more; and how far the search came."""

    rows: Sequence[ListedInteraction]
    through: datetime | None


def _search_masked(connection: Connection, filters: Filters, searched: Terms, page: _Stretch) -> _Found:
    """As `_search`, with only the rows that match when masked: neither a gap nor a position reveals another row.

    Raises:
        TakesTooLong: too many of the rows found do not match when masked.
    """
    rows, through = list[ListedInteraction](), None
    search = _search_exact if filters.exact else _search
    for number in range(_MOST_LOOKS):
        found = search(connection, filters, searched, page)
        if number == 0 and (through := found.through) is not None:
            page = replace(page, end=through) if page.forward else replace(page, start=through)
        rows += [row for row in found.rows if _matches(row, searched)]
        if len(found.rows) <= page.most or len(rows) > page.most:
            return _Found(rows=rows, through=through)
        page = replace(page, place=_place(found.rows[-1]))
    raise TakesTooLong(f"this would take too long: {NARROW}")


def _search(connection: Connection, filters: Filters, searched: Terms, page: _Stretch) -> _Found:
    start, end, forward, most = page.start, page.end, page.forward, page.most
    on_texts, on_assessment = interaction_conditions(filters, searched), assessment_conditions(filters)
    alone = not on_assessment  # every assessed interaction counts: no assessment has to be read
    by = interaction if on_texts and alone else assessment
    columns = (by.c.occurred_at, by.c.app, by.c.id)
    conditions = [*on_texts, *on_assessment, *_app_conditions(filters, by)]
    if by is assessment:
        conditions.append(_a.live)
    counted = RollupFilter(
        labels=filters.labels, verdicts=filters.verdicts, reason=filters.reason, diagnoses=filters.diagnoses
    )
    reach = READ if alone else LOOKED_UP
    spans: OccupiedSpans | None = None
    through = None
    if counted != RollupFilter():
        others = (searched.wanted, searched.unwanted, filters.refusal, filters.metric, filters.labelled)
        exact = not (any(others) or filters.suspicious)
        by_row = bool(filters.diagnoses)  # the covering index does not hold it
        if exact:
            most_read = 2 * READ if by_row else None
            spans = pieces(connection, counted, start, end, forward=forward, most=most + 1, most_read=most_read)
        else:
            looked_up = reach if on_texts else SCANNED
            read = 2 * READ if alone or by_row else SCANNED
            spans = hours(connection, counted, start, end, forward=forward, most=looked_up, most_read=read)
        through = spans.through
    elif searched.wanted or searched.unwanted:
        limits = (by.c.occurred_at >= start, by.c.occurred_at < end, *([_a.live] if by is assessment else []))
        through = _bound(connection, by, [*limits, *on_assessment], reach, forward=forward)
        if through is not None:
            start, end = (start, through) if forward else (through, end)
    conditions += _behind(page, columns)
    source: FromClause = by if by is interaction or not on_texts else assessment.join(interaction, same(_a))
    rows_of = select(*columns).select_from(source).where(*conditions)
    if spans is None:
        rows_of = rows_of.where(by.c.occurred_at >= start, by.c.occurred_at < end)
        keys = _first(rows_of, columns, most + 1, forward=forward)
    else:
        span = _within(spans)
        rows_of = rows_of.where(by.c.occurred_at >= span.c.start, by.c.occurred_at < span.c.end)
        # the first rows of each span, so that the planner cannot turn the join around
        of_span = _first(rows_of, columns, most + 1, forward=forward).lateral("of_span")
        found = (of_span.c.occurred_at, of_span.c.app, of_span.c.id)
        keys = _first(select(*found).select_from(span.join(of_span, true())), found, most + 1, forward=forward)
    rows = connection.execute(listed(keys.subquery("found"), forward=forward)).mappings()
    return _Found(rows=[listed_row(row) for row in rows], through=through)


def _search_exact(connection: Connection, filters: Filters, searched: Terms, page: _Stretch) -> _Found:
    """As `_search`, of the few interactions with an exact value."""
    conditions = [*interaction_conditions(filters, searched), *_app_conditions(filters, interaction)]
    conditions += [_i.occurred_at >= page.start, _i.occurred_at < page.end]
    rows = select(_i.occurred_at, _i.app, _i.id).where(*conditions)
    hits = rows.cte("hits").prefix_with("MATERIALIZED")  # so that the planner reads no index of times for them
    columns = (hits.c.occurred_at, hits.c.app, hits.c.id)
    query = select(*columns)
    if on_assessment := assessment_conditions(filters):
        same = and_(_a.app == hits.c.app, _a.id == hits.c.id, _a.occurred_at == hits.c.occurred_at, _a.live)
        query = query.select_from(hits.join(assessment, same)).where(*on_assessment)
    keys = _first(query.where(*_behind(page, columns)), columns, page.most + 1, forward=page.forward)
    found = connection.execute(listed(keys.subquery("found"), forward=page.forward)).mappings()
    return _Found(rows=[listed_row(row) for row in found], through=None)


def _behind(page: _Stretch, columns: Sequence[ColumnElement[Any]]) -> list[ColumnElement[bool]]:
    """The condition that a row comes after the position in the direction of the search."""
    if page.place is None:
        return []
    at = tuple_(page.place.occurred_at, page.place.app, page.place.id)
    return [tuple_(*columns) > at if page.forward else tuple_(*columns) < at]


def _first(query: Select[Any], columns: Sequence[ColumnElement[Any]], most: int, *, forward: bool) -> Select[Any]:
    """The first rows in the direction of the search."""
    return query.order_by(*(column.asc() if forward else column.desc() for column in columns)).limit(most)


def _app_conditions(filters: Filters, by: FromClause) -> list[ColumnElement[bool]]:
    return [] if filters.app is None else [by.c.app == filters.app]


def _bound(
    connection: Connection, by: FromClause, conditions: Sequence[ColumnElement[bool]], reach: int, *, forward: bool
) -> datetime | None:
    """Where the first `reach` rows end; None where there are fewer."""
    at = by.c.occurred_at
    rows = select(at).where(*conditions).order_by(at.asc() if forward else at.desc()).limit(reach).subquery()
    last = func.max(rows.c.occurred_at) if forward else func.min(rows.c.occurred_at)
    number, moment = connection.execute(select(func.count(), last).select_from(rows)).one()
    if number < reach:
        return None
    # rows of the very last moment are read again with the next page
    return moment  # type: ignore[no-any-return]


def _within(found: OccupiedSpans) -> Any:
    """The spans as a table."""
    times = ARRAY(DateTime(timezone=True))
    starts, ends = ([span[place] for span in found.spans] for place in (0, 1))
    return (
        func.unnest(literal(starts, times), literal(ends, times))
        .table_valued("start", "end", name="span")
        .render_derived()
    )


def _matches(row: ListedInteraction, searched: Terms) -> bool:
    if not searched.wanted and not searched.unwanted:
        return True
    return searched.match(redact(row.question), redact(row.answer))


def _place(row: ListedInteraction) -> PagePosition:
    return PagePosition(occurred_at=row.occurred_at, app=row.app, id=row.id)
