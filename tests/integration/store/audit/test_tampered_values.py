"""`verify` finds every change of a committed value, also one that looks like the sealed value or is written alike.

Rows are compared by drafts of their canonical form first. Whoever controls the database may change a value in any way
that its column allows, and the column's type as well.
"""

from __future__ import annotations

from sqlalchemy import text

from monitor.core.model import Document, SupportingDocument
from monitor.store.audit.verify import verify_within
from tests.factories.answers import an_assessment
from tests.rig.store.audit_trail import Trail
from tests.rig.store.keys import KEY

METADATA = {
    "whole": 1.0,
    "zero": 0.0,
    "small": 1e-7,
    "large": 1e22,
    "text": 'of ":1.0," and [2.0]',
    "null": None,
    "true": True,
    "one": 1,
    "most": 2**53,
    "": "empty key",
    "$number": "9007199254740993",
    "beyond": 9007199254740993,
    "\uffff": 1,
    "\U0001f600": 2,
}
# Each replaces the value under a key of the metadata of the only document.
VALUES = {
    "whole": ("1.5", '"1.0"', "10", "true", "[1.0]", "1.0000000000000002"),
    "zero": ("null", "false", '"0"', "1e-300", "{}", "-1"),
    "small": ("1e-8", '"1e-7"', "0", "1.0000000000000001e-7"),
    "large": ("1e23", '"1e+22"', "10000000000000000000001"),
    "text": (r'"of \":1,\" and [2.0]"', r'"of \":1.0,\" and [2]"', r'"of \":1.0,\" and [2.0] "'),
    "null": ("0", '"null"', "false", '"NaN"', "[null]"),
    "true": ("1", '"true"', "1.0", "false"),
    "one": ("true", '"1"', "-1", "9007199254740993"),
    "most": ("9007199254740993", "9007199254740991", '"9007199254740992"'),
    "": ('"empty"', '{"": "empty key"}'),
    "$number": ("9007199254740993", '{"$number": "9007199254740993"}', '"9007199254740992"'),
    "beyond": (
        *('{"$number": "9007199254740993"}', '{"$$number": "9007199254740993"}'),
        *('"9007199254740993"', "9007199254740992", "9007199254740994"),
    ),
    "\uffff": ("2", "true"),
    "\U0001f600": ("1", "2.5"),
}
# Each changes rows, or types of columns, so that what is read has another type or other keys.
STATEMENTS = (
    "UPDATE interaction SET retrieved_documents = retrieved_documents #- '{0,metadata,whole}'",
    "UPDATE interaction SET retrieved_documents = retrieved_documents || '[{}]'",
    "UPDATE interaction SET retrieved_documents = retrieved_documents -> 0",
    "UPDATE interaction SET retrieved_documents = to_jsonb(retrieved_documents::text)",
    "UPDATE interaction SET supporting_documents = 'null'",
    "UPDATE interaction SET supporting_documents = '[null]'",
    "UPDATE interaction SET tags = '[]'",
    "UPDATE interaction SET trace_id = 'null'",
    "UPDATE interaction SET trace_id = ''",
    "UPDATE assessment SET evidence = jsonb_set(evidence, '{missing}', '[\"\"]')",
    "UPDATE assessment SET evidence = evidence || '{\"$number\": 1}'",
    "UPDATE assessment SET earlier = 'null'::jsonb || '[]'",
    "UPDATE assessment SET features = features || '{\"\": 1}'",
    # More than Python, or its JSON parser, can read.
    "UPDATE interaction SET tags = (repeat('[', 600) || repeat(']', 600))::jsonb",
    "UPDATE interaction SET tags = (repeat('[', 5000) || repeat(']', 5000))::jsonb",
    "UPDATE interaction SET retrieved_documents = ('{\"a\":' || repeat('9', 5000) || '}')::jsonb",
    "UPDATE assessment SET evidence = (repeat('{\"a\":', 600) || '1' || repeat('}', 600))::jsonb",
    "UPDATE assessment SET features = (repeat('{\"a\":', 5000) || '1' || repeat('}', 5000))::jsonb",
    "ALTER TABLE interaction ALTER supporting_documents TYPE float8[] USING ARRAY['NaN'::float8]",
    "ALTER TABLE interaction ALTER supporting_documents TYPE text[] USING ARRAY[supporting_documents::text]",
    "ALTER TABLE interaction ALTER supporting_documents TYPE text USING supporting_documents::text",
    "ALTER TABLE interaction ALTER trace_id TYPE float8 USING 'NaN'::float8",
    "ALTER TABLE interaction ALTER reference_answer TYPE jsonb USING '{}'",
    "ALTER TABLE interaction ALTER latency_ms TYPE text USING latency_ms::text",
    "ALTER TABLE interaction ALTER latency_ms TYPE numeric USING latency_ms::numeric + 1",
    "ALTER TABLE interaction ALTER model TYPE uuid USING gen_random_uuid()",
    "ALTER TABLE interaction ALTER replaced_at TYPE timestamp USING 'infinity'",
    "ALTER TABLE interaction ALTER replaced_at TYPE date USING 'infinity'",
    "ALTER TABLE assessment ALTER uncalibrated TYPE integer USING uncalibrated::integer",
)
# What is written as before, is the same value.
SAME = (
    ("whole", "1"),
    ("zero", "0"),
    ("large", "10000000000000000000000"),
    ("most", "9007199254740992.0"),
    ("small", "0.0000001"),
)


def test_a_value_that_is_read_like_the_sealed_one_is_found(engine, database):
    trail = Trail(engine, database)
    made = an_assessment(
        id="q",
        retrieved_documents=(Document(id="d", text="kept 1.0, 2.0", score=1.0, metadata=METADATA),),
        supporting_documents=(SupportingDocument(text="kept"),),
        latency_ms=1936.0,
    )
    trail.write(made)
    trail.turn()
    with engine.connect() as connection, connection.begin():

        def found(statement, values=None):
            with connection.begin_nested() as savepoint:
                connection.execute(text(statement), values or {})
                its = verify_within(connection, [KEY], notes=trail.witness.notes).findings
                savepoint.rollback()
            return its

        assert found("SELECT 1") == ()
        change = (
            "UPDATE interaction SET retrieved_documents = "
            "jsonb_set(retrieved_documents, CAST(:path AS text[]), CAST(:value AS jsonb))"
        )
        changes = [
            (change, {"path": ["0", "metadata", name], "value": value}) for name in VALUES for value in VALUES[name]
        ]
        changes += [(statement.replace(":", r"\:"), None) for statement in STATEMENTS]
        missed = [one for one in changes if not any(its.subject == "q" for its in found(*one))]
        assert missed == []
        same = [(change, {"path": ["0", "metadata", name], "value": value}) for name, value in SAME]
        assert [one for one in same if found(*one)] == []
