"""Gives stored assessments the judge's word, as revisions that keep the rows before.

A revision moves the counts that alerts read, as that of the sidecar does. It is sealed with what it follows from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from monitor.assess.chunks.diagnose import diagnose
from monitor.assess.classify.judged import Word, with_word
from monitor.assess.classify.profile import Profile
from monitor.assess.judge.metric import Judgement
from monitor.assess.judge.sampling import SamplingPolicy
from monitor.assess.judge.word import METRIC, Says, WordWeights
from monitor.core.assessment_json import diagnosis_of, encode
from monitor.core.model import Interaction, Probabilities, Verdict
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import SECRET, Key, as_jsonb, read_rows, record_digest, row_record
from monitor.store.interaction.minute_sums import CountedAssessment
from monitor.store.interaction.rows import as_earlier, counted_row, real
from monitor.store.interaction.writer import Writer
from monitor.store.tables.interactions import assessment

if TYPE_CHECKING:
    import psycopg

_CHANGED = ("verdict", "reasons", "p_grounded", "p_self_generated", "evidence", "diagnosis")  # in the order of _REVISE
_LIVE = """
    SELECT a.app, a.id, a.profile_hash FROM assessment a
    JOIN unnest(%s::text[], %s::text[], %s::timestamptz[]) AS w (app, id, at)
        ON a.app = w.app AND a.id = w.id AND a.occurred_at = w.at
    WHERE a.live ORDER BY a.app, a.id FOR UPDATE OF a
"""
_SAID = """
    SELECT DISTINCT ON (j.app, j.id) j.app, j.id, j.model, j.score FROM judgement j
    JOIN unnest(%s::text[], %s::text[], %s::timestamptz[]) AS w (app, id, at)
        ON j.app = w.app AND j.id = w.id AND j.occurred_at = w.at
    WHERE j.metric = %s AND j.score IS NOT NULL ORDER BY j.app, j.id, j.judged_at DESC
"""
_PROFILES = "SELECT hash, definition FROM profile WHERE hash = ANY(%s)"
_REVISE = """
    UPDATE assessment
    SET verdict = %s, reasons = %s, p_grounded = %s, p_self_generated = %s, evidence = %s, diagnosis = %s,
        revised_at = %s, earlier = %s
    WHERE app = %s AND id = %s AND occurred_at = %s AND profile_hash = %s
"""


class Live(NamedTuple):
    """An interaction with the row of its live assessment, which is locked."""

    interaction: Interaction
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """How judgements are heard: what a word weighs in each app (others: the prior), and how answers were sampled."""

    weights: Mapping[str, WordWeights] = field(default_factory=dict)
    sampling: SamplingPolicy | None = None

    def inclusion(self, live: Live | None) -> float | None:
        """The probability with which the interaction was taken; None if it would not be taken now, or has no row."""
        if live is None or self.sampling is None:
            return None
        it, row = live
        p = Probabilities(grounded=row["p_grounded"], refusal=row["p_refusal"], self_generated=row["p_self_generated"])
        return self.sampling.of(it.app).inclusion(it.app, it.id, Verdict(row["verdict"]), p)


BY_PRIOR: Final = Hearing()


def live_rows(connection: psycopg.Connection, interactions: Mapping[int, Interaction]) -> dict[int, Live]:
    """The live assessments of those interactions that have one, by the same numbers; their rows are locked."""
    found = connection.execute(_LIVE, _places(interactions.values())).fetchall()
    keys: dict[tuple[str, str], Key] = {(app, id_): (app, id_, hash_) for app, id_, hash_ in found}
    rows = read_rows(connection, Kind.ASSESSMENT, list(keys.values()))
    return {
        number: Live(it, rows[key])
        for number, it in interactions.items()
        if (key := keys.get((it.app, it.id))) is not None and key in rows
    }


def word_of(judgements: Iterable[Judgement]) -> Word | None:
    """The word among the judgements of one answer; None if its faithfulness has no score."""
    return next((word for j in judgements if j.metric == METRIC and (word := _word(j.model, j.outcome.score))), None)


def stored_words(connection: psycopg.Connection, live: Iterable[Live]) -> list[tuple[Live, Word]]:
    """The newest stored word on each of the answers that have one."""
    by_key = {(one.interaction.app, one.interaction.id): one for one in live}
    if not by_key:
        return []
    said = connection.execute(_SAID, (*_places(one.interaction for one in by_key.values()), METRIC)).fetchall()
    return [(by_key[app, id_], word) for app, id_, model, score in said if (word := _word(model, score))]


def hear(
    writer: Writer,
    connection: psycopg.Connection,
    words: Sequence[tuple[Live, Word]],
    hearing: Hearing,
    now: datetime,
) -> list[tuple[CountedAssessment, CountedAssessment]]:
    """Revises the assessments by the words; those of erased interactions, and of unknown profiles, stay.

    Returns what to recount: of each revised assessment, what was counted and what counts now.
    """
    profiles = _profiles(connection, {live.row["profile_hash"] for live, _ in words})
    counted, rows, updates, revises = [], [], [], {}
    for (it, row), word in sorted(words, key=lambda heard: (heard[0].interaction.app, heard[0].interaction.id)):
        profile = profiles.get(row["profile_hash"])
        if profile is None or row[SECRET] is None:
            continue
        changed = with_word(row, word, hearing.weights.get(it.app, WordWeights()), profile)
        if changed is None:
            continue
        part = it.app, it.id, row["profile_hash"]
        earlier, evidence = as_earlier(row), encode(changed["evidence"])
        changed |= {name: real(changed[name]) for name in ("p_grounded", "p_self_generated")}
        changed["diagnosis"] = _diagnosis(row, Verdict(changed["verdict"]))
        values = {**changed, "evidence": evidence}
        updates.append((*(values[name] for name in _CHANGED), now, earlier, it.app, it.id, row["occurred_at"], part[2]))
        stored = {**row, **changed, "evidence": as_jsonb(evidence), "revised_at": now, "earlier": as_jsonb(earlier)}
        rows.append({column.name: stored[column.name] for column in assessment.columns})
        revises[part] = record_digest(row_record(Kind.ASSESSMENT, row, bytes(row[SECRET])))
        counted.append((counted_row(it, row), counted_row(it, stored)))
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_REVISE, updates)
        writer.queue_to_seal(connection, Kind.ASSESSMENT, rows, revises)
    return counted


def _diagnosis(row: Mapping[str, Any], verdict: Verdict) -> str | None:
    """The diagnosis of a row that gets this verdict; it stays where the row has no chunks that tell another."""
    named: str | None = row["diagnosis"]
    found = diagnosis_of(named, row["evidence"].get("retrieval"))
    if verdict == row["verdict"] or found is None:
        return named
    return diagnose(verdict, found.chunks, found.threshold).value


def _word(model: str, score: float | None) -> Word | None:
    return None if score is None else Word(model=model, score=score, says=Says.by(score))


def _places(interactions: Iterable[Interaction]) -> tuple[list[str], list[str], list[datetime]]:
    known = list(interactions)
    return [it.app for it in known], [it.id for it in known], [it.occurred_at for it in known]


def _profiles(connection: psycopg.Connection, hashes: set[str]) -> dict[str, Profile]:
    """The stored profiles whose definitions this release can read, by hash."""
    found = {}
    for hash_, definition in connection.execute(_PROFILES, (sorted(hashes),)).fetchall() if hashes else ():
        try:
            found[hash_] = Profile.model_validate(definition)
        except ValidationError:
            continue
    return found
