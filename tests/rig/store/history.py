"""Random histories of a sealed store: what honest processes do, and what somebody does who has all but the key."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from random import Random
from typing import Any

from sqlalchemy import Engine, text

from monitor.core.model import Verdict
from monitor.core.pending import Work
from monitor.store.audit.verify import Verification, verify
from monitor.store.interaction.writer import Writer
from monitor.store.pending.hearing import Hearing
from monitor.store.rescore.answers import RescoreAnswers, RescoreSpan
from monitor.store.rescore.use import put_in_use
from tests.factories.answers import A_STAND_IN, FROM_THE_SIDECAR, NOON, a_batch, an_assessment, at, clock
from tests.factories.assess.diagnoses import EACH_DIAGNOSIS
from tests.rig.store.audit_trail import APP, Trail, a_sealer
from tests.rig.store.keys import KEY, QUEUE_KEY

PROFILES = ("0123456789abcdef", "fedcba9876543210")
_KEPT = (
    *("audit_queue", "audit_leaf", "audit_tile", "audit_secret", "audit_checkpoint", "interaction", "assessment"),
    *("judgement", "interaction_key", "pending", "retention_month", "review", "silence"),
)


class History:
    """Honest processes over one database: a reader that lives on, workers, people, retention, backups."""

    def __init__(self, engine: Engine, database: str, random: Random) -> None:
        self.trail = Trail(engine, database)
        self.random = random
        self._number = 0
        self._backup = 0
        self.writer = self._new_writer()
        self.write()
        self.seal()

    def close(self) -> None:
        self.writer.close()

    def _new_writer(self, **over: Any) -> Writer:
        wanted = lambda _: {Work.SIDECAR, Work.JUDGE} if self.random.random() < 0.3 else ()  # noqa: E731
        return Writer(self.trail.database, clock, queue_key=QUEUE_KEY, follow_ups=wanted, **over)

    def write(self) -> None:
        its = []
        for _ in range(self.random.randrange(2, 6)):
            self._number += 1
            its.append(
                an_assessment(
                    id=f"answer-{self._number}-",
                    answer=f"It is kept {self._number} days.",
                    occurred_at=NOON - timedelta(days=self.random.choice([0, 3, 45, 100, 100])),
                    verdict=self.random.choice(list(Verdict)),
                    support=self.random.choice([A_STAND_IN, FROM_THE_SIDECAR]),
                    diagnosis=self.random.choice([None, *EACH_DIAGNOSIS.values()]),
                )
            )
        self.writer.write(a_batch(*its))

    def seal(self) -> None:
        self.trail.turn()

    def rescore(self) -> None:
        ids = [row.id for row in self.ask("SELECT id FROM interaction WHERE NOT 'erased' = ANY (marks)")]
        with closing(self._new_writer(group="rescore", rescore=PROFILES[1])) as writer:
            chosen = self.random.sample(ids, min(2, len(ids)))
            writer.write(a_batch(*(an_assessment(id=id_, profile_hash=PROFILES[1]) for id_ in chosen)))

    def put_in_use(self) -> None:
        """Shows the verdicts of either profile in place of the other's."""
        wanted = self.random.choice(PROFILES)
        span = RescoreSpan(profile_hash=wanted, since=NOON - timedelta(days=365), until=at(1), app=None)
        keys, _ = RescoreAnswers(self.trail.engine).keys(span)
        with closing(self._new_writer()) as writer:
            put_in_use(writer, keys, wanted, hearing=Hearing(), now=at(self.trail.minutes))

    def erase(self) -> None:
        ids = [row.id for row in self.ask("SELECT id FROM interaction")]
        if ids:
            self.trail.erase(*self.random.sample(ids, 1))

    def retain(self) -> None:
        days = self.random.choice([30, 60, 150])
        self.trail.retain(NOON - timedelta(days=days), self.random.choice([None, None, *Verdict]))

    def restart(self) -> None:
        self.writer.close()
        self.writer = self._new_writer()

    def restore(self) -> None:
        """Makes a backup, goes on, and restores it; a recovery says what was lost."""
        self._backup += 1
        for name in _KEPT:
            self.ask(f"CREATE TABLE backup_{self._backup}_{name} AS TABLE {name}")
        self.write()
        self.seal()
        self.writer.close()
        for name in _KEPT:
            self.ask(f"DELETE FROM {name}")
            self.ask(f"INSERT INTO {name} OVERRIDING SYSTEM VALUE TABLE backup_{self._backup}_{name}")
        self.writer = self._new_writer()
        trail = self.trail
        trail.sealer = a_sealer(trail.engine, trail.witness)
        plan = trail.sealer.plan_recovery((), by="ann", at=at(trail.minutes), reason="the disk failed")
        if plan is not None:
            trail.sealer.recover(plan, at(trail.minutes))

    def step(self) -> None:
        """Something that happens to an honest store."""
        steps: list[Callable[[], None]] = [self.write] * 4 + [self.seal] * 4
        steps += [self.trail.revise, self.trail.judge, self.erase, self.retain, self.rescore, self.put_in_use]
        steps += [self.restart, self.restore]
        self.random.choice(steps)()

    def end(self) -> Verification:
        """What an auditor finds after the reader has gone on, and everything was sealed."""
        self.write()
        self.seal()
        return self.verified()

    def verified(self) -> Verification:
        return verify(self.trail.engine, [KEY], QUEUE_KEY, notes=self.trail.witness.notes)

    def ask(self, query: str, **values: object) -> list[Any]:
        with self.trail.engine.begin() as connection:
            result = connection.execute(text(query.replace(":", r"\:") if not values else query), values)
            return list(result) if result.returns_rows else []


class Attacker:
    """Does anything to the database, its queue included, each time to another answer; has no key.

    Each method returns words, one of which a finding has to contain, or nothing where there was nothing to attack.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._ask = history.ask
        self._random = history.random
        self._touched: set[str] = set()
        self._copied: list[str] = []

    def sequence(self, acts: int) -> list[list[str]]:
        """So many acts, between writes and seals of the honest processes; the words of each."""
        words = []
        for _ in range(acts):
            self._history.write()
            if self._random.random() < 0.5:
                self._history.seal()
            words.append(self.act())
        return words

    def act(self) -> list[str]:
        """One random act that finds something to attack."""
        acts = (
            *(self.remove, self.remove_as_if_erased, self.remove_under_a_forged_retention, self.replace, self.change),
            *(self.revise, self.add, self.take_from_the_queue, self.repeat_an_entry, self.change_what_waits),
            *(self.exchange_what_waits, self.blank, self.ask_to_look),
        )
        while True:
            if words := self._random.choice(acts)():
                return words

    def _answer(self, condition: str = "true") -> str | None:
        rows = self._ask(
            "SELECT id FROM interaction i WHERE NOT 'erased' = ANY (marks) AND EXISTS (SELECT FROM audit_leaf l"
            f" WHERE l.subject = i.id AND l.kind = 'interaction') AND {condition} ORDER BY id"
        )
        return self._pick([row.id for row in rows])

    def _pick(self, ids: list[str]) -> str | None:
        left = [id_ for id_ in ids if id_ not in self._touched]
        if not left:
            return None
        chosen = self._random.choice(left)
        self._touched.add(chosen)
        return chosen

    def _waiting(self) -> str | None:
        """The answer of an entry that the reader queued and that waits."""
        rows = self._ask("SELECT subject FROM audit_queue WHERE kind = 'interaction' AND mac IS NOT NULL ORDER BY seq")
        return self._pick([row.subject for row in rows])

    def _delete(self, id_: str) -> None:
        for table in ("judgement", "assessment", "interaction", "audit_secret"):
            self._ask(f"DELETE FROM {table} WHERE id = :id", id=id_)

    def _queue(self, kind: str, id_: str, body: str | None = None) -> None:
        """Queues a name, or an act, with no authentication or with that of another entry."""
        mac = self._random.choice([None, bytes(32), self._any_mac()])
        self._ask(
            "INSERT INTO audit_queue (kind, app, subject, part, queued_at, body, records, source, number, mac)"
            " VALUES (:kind, :app, :id, '', now(), CAST(:body AS jsonb), :records, 'forged', 1, :mac)",
            kind=kind,
            app=APP,
            id=id_,
            body=body,
            mac=mac,
            records=None if body is None else f'{{"app":"{APP}","body":{body},"id":"{id_}","kind":"{kind}","v":1}}',
        )

    def _any_mac(self) -> bytes | None:
        found = self._ask("SELECT mac FROM audit_queue WHERE mac IS NOT NULL LIMIT 1")
        return bytes(found[0].mac) if found else None

    def remove(self) -> list[str]:
        if (id_ := self._answer()) is None:
            return []
        self._delete(id_)
        self._queue("interaction", id_)
        return [f"of {id_} in"]

    def remove_as_if_erased(self) -> list[str]:
        if (id_ := self._answer()) is None:
            return []
        self._delete(id_)
        self._queue("erasure", id_, '{"by":"eve","fields":[]}')
        return [f"of {id_} in"]

    def remove_under_a_forged_retention(self) -> list[str]:
        if (id_ := self._answer()) is None:
            return []
        self._delete(id_)
        rows, before = self._random.choice([(0, "0001-01-02"), (99, "2099-01-01T00:00:00+00:00")])
        self._queue("retention", "2025-11", f'{{"before":"{before}","by":"monitor","rows":{rows},"verdict":null}}')
        return [f"of {id_} in"]

    def replace(self) -> list[str]:
        """Puts another answer under the same id, at the same time or at another one."""
        if (id_ := self._answer()) is None:
            return []
        self._ask(
            "UPDATE interaction SET answer = 'forged', occurred_at = occurred_at + :later * interval '1 second'"
            " WHERE id = :id",
            id=id_,
            later=self._random.choice([0, 1]),
        )
        self._queue("interaction", id_)
        return [f"of {id_} in"]

    def change(self) -> list[str]:
        if (id_ := self._answer("EXISTS (SELECT FROM assessment a WHERE a.id = i.id)")) is None:
            return []
        self._ask(
            "UPDATE assessment SET verdict = CASE verdict WHEN 'grounded' THEN 'refusal' ELSE 'grounded' END"
            " WHERE id = :id",
            id=id_,
        )
        return [f"of {id_} in"]

    def revise(self) -> list[str]:
        """Changes a verdict as a revision does, with all that it keeps of the row before."""
        if (id_ := self._answer("EXISTS (SELECT FROM assessment a WHERE a.id = i.id)")) is None:
            return []
        self._ask(
            "UPDATE assessment a SET verdict = CASE verdict WHEN 'grounded' THEN 'refusal' ELSE 'grounded' END,"
            " revised_at = now(), earlier = to_jsonb(a) - ARRAY['app', 'id', 'occurred_at', 'live', 'revised_at',"
            " 'earlier'] WHERE id = :id",
            id=id_,
        )
        self._queue("assessment", id_)
        return [f"of {id_} in"]

    def add(self) -> list[str]:
        """Stores an answer that nobody gave, with everything that belongs to it."""
        if (id_ := self._answer()) is None:
            return []
        new = f"forged-{id_}"
        self._touched.add(new)
        for table in ("interaction_key", "audit_secret", "interaction", "assessment"):
            self._ask(
                f"INSERT INTO {table} SELECT (jsonb_populate_record(t, jsonb_build_object('id', CAST(:new AS text)))).*"
                f" FROM {table} t WHERE id = :id",
                id=id_,
                new=new,
            )
        self._queue("interaction", new)
        return [f"of {new} in"]

    def take_from_the_queue(self) -> list[str]:
        """Removes an answer before it is sealed, with its entry."""
        if (id_ := self._waiting()) is None:
            return []
        (row,) = self._ask("SELECT source FROM audit_queue WHERE subject = :id AND kind = 'interaction'", id=id_)
        self._delete(id_)
        self._ask("DELETE FROM audit_queue WHERE subject = :id", id=id_)
        self._ask("DELETE FROM interaction_key WHERE id = :id", id=id_)
        return [f"of the source {row.source} never reached"]

    def repeat_an_entry(self) -> list[str]:
        if (id_ := self._waiting()) is None:
            return []
        (row,) = self._ask("SELECT seq, source, number FROM audit_queue WHERE subject = :id LIMIT 1", id=id_)
        columns = "kind, app, subject, part, queued_at, body, source, number, records, mac"
        self._ask(f"INSERT INTO audit_queue ({columns}) SELECT {columns} FROM audit_queue WHERE seq = :s", s=row.seq)
        return [f"entry {row.number} of the source {row.source} was sealed twice"]

    def change_what_waits(self) -> list[str]:
        if (id_ := self._waiting()) is None:
            return []
        self._ask("UPDATE interaction SET answer = 'forged' WHERE id = :id", id=id_)
        return [f"of {id_} in"]

    def exchange_what_waits(self) -> list[str]:
        """Gives an entry the records of another answer."""
        if (id_ := self._waiting()) is None:
            return []
        self._ask(
            "UPDATE audit_queue SET records = replace(records, 'grounded', 'refusal') || ' ' WHERE subject = :id",
            id=id_,
        )
        return [f"of {id_} in"]

    def blank(self) -> list[str]:
        """Empties an answer as an erasure does."""
        if (id_ := self._answer()) is None:
            return []
        self._ask(
            "UPDATE interaction SET question = '', answer = '', retrieved_documents = '[]', tags = '{}',"
            " conversation_id = NULL, marks = marks || ARRAY['erased'] WHERE id = '" + id_ + "'"
        )
        self._ask("DELETE FROM audit_secret WHERE id = :id", id=id_)
        self._queue("erasure", id_, '{"by":"eve","fields":[]}')
        return [f"of {id_} in"]

    def ask_to_look(self) -> list[str]:
        """Stores an answer, and asks the sealer to look for what was never sealed."""
        words = self.add()
        if words:
            self._ask("DELETE FROM audit_queue WHERE kind = 'interaction' AND mac IS NULL")
            self._queue("missing", "")
        return words
