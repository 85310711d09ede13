"""Values that somebody left in the tables to stop the reader: each reading goes on, and names what was changed."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO

import pytest

from monitor.app.audit.stamper import check_stamps
from monitor.audit.export import ExportAbout, write_export
from monitor.core.errors import Fatal
from monitor.store.audit.list import AuditList
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.stamps import Stamps
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Act, Kind, record_act
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
            rules=[],
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
    assert "it is not in the signed tree: somebody has replaced it" in named["how"]
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
