"""Values that somebody left in the tables to stop the reader: each reading goes on, and names what was changed."""

from __future__ import annotations

import json
from datetime import timedelta
from io import BytesIO

import pytest

from monitor.app.audit.stamper import check_stamps
from monitor.audit.export import ExportAbout, write_export
from monitor.audit.merkle import leaf_hash
from monitor.core.errors import Fatal
from monitor.store.audit.list import AuditList
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.stamps import Stamps
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Act, Kind, queue_act, record_act
from tests.factories.answers import NOON, an_assessment
from tests.rig.audit.shipped import verified
from tests.rig.store.audit_trail import APP, Trail
from tests.rig.store.keys import KEY, QUEUE_KEY

LEAF = (
    "INSERT INTO audit_leaf SELECT {}, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf WHERE index = 0"
)
CHECKPOINT = "INSERT INTO audit_checkpoint SELECT {}, root, note, made_at FROM audit_checkpoint LIMIT 1"
STAMP = "INSERT INTO audit_stamp SELECT size, 'w', '{}', 'x', {}, {}, true FROM audit_checkpoint LIMIT 1"
WAITS = "INSERT INTO audit_queue (kind, app, subject, queued_at, body) VALUES ('look', '', '', '{}', '{}')"


@pytest.fixture
def trail(engine, database):
    """Three answers, an act on one of them, and acts of people, under two checkpoints."""
    made = Trail(engine, database)
    made.write(*(an_assessment(id=f"q-0-{number}") for number in range(3)))
    record_act(engine, Act(kind=Kind.LOOK, by="ann", at=NOON, app=APP, subject="q-0-1"))
    made.turn()
    made.people()
    made.turn()
    return made


def run(trail, statement):
    with trail.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def said(trail):
    return [one.sentence for one in verify(trail.engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings]


def exported(trail):
    about = ExportAbout(
        app=None,
        start=NOON - timedelta(days=200),
        end=NOON + timedelta(days=1),
        made_at=NOON,
        made_by="ann",
        verifier_key=KEY,
    )
    out = BytesIO()
    with Proofs(trail.engine).snapshot() as snapshot:
        notes = snapshot.checkpoints(0, KEY, since=about.start, until=about.end)
        manifest = write_export(
            out,
            records=snapshot.between(None, about.start, about.end, disclose=True),
            checkpoints=[note for _, note in notes],
            consistency=snapshot.consistency([size for size, _ in notes]),
            profiles=snapshot.profiles,
            rules=snapshot.rules,
            about=about,
            stamps=snapshot.stamps(notes, KEY),
        )
    return manifest, out.getvalue()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_leaf SET sealed_at = 'infinity' WHERE index = 3",
        "UPDATE audit_leaf SET sealed_at = '-infinity' WHERE kind = 'look'",
        "UPDATE audit_leaf SET sealed_at = '4713-01-01 BC' WHERE kind = 'look'",
        "UPDATE audit_checkpoint SET made_at = 'infinity'",
        "UPDATE silence SET starts_at = 'infinity'",
        "UPDATE silence SET ends_at = '-infinity'",
        "UPDATE review SET labelled_at = 'infinity'",
        "INSERT INTO retention_month (app, month, dropped_at) VALUES ('a', 'infinity', now())",
        "INSERT INTO retention_month (app, month, dropped_at) VALUES ('a', '10000-01-01', now())",
    ],
)
def test_no_time_beyond_those_of_python_ends_a_verification(trail, statement):
    run(trail, statement)
    assert said(trail) != []
    assert Proofs(trail.engine).status().size == 12
    AuditList(trail.engine).acts()


@pytest.mark.parametrize(
    "stamp", [("x", "now()", "now()"), ("rfc3161", "'infinity'", "now()"), ("rfc3161", "now()", "'infinity'")]
)
def test_no_stored_time_stamp_ends_a_verification_or_an_export(trail, stamp):
    run(trail, STAMP.format(*stamp))
    (finding,) = check_stamps(Stamps(trail.engine).all(), [KEY], []).findings
    assert "by w proves nothing" in finding.sentence
    assert verified(exported(trail)[1], KEY)[0] == 0


BODIES = (
    "'x'",
    "'[]'",
    "'null'",
    "'{}'",
    '\'{"kind":[],"app":1,"id":{}}\'',
    '\'{"kind":"interaction","app":"a","id":"b","verdict":[1],"committed":3}\'',
    "repeat('[', 100000)",
    "repeat('[', 900) || repeat(']', 900)",
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("which", ["index = 2", "kind = 'look'"])
def test_a_leaf_that_was_replaced_is_named_in_an_export_that_is_still_whole(trail, body, which):
    run(trail, f"UPDATE audit_leaf SET body = {body} WHERE {which}")
    manifest, content = exported(trail)
    (named,) = manifest["differs"]
    assert "its proof does not hold: it was replaced, or the tree around it" in named["how"]
    code, told = verified(content, KEY)
    assert (code, manifest["counts"]["records"]) == (1, 12)
    assert "fault: " in told


@pytest.mark.parametrize("index", ["-1", "1000000", "9223372036854775807"])
def test_a_leaf_that_was_put_apart_stops_neither_export_nor_status(trail, index):
    run(trail, LEAF.format(index))
    assert Proofs(trail.engine).status().signed == 12
    manifest, content = exported(trail)
    assert (manifest["counts"]["records"], verified(content, KEY)[0]) == (12, 0)
    assert said(trail) != []


def test_nothing_is_sealed_beside_a_checkpoint_of_more_leaves_than_there_are(trail):
    run(trail, CHECKPOINT.format("9223372036854775807"))
    trail.write(an_assessment(id="next"))
    with pytest.raises(Fatal, match="is not the one whose 9223372036854775807 leaves were signed last"):
        trail.turn()


@pytest.mark.parametrize("body", ["[1]", '{"at":"9999-12-31T23:59:59-23:00"}', '{"at":"0001-01-01T00:00:00+23:00"}'])
def test_what_somebody_queued_keeps_no_act_from_being_listed(trail, body):
    run(trail, WAITS.format("infinity", body))
    acts = AuditList(trail.engine).acts().acts
    assert {(act.kind, act.at) for act in acts} >= {("look", None), ("look", NOON)}
    assert Proofs(trail.engine).status().waiting == 1


def test_an_act_that_waits_is_listed_as_it_will_be_sealed(trail):
    record_act(trail.engine, Act(kind=Kind.LOOK, by="ann", at=NOON, app=APP, subject="q-0-2"))
    run(trail, "UPDATE audit_queue SET body = jsonb_build_object('by', 'bob', 'at', '2020-01-01')")
    assert said(trail) == []
    assert {act.by for act in AuditList(trail.engine).acts(kind="look").acts} == {"ann"}


DEEP = "(repeat('[', {0}) || repeat(']', {0}))::jsonb"
PROFILE = "INSERT INTO profile (hash, name, embedding_model, definition, stored_at) VALUES ('f', 'f', 'f', {}, now())"


@pytest.mark.parametrize(
    "statement",
    [
        PROFILE.format("'{\"a\":9007199254740993}'"),
        PROFILE.format("'1e400'"),
        PROFILE.format(DEEP.format(3_000)),
        "UPDATE silence SET matchers = '{{{a}},{{NULL}}}'",
    ],
)
def test_no_row_of_an_act_ends_a_verification_or_an_export(trail, statement):
    run(trail, statement)
    assert said(trail) != []
    assert exported(trail)[0]["counts"]["records"] == 12


STATEMENT = {
    "group": "g",
    "topic": "t",
    "partition": 0,
    "topic_id": "i",
    "first": 0,
    "next": 9,
    "stored": [{"app": APP, "earliest": NOON.isoformat(), "latest": NOON.isoformat(), "offsets": [[0, 7]]}],
    "duplicate": [[8, APP, "q-0-1", "2025-11"]],
    "dead": [],
    "skipped": {},
}


@pytest.mark.parametrize(
    "odd",
    [
        *({"partition": its} for its in ("0", None, [])),
        *({"first": its} for its in ("x", None, 1.5)),
        *({"group": its} for its in (7, {})),
        {"next": "y"},
        {"stored": [{"offsets": [["a", "b"]]}]},
        {"duplicate": [[8, APP, "q\0", "2025-11"]]},
        {"duplicate": [[8, "\ud800", "q", "2025-11"]]},
        {"skipped": {"tombstone": "many"}},
        {"dead": 7},
    ],
)
def test_no_statement_that_was_replaced_ends_a_verification_or_an_export(trail, odd):
    with trail.engine.begin() as connection:
        for number in range(2):
            body = {**STATEMENT, "first": 9 * number, "next": 9 * number + 9, "stored": [], "duplicate": []}
            queue_act(connection, Act(kind=Kind.POSITIONS, by="monitor", at=NOON, subject="t/0", body=body))
    trail.turn()
    assert said(trail) == []
    replace_leaf(trail, {"body": {**STATEMENT, **odd}, "kind": "positions"}, "kind = 'positions' AND index = 12")
    assert said(trail) != []
    assert len(exported(trail)[0]["differs"]) <= 14


@pytest.mark.parametrize(
    "at", ["2025-01-01T00:00:00+20:00", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00", "2025-01-01T00:00:00"]
)
@pytest.mark.parametrize("then", ["SELECT 1", "DELETE FROM interaction"])
def test_no_time_of_a_leaf_ends_a_verification_or_an_export(trail, at, then):
    with trail.engine.connect() as connection:
        body = connection.exec_driver_sql("SELECT body FROM audit_leaf WHERE index = 2").scalar()
    replace_leaf(trail, {**json.loads(body), "occurred_at": at}, "index = 2")
    run(trail, then)
    assert said(trail) != []
    exported(trail)


def test_rules_that_were_replaced_by_no_text_keep_nobody_from_an_export(trail):
    with trail.engine.begin() as connection:
        body = {"digest": "d", "source": "s", "rules": {}}
        queue_act(connection, Act(kind=Kind.RULES, by="monitor", at=NOON, subject="rules", body=body))
    trail.turn()
    replace_leaf(trail, {"kind": "rules", "body": {"source": "\ud800"}}, "kind = 'rules'")
    assert "rules" in {its["kind"] for its in exported(trail)[0]["differs"]}
    assert said(trail) != []


def replace_leaf(trail, record, which):
    """Replaces the body of a leaf, and its hash with it."""
    body = json.dumps(record, sort_keys=True, separators=(",", ":"))
    with trail.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE audit_leaf SET body = %s, hash = %s WHERE {which}",
            (body, leaf_hash(body.encode())),
        )


def test_a_label_that_was_moved_to_another_period_is_named(trail):
    run(trail, "UPDATE review SET occurred_at = occurred_at - interval '90 days' WHERE interaction_id = 'q-0-1'")
    (sentence,) = said(trail)
    assert sentence.endswith(f"says that q-0-1 in {APP} occurred at another time than the stored answer")
