"""Ways into the trail, for somebody who has the database and no key, that a review found: each is found or refused."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import text

from monitor.audit.canonical import canonical
from monitor.audit.merkle import leaf_hash
from monitor.audit.record import act_record
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Verdict
from monitor.core.pending import Work
from monitor.store.audit.backfill import look_for_missing
from monitor.store.audit.leaf import leaf_body
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Act, Kind, driver, queue_act
from monitor.store.interaction.writer import Writer
from tests.factories.answers import A_STAND_IN, NOON, a_batch, an_assessment, at, clock
from tests.rig.store.audit_trail import APP, Trail, a_sealer
from tests.rig.store.keys import KEY, QUEUE_KEY

ROWS = ("interaction", "assessment", "audit_secret")
FORGED = [
    f"INSERT INTO {table} SELECT (jsonb_populate_record(t, jsonb_build_object('id', 'forged'))).* FROM {table} t"
    " WHERE id = 'a'"
    for table in ("interaction_key", *ROWS)
]
COLUMNS = "kind, app, subject, part, queued_at, body, source, number, records, mac"
REPLAY = f"INSERT INTO audit_queue ({COLUMNS}) SELECT {COLUMNS} FROM stolen"
RETENTION = {"by": "monitor", "at": NOON.isoformat(), "verdict": None, "before": "2099-01-01T00:00:00+00:00", "rows": 1}
MONTH = f"{NOON:%Y-%m}"


@pytest.fixture
def trail(engine, database):
    made = Trail(engine, database)
    made.write(an_assessment(id="a"), an_assessment(id="bad"))
    made.turn()
    return made


def said(trail):
    return [one.sentence for one in verify(trail.engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings]


def run(trail, *statements, **values):
    with trail.engine.begin() as connection:
        for statement in statements:
            result = connection.execute(text(statement), values)
        return list(result) if result.returns_rows else []


def without(id_):
    return [f"DELETE FROM {table} WHERE id = '{id_}'" for table in ROWS]


def trigger(trail, table, when, body):
    run(
        trail,
        f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$",
        f"CREATE TRIGGER t {when} ON {table} EXECUTE FUNCTION f()",
    )


def test_a_request_to_look_is_good_for_once_and_for_an_hour(trail):
    look_for_missing(trail.engine, NOON)
    run(trail, f"CREATE TABLE stolen AS SELECT {COLUMNS} FROM audit_queue WHERE kind = 'missing'")
    trail.turn()
    assert said(trail) == []
    run(trail, *FORGED, REPLAY)
    trail.turn()
    assert any("was sealed twice" in sentence for sentence in said(trail))
    run(trail, *(statement.replace("'forged'", "'later'") for statement in FORGED))
    look_for_missing(trail.engine, NOON)
    trail.sealer.seal_and_sign(NOON.replace(hour=NOON.hour + 2))
    assert any("of later in" in sentence and "was never sealed" in sentence for sentence in said(trail))


STRIPPED = 'regexp_replace(body, \',"entry":"[^"]*"\', \'\')'


@pytest.mark.parametrize("change", [STRIPPED, "body || ' '"])
def test_a_leaf_that_was_changed_for_a_minute_opens_nothing(trail, change):
    run(trail, *FORGED, *without("bad"), "CREATE TABLE was AS SELECT * FROM audit_leaf WHERE index = 3")
    insert = (
        "INSERT INTO audit_queue (kind, app, subject, part, queued_at, body)"
        " VALUES (:k, :a, :s, '', now(), CAST(:b AS jsonb))"
    )
    run(trail, insert, k="interaction", a=APP, s="forged", b=None)
    run(trail, insert, k="retention", a=APP, s=MONTH, b=json.dumps(RETENTION))
    run(trail, f"UPDATE audit_leaf SET body = {change}, kind = 'recovery' WHERE index = 3")
    trail.sealer = a_sealer(trail.engine, trail.witness)  # started again
    with pytest.raises(Fatal, match="the body of leaf 3 is not the one that was sealed"):
        trail.turn()
    run(trail, "UPDATE audit_leaf l SET body = was.body, kind = was.kind FROM was WHERE l.index = was.index")
    trail.turn()
    told = said(trail)
    assert any("of bad in" in sentence for sentence in told)
    assert any("of forged in" in sentence for sentence in told)


def test_no_leaf_is_put_behind_the_signed_ones_while_another_is_changed(trail):
    run(trail, *without("bad"), f"UPDATE audit_leaf SET body = {STRIPPED} WHERE index = 3")
    body = leaf_body(act_record(kind="retention", app=APP, subject=MONTH, body=RETENTION), at(2))
    with trail.engine.begin() as connection:
        driver(connection).execute(
            "INSERT INTO audit_leaf VALUES (4, 'retention', %s, %s, '', %s, %s, %s)",
            (APP, MONTH, at(2), body.decode(), leaf_hash(body)),
        )
    with pytest.raises(Fatal):
        trail.turn()
    assert any(sentence.startswith("leaf 4 names no entry of the queue") for sentence in said(trail))


def test_a_leaf_without_an_entry_behind_one_that_has_one_is_named(trail):
    body = leaf_body(act_record(kind="retention", app=APP, subject=MONTH, body=RETENTION), at(2))
    with trail.engine.begin() as connection:
        driver(connection).execute(
            "INSERT INTO audit_leaf VALUES (4, 'retention', %s, %s, '', %s, %s, %s)",
            (APP, MONTH, at(2), body.decode(), leaf_hash(body)),
        )
    assert any(sentence.startswith("leaf 4 names no entry of the queue") for sentence in said(trail))


def test_what_waits_is_missed_though_a_write_was_made_to_fail_meanwhile(trail):
    with closing(Writer(trail.database, clock, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(an_assessment(id="victim")))
        run(trail, "DELETE FROM audit_queue", *without("victim"))
        trigger(trail, "audit_queue", "BEFORE INSERT", "RAISE EXCEPTION 'no' USING ERRCODE = '40001';")
        for _ in range(2):
            with pytest.raises(Retriable):
                writer.write(a_batch(an_assessment(id="next")))
        run(trail, "DROP TRIGGER t ON audit_queue")
        writer.write(a_batch(an_assessment(id="next")))
    trail.turn()
    assert [sentence for sentence in said(trail) if "entry 1 of the source" in sentence and "never reached" in sentence]


def test_what_was_erased_is_not_put_back(trail):
    run(trail, *(f"CREATE TABLE kept_{table} AS SELECT * FROM {table} WHERE id = 'a'" for table in ROWS))
    trail.erase("a")
    trail.turn()
    assert said(trail) == []
    run(trail, *without("a"), *(f"INSERT INTO {table} TABLE kept_{table}" for table in ROWS))
    assert said(trail) == [f"there is a secret of a in {APP}, which is not stored or was erased"]


def test_no_judgement_is_made_to_vanish_by_a_mark_of_erasure(trail):
    trail.write(an_assessment(id="judged"), follow_ups={Work.JUDGE})
    trail.turn()
    run(trail, "UPDATE interaction SET marks = marks || ARRAY['erased'] WHERE id = 'judged'")
    with pytest.raises(Fatal, match="judged in support-bot is not stored or was erased: its judgement is not stored"):
        trail.judge()
    assert run(trail, "SELECT count(*) FROM judgement") == [(0,)]


def test_a_judgement_that_the_database_keeps_out_stays_to_be_done(trail):
    trail.write(an_assessment(id="judged"), follow_ups={Work.JUDGE})
    trigger(trail, "judgement", "BEFORE INSERT", "RETURN NULL;")
    run(
        trail,
        "DROP TRIGGER t ON judgement",
        "CREATE TRIGGER t BEFORE INSERT ON judgement FOR EACH ROW EXECUTE FUNCTION f()",
    )
    with pytest.raises(Fatal, match="did not store a judgement of judged"):
        trail.judge()
    assert run(trail, "SELECT count(*) FROM pending WHERE kind = 'judge'") == [(1,)]


def test_what_stood_before_a_revision_is_sealed_as_it_was_read(trail):
    trail.write(an_assessment(id="r", support=A_STAND_IN, verdict=Verdict.GROUNDED), follow_ups={Work.SIDECAR})
    trail.turn()
    run(
        trail,
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " NEW.earlier = jsonb_set(NEW.earlier, '{verdict}', '\"refusal\"'); RETURN NEW; END $$",
        "CREATE TRIGGER t BEFORE UPDATE ON assessment FOR EACH ROW EXECUTE FUNCTION f()",
    )
    trail.revise()
    trail.turn()
    assert any("of r in" in sentence and "earlier" in sentence for sentence in said(trail))


def test_a_month_is_not_closed_to_new_answers_without_a_retention(trail):
    run(trail, f"INSERT INTO retention_month (app, month, dropped_at) VALUES ('{APP}', '{MONTH}-01', now())")
    assert said(trail) == [f"answers of {APP} of {MONTH} are not stored any more, and no retention says why"]


def test_the_last_entry_of_what_was_taken_in_cannot_be_kept_for_later(engine, database):
    trail = Trail(engine, database)
    trail.write(an_assessment(id="a"))
    run(trail, "DELETE FROM audit_queue")
    insert = "INSERT INTO audit_queue (kind, app, subject, part, queued_at) VALUES ('interaction', :a, :s, :p, now())"
    for id_ in ("a", "forged"):
        run(trail, insert, a=APP, s=id_, p=an_assessment().profile_hash)
    run(trail, f"CREATE TABLE stolen AS SELECT {COLUMNS} FROM audit_queue LIMIT 0")
    trigger(
        trail,
        "audit_queue",
        "AFTER UPDATE",
        f"INSERT INTO stolen SELECT {COLUMNS} FROM audit_queue WHERE subject = 'forged' AND mac IS NOT NULL;"
        " DELETE FROM audit_queue WHERE subject = 'forged' AND mac IS NOT NULL; RETURN NULL;",
    )
    trail.turn()
    run(trail, "DROP TRIGGER t ON audit_queue")
    assert any(
        "entry 2 of the source" in sentence and "never reached the sealer" in sentence for sentence in said(trail)
    )


def test_an_entry_that_another_key_made_is_kept_as_it_is(trail):
    other = Trail(trail.engine, trail.database)
    with closing(Writer(trail.database, clock, queue_key=bytes(32))) as writer:
        writer.write(a_batch(an_assessment(id="b")))
    before = run(trail, "SELECT mac FROM audit_queue")
    other.turn()
    assert run(trail, "SELECT mac FROM audit_queue WHERE refused") == before
    assert any("no process with the audit key queued it" in sentence for sentence in said(trail))


def test_a_retention_that_goes_by_a_verdict_which_still_waits_is_understood(trail):
    old = NOON.replace(month=NOON.month - 1)
    stands_in = an_assessment(id="r", occurred_at=old, support=A_STAND_IN, verdict=Verdict.REFUSAL)
    trail.write(stands_in, follow_ups={Work.SIDECAR})
    trail.turn()
    trail.revise()
    trail.retain(NOON.replace(day=1), an_assessment().verdict)
    assert run(trail, "SELECT id FROM interaction WHERE id = 'r'") == []
    assert said(trail) == []
    trail.turn()
    assert said(trail) == []


QUEUED = (
    "INSERT INTO audit_queue (kind, app, subject, queued_at, source, number, mac)"
    " VALUES ('look', '', '', now(), 'x', 9007199254740993, 'x')"
)
LEAF = (
    "INSERT INTO audit_leaf SELECT {}, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf WHERE index = 0"
)

DEEP_RECOVERY = (
    "UPDATE audit_leaf SET kind = 'recovery', body ="
    " '{\"body\"\\:{\"restored\"\\:' || repeat('[', 700) || repeat(']', 700) || '}}' WHERE index = 0"
)


@pytest.mark.parametrize(
    "statement",
    [
        QUEUED,
        "INSERT INTO audit_tile VALUES (0, 9223372036854775807, '')",
        LEAF.format("9223372036854775807"),
        LEAF.format("1000000000000"),
        "UPDATE audit_leaf SET body = replace(body, '/1\"', '/' || repeat('1', 5000) || '\"') WHERE index = 0",
        DEEP_RECOVERY,
        "UPDATE interaction SET occurred_at = 'infinity' WHERE id = 'a'",
        "UPDATE assessment SET revised_at = '-infinity' WHERE id = 'a'",
        "UPDATE interaction SET stored_at = '294276-01-01' WHERE id = 'a'",
    ],
)
def test_no_value_stops_a_verification(trail, statement):
    run(trail, statement)
    assert said(trail) != []


NO_BODIES = (
    "{}",
    '{"x":1}',
    '{"files":[]}',
    '{"files":[],"at":"2026-11-21","apps":[]}',
    '{"stored":1}',
    '{"stored":[{"app":[],"earliest":"x","latest":"x"}]}',
    '{"group":[],"topic":"t","partition":0,"topic_id":"i","unstated":true}',
    '{"since":"x","until":"x","items":[]}',
    '{"since":"2026-01-01T00:00:00Z","until":"2027-01-01T00:00:00Z","items":1}',
)


@pytest.mark.parametrize("kind", ["positions", "plan"])
@pytest.mark.parametrize("body", NO_BODIES)
def test_no_leaf_keeps_an_auditor_from_an_export(trail, kind, body):
    run(trail, "UPDATE audit_leaf SET kind = :kind, body = :body WHERE index = 3", kind=kind, body=f'{{"body":{body}}}')
    with Proofs(trail.engine).snapshot() as proved:
        found = list(proved.between(None, NOON - timedelta(days=200), NOON + timedelta(days=1), disclose=True))
    assert {record.index for record in found} >= {0, 1, 2}
    assert said(trail) != []


def test_what_is_queued_with_a_number_that_json_cannot_hold_stops_no_sealing(trail):
    run(trail, QUEUED)
    trail.write(an_assessment(id="b"))
    assert trail.turn() == 2


def test_a_leaf_of_rules_that_was_changed_stops_no_verification(trail):
    with trail.engine.begin() as connection:
        body = {"digest": "x", "source": "y", "rules": {"a": "b"}}
        queue_act(connection, Act(kind=Kind.RULES, by="monitor", at=NOON, subject="rules", body=body))
    trail.turn()
    run(trail, "UPDATE audit_leaf SET body = replace(body, '\"a\":\"b\"', '\"a\":[]') WHERE kind = 'rules'")
    assert said(trail) != []


def test_an_act_too_deep_to_read_stops_no_verification(trail):
    trail.erase("a")
    trail.turn()
    run(trail, "UPDATE audit_leaf SET body = repeat('[', 100000) WHERE kind = 'erasure'")
    assert said(trail) != []


@pytest.mark.parametrize("drop", ["live", "occurred_at", "committed", "verdict", "revised_at", "v"])
@pytest.mark.parametrize("then", ["SELECT 1", "DELETE FROM assessment"])
def test_a_leaf_that_lacks_a_field_stops_no_verification(trail, drop, then):
    ((body,),) = run(trail, "SELECT body FROM audit_leaf WHERE index = 1")
    rest = canonical({name: value for name, value in json.loads(body).items() if name != drop})
    with trail.engine.begin() as connection:
        driver(connection).execute(
            "UPDATE audit_leaf SET body = %s, hash = %s WHERE index = 1", (rest.decode(), leaf_hash(rest))
        )
    run(trail, then.replace(":", r"\:"))
    assert said(trail) != []
