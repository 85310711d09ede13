"""What is sealed of a row is made from what this process stores; the row that is read back gives the same record."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from monitor.audit.canonical import canonical
from monitor.audit.finding import Fault
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Document, Metrics, Probabilities, SupportingDocument
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Kind, driver
from monitor.store.audit_rows import SECRET, read_rows, row_record
from monitor.store.interaction.writer import Writer
from monitor.store.tables.interactions import METRICS
from tests.factories.answers import a_batch, an_assessment, clock
from tests.factories.assess.diagnoses import a_diagnosis
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY, QUEUE_KEY

texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e25, -1e25, 2.0**53, 1e16, 1e-7, -0.0, 5e-324, 1.7e308, 12345678901234567890.5]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
figures = st.floats(0, 1)
VERDICTS = ("grounded", "refusal", "self_generated")
EMPTY = ("audit_queue", "audit_secret", "interaction_key", "interaction", "assessment")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    question=texts,
    tags=st.dictionaries(texts, texts, max_size=3),
    metadata=st.dictionaries(texts, values, max_size=4),
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    latency=st.none() | st.floats(0, 1e300),
    shares=st.tuples(figures, figures, figures),
    metrics=st.tuples(*[st.none() | st.floats(-1, 1)] * 5),
    diagnosis=st.none() | st.builds(a_diagnosis, st.sampled_from(Diagnosis), relevance=figures, tau=st.floats(-1, 1)),
)
def test_what_is_queued_is_what_is_read_back(
    database, engine, rows, question, tags, metadata, score, latency, shares, metrics, diagnosis
):
    for table in EMPTY:
        rows(f"DELETE FROM {table}")
    made = an_assessment(
        question=question or "?",
        tags=tags,
        retrieved_documents=(Document(id="d", text=question, score=score, metadata=metadata),),
        supporting_documents=(SupportingDocument(text=question),),
        latency_ms=latency,
        probabilities=Probabilities(**dict(zip(VERDICTS, shares, strict=True))),
        metrics=Metrics(**dict(zip(METRICS, metrics, strict=True))),
        diagnosis=diagnosis,
    )
    with closing(Writer(database, clock, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(made))
    ((queued,),) = rows("SELECT records FROM audit_queue WHERE kind = 'interaction'")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM interaction")) == 1
        raw, read = driver(connection), []
        for kind, part in ((Kind.INTERACTION, ""), (Kind.ASSESSMENT, made.profile_hash)):
            (row,) = read_rows(raw, kind, [(made.interaction.app, made.interaction.id, part)]).values()
            read.append(canonical(row_record(kind, row, bytes(row[SECRET]))).decode())
    assert queued.split("\n") == read


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("diagnosis = 'healthy' WHERE id = 'ill'", "diagnosis"),
        ("diagnosis = NULL WHERE id = 'ill'", "diagnosis"),
        ("diagnosis = 'healthy' WHERE id = 'before'", "diagnosis"),
        ("evidence = evidence - 'retrieval' WHERE id = 'ill'", "evidence"),
        ("evidence = jsonb_set(evidence, '{retrieval,chunks,0,relevance}', '0.1') WHERE id = 'ill'", "evidence"),
        ("evidence = evidence || '{\"retrieval\": {\"chunks\": []}}' WHERE id = 'before'", "evidence"),
    ],
)
def test_a_changed_diagnosis_is_found_and_named(engine, database, rows, change, named):
    trail = Trail(engine, database)
    trail.write(an_assessment(id="ill", diagnosis=a_diagnosis("retrieval_missed")), an_assessment(id="before"))
    trail.turn()
    assert verify(engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings == ()
    rows(f"UPDATE assessment SET {change}")
    (found,) = verify(engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings
    assert found.fault is Fault.CHANGED
    assert named in found.sentence
