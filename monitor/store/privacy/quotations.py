"""Blanks what alerts quote of interactions: in explanations, notifications, groups and the previous release's outbox.

Quoted are questions and answers as examples; tags and documents as values that many answers share; and words by which
similar questions are named. There are few of these rows, so each is searched. Figures and ids of interactions stay.
`hold_alerting` must be called first: a round of alerting copies quotations from what it has read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Column, Connection, Table, and_, func, select, text, update

from monitor.alert.explain.dimensions import DOCUMENT, TAG
from monitor.alert.explain.finding import Value
from monitor.alert.explain.keywords import words
from monitor.alert.explain.sentences import plain, value_phrase, word_phrase
from monitor.privacy.masking import redact, without_findings
from monitor.store.alert.alerts import EVALUATOR_LOCK
from monitor.store.tables.alerts import alert_explanation, alert_group, notification, outbox

ERASED = "(erased)"
_PLACES: dict[Table, Column[Any]] = {
    alert_explanation: alert_explanation.c.explanation,
    notification: notification.c.payload,
    alert_group: alert_group.c.description,
    outbox: outbox.c.payload,
}
# the words and the example of a group of questions, to the end because a question may contain quotation marks
_QUOTED = re.compile("(?:are about [^“]*)?“.*", re.DOTALL)
_ABOUT = re.compile("are about ([^“]*): “")
_SENTENCES = ("cause", "changes")
_SHORTEST = 12  # characters of a question that is found within a text; a shorter one must be the whole quotation
_COMPARED = 60  # characters of a question that are compared, because quotations are shortened
_PAGE = 200  # rows that are in memory at a time
_STORED = text("""
    SELECT i.app, i.id FROM interaction i JOIN unnest(CAST(:ids AS text[])) AS named (id) USING (id)
    WHERE NOT 'erased' = ANY(i.marks)
""")
_Gone: TypeAlias = Callable[[str | None, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedContent:
    """What an interaction said that alerts quote: its question, its tags, the ids of its documents."""

    question: str
    tags: Mapping[str, str]
    documents: Sequence[str]

    def values(self) -> Iterator[Value]:
        """The values by which an explanation may name the interaction, masked, and as earlier releases stored them."""
        named = [(f"{TAG}{name}", value) for name, value in self.tags.items()]
        for dimension, value in (*named, *((DOCUMENT, id_) for id_ in self.documents)):
            yield Value(dimension=dimension, value=value)
            yield Value(dimension=redact(dimension), value=redact(value))


class _Blanking:
    """Blanks contents: what is quoted of answers that are `gone` by app and id, and what is named of `said`.

    Where `said` is None, nobody knows any more what they said. Then all values and words go where every answer is gone
    that is quoted beside them.
    """

    def __init__(self, gone: _Gone, said: Sequence[QuotedContent] | None = None) -> None:
        self._gone = gone
        self._forgotten = said is None
        said = said or ()
        self._probes = [plain(redact(each.question))[:_COMPARED] for each in said if each.question.strip()]
        self._values = {value for each in said for value in each.values()}
        self._dimensions = {value.dimension for value in self._values if value.dimension.startswith(TAG)}
        texts = {text for each in said for text in (each.question, without_findings(each.question))}
        self._words = {word for text in texts for word in words(text)}
        self._in_sentences = {word_phrase(word) for word in self._words}
        phrases = "|".join(sorted(re.escape(value_phrase(value)) for value in self._values))
        self._phrases = re.compile(rf"(?<!\w)(?:{phrases})(?=: | = | \(and |$)") if phrases else None

    def __call__(self, content: Any) -> Any:
        """`content` without what it quotes."""
        gone = [self._gone(*name) for name in _named(content)]
        quoting = any(gone) or _quoted(content, self._probes)
        return self._without(content, quoting=quoting, spent=self._forgotten and bool(gone) and all(gone))

    def _without(self, content: Any, *, quoting: bool, spent: bool) -> Any:
        if isinstance(content, list):
            return [self._without(item, quoting=quoting, spent=spent) for item in content]
        if not isinstance(content, dict):
            return content
        after = {name: self._without(value, quoting=quoting, spent=spent) for name, value in content.items()}
        if (
            isinstance(content.get("id"), str)
            and "question" in content
            and self._gone(content.get("app"), content["id"])
        ):
            after |= {"question": "", "answer": ""}
        if isinstance(content.get("dimension"), str):
            after |= self._unnamed(content["dimension"], content.get("value"), spent=spent)
        if isinstance(content.get("words"), list):
            after["words"] = [word for word in content["words"] if not spent and word not in self._words]
        if isinstance(content.get("example"), str) and quoting:
            after["example"] = ""
        for name in _SENTENCES:
            if isinstance(content.get(name), list):
                after[name] = [] if spent else [self._sentence(each, quoting=quoting) for each in content[name]]
        return after

    def _unnamed(self, dimension: str, value: str | None, *, spent: bool) -> dict[str, str]:
        """What a value of a dimension becomes, or the dimension alone where `value` is None."""
        tag = dimension.startswith(TAG)
        if value is None:
            goes = tag and (spent or dimension in self._dimensions)
            return {"dimension": f"{TAG}{ERASED}"} if goes else {}
        if (
            not (spent and (tag or dimension == DOCUMENT))
            and Value(dimension=dimension, value=value) not in self._values
        ):
            return {}
        return {"dimension": f"{TAG}{ERASED}" if tag else dimension, "value": ERASED}

    def _sentence(self, sentence: str, *, quoting: bool) -> str:
        about = _ABOUT.search(sentence)
        if quoting or (about is not None and not self._in_sentences.isdisjoint(about[1].split(", "))):
            sentence = _QUOTED.sub(ERASED, sentence)
        return sentence if self._phrases is None else self._phrases.sub(ERASED, sentence)


def hold_alerting(connection: Connection) -> None:
    """Waits for the current round of alerting, and keeps others waiting until the caller's transaction ends."""
    connection.execute(select(func.pg_advisory_xact_lock(EVALUATOR_LOCK)))


def blank_erased(connection: Connection, app: str, said: Mapping[str, QuotedContent]) -> int:
    """Blanks quotations of these interactions of `app`, by id; returns how many rows changed.

    A value or a word that other answers have too goes all the same, and in the rows of every app: an explanation does
    not say whose it is. Some rows name an id without its app: there a quotation of another app's interaction with that
    id goes too.
    """
    blanking = _Blanking(lambda named_app, id_: id_ in said and named_app in {None, app}, list(said.values()))
    return _blank(connection, blanking)


def blank_gone(connection: Connection) -> int:
    """Blanks quotations of interactions that are no longer stored or were erased; returns how many rows changed."""
    ids = {id_ for table in _PLACES for _, content in _contents(connection, table) for _, id_ in _named(content)}
    stored = {tuple(row) for row in connection.execute(_STORED, {"ids": sorted(ids)})}
    known = {id_ for _, id_ in stored}
    return _blank(connection, _Blanking(lambda app, id_: id_ not in known if app is None else (app, id_) not in stored))


def _blank(connection: Connection, blanking: _Blanking) -> int:
    changed = 0
    for table, column in _PLACES.items():
        for key, content in _contents(connection, table):
            after = blanking(content)
            if after != content:
                which = and_(*(part == value for part, value in zip(table.primary_key.columns, key, strict=True)))
                connection.execute(update(table).where(which).values({column: after}))
                changed += 1
    return changed


def _contents(connection: Connection, table: Table) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The key and content of every row with content, as of the first read."""
    column = _PLACES[table]
    query = select(*table.primary_key.columns, column).where(column.is_not(None))
    for row in connection.execute(query.execution_options(yield_per=_PAGE)):
        yield tuple(row[:-1]), row[-1]


def _named(content: Any) -> Iterator[tuple[str | None, str]]:
    """The app, if named, and the id of each answer that is quoted with its question."""
    if isinstance(content, dict):
        if isinstance(content.get("id"), str) and "question" in content:
            yield content.get("app"), content["id"]
        for value in content.values():
            yield from _named(value)
    elif isinstance(content, list):
        for item in content:
            yield from _named(item)


def _quoted(content: Any, probes: Sequence[str]) -> bool:
    texts = [plain(text) for text in _texts(content)] if probes else []
    return any(_quotes(text, probe) for text in texts for probe in probes)


def _quotes(text: str, probe: str) -> bool:
    return probe in text if len(probe) >= _SHORTEST else text == probe or f"“{probe}”" in text


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for item in content.values() if isinstance(content, dict) else content:
            yield from _texts(item)
