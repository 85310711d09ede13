from __future__ import annotations

import io
import json

import pytest

from monitor.app.wiring.decoding import topic_decoder
from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.model import Mark
from monitor.core.settings.load import Settings
from monitor.ingest.decode import Decoder
from monitor.ingest.dialects import DIALECTS
from monitor.ingest.dialects.dialect import Dialect
from monitor.ingest.dialects.documents import documents
from monitor.ingest.dotted_path import at_path
from monitor.ingest.mapping import EventMap, event_map
from monitor.ingest.records import TABLE, Form, records
from tests.factories.events import a_message, decode, raw

BASIC = ("question=prompt", "answer=reply", "retrieved_documents=contexts")


def mapped(event, *options, headers=()):
    return decode(event, event_map=event_map(options or BASIC), headers=headers)


def refused(event, *options, headers=()):
    with pytest.raises(InvalidMessage) as caught:
        mapped(event, *options, headers=headers)
    return caught.value.path, caught.value.problem


def table(text, *options):
    """The interactions in CSV."""
    decoder = Decoder(event_map=event_map(options))
    rows = [r for r in records(io.BytesIO(text.encode()), Form.TABLE, 10**6) if r is not None and r[0]]
    return [decoder.decode(a_message(value, headers=TABLE)) for value, _ in rows]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", {"a": [{"b": 1}, {"b": 2}], "c.d": 3}),
        ("a.1.b", 2),
        ("a.b", [1, 2]),
        ("a.7.b", None),
        ("a.x", [None, None]),
        ("c.d", 3),
        ("c", None),
        ("a.0.b.c", None),
        (".", None),
    ],
)
def test_paths_lead_into_objects_and_lists(path, found):
    assert at_path({"a": [{"b": 1}, {"b": 2}], "c.d": 3}, path) == found


def test_fields_are_read_from_where_the_mapping_says():
    event = {
        "key": 17,
        "fields": {"prompt": "When?", "response": {"value": "At nine."}},
        "hits": [{"chunk": {"body": "It opens at nine."}}, {"chunk": {"body": "Shut on Sunday."}}],
        "meta": {"llm": "gpt-x", "ms": 12.5, "topic": "hours", "tokens": [7, 8]},
        "conversation_id": "c-1",
    }
    read = mapped(
        event,
        "id=key",
        "question=fields.prompt",
        "answer=fields.response.value",
        "retrieved_documents=hits.chunk.body",
        "model=meta.llm",
        "latency_ms=meta.ms",
        "tags.topic=meta.topic",
        "usage.input=meta.tokens.0",
        "usage.output=meta.tokens.1",
    )
    assert (read.id, read.question, read.answer) == ("17", "When?", "At nine.")
    assert [d.text for d in read.retrieved_documents] == ["It opens at nine.", "Shut on Sunday."]
    assert (read.model, read.latency_ms, read.conversation_id) == ("gpt-x", 12.5, "c-1")
    assert (read.tags, read.usage.input, read.usage.output) == ({"topic": "hours"}, 7, 8)


@pytest.mark.parametrize(
    ("contexts", "texts"),
    [
        (["a", "b"], ["a", "b"]),
        ([{"page_content": "a", "metadata": {"source": "s"}}, "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"b's\"]", ["a", "b's"]),  # as pandas writes a list
        ("a ||| b |||", ["a", "b"]),
        ("only one", ["only one"]),
        ("[see below]", ["[see below]"]),
        ("['a', [1]]", ["['a', [1]]"]),
        ({"documents": [{"text": "a"}]}, ["a"]),
        ("", []),
        ([], []),
    ],
)
def test_documents_may_stand_there_in_many_forms(contexts, texts):
    read = mapped({"prompt": "q", "reply": "a", "contexts": contexts}, *BASIC, "separator=|||")
    assert [d.text for d in read.retrieved_documents] == texts


def test_without_an_id_equal_content_has_an_equal_id():
    event = {"prompt": "q", "reply": "a", "contexts": ["x"]}
    first = mapped(event).id
    assert first.startswith("sha256:")
    assert mapped({**event, "row": 2}).id == first
    assert mapped({**event, "contexts": ["y"]}).id != first


def test_an_argilla_record_is_read_with_a_mapping():
    record = {
        "id": "0c9b",
        "fields": {"prompt": "When?", "response": "At nine.", "context": "It opens at nine."},
        "metadata": {"model": "gpt-x"},
        "suggestions": {},
        "responses": {"corrected": [{"value": "At nine sharp.", "user_id": "u"}]},
        "status": "completed",
    }
    read = mapped(
        record,
        "question=fields.prompt",
        "answer=fields.response",
        "retrieved_documents=fields.context",
        "reference_answer=responses.corrected.0.value",
        "model=metadata.model",
    )
    assert (read.id, read.answer, read.reference_answer) == ("0c9b", "At nine.", "At nine sharp.")


def test_an_event_in_the_envelope_of_a_package_is_read_by_the_mapping(monkeypatch):
    def read(event, context):
        return context.read_data(event["body"], context)

    parcel = Dialect(name="parcel", signs=frozenset({"parcel"}), read=read, envelope=True)
    monkeypatch.setattr("monitor.ingest.decode.dialects", lambda: (*DIALECTS, parcel))
    found = mapped({"parcel": 1, "body": {"id": "b-1", "prompt": "q", "reply": "a", "contexts": []}})
    assert (found.id, found.question, found.answer) == ("b-1", "q", "a")


def test_an_event_in_an_envelope_is_read_by_the_mapping():
    envelope = {"specversion": "1.0", "id": "e-1", "source": "/x", "type": "t"}
    read = mapped({**envelope, "data": {"prompt": "q", "reply": "a", "contexts": []}})
    assert (read.id, read.question) == ("e-1", "q")


def test_a_problem_names_the_field_where_it_stands():
    assert refused({"prompt": 3, "reply": "a", "contexts": []}) == (
        "prompt",
        "must be a string, got a number (mapped to question)",
    )
    assert refused({"reply": "a", "contexts": []}) == ("prompt", "is missing (mapped to question)")
    assert refused({"prompt": "q", "reply": "a", "contexts": [{"title": 1}]})[0] == "contexts"
    inner = (*BASIC, "usage.input=tokens", "tags.topic=subject")
    assert refused({"prompt": "q", "reply": "a", "contexts": [], "tokens": "many"}, *inner) == (
        "tokens",
        "must be a whole number, got a string (mapped to usage.input)",
    )
    row = {"prompt": "q", "reply": "a", "contexts": "", "subject": ["x"]}
    assert refused(row, *inner, headers=TABLE) == (
        "subject",
        "must be a string, number or boolean, got a list (mapped to tags.topic)",
    )
    assert refused({"prompt": "q", "reply": "a", "contexts": [], "model": 1}) == (
        "model",
        "must be a string, got a number",
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["questoin=x"], "'questoin' is not a field that events can be mapped to; these are id, app, .*tags.NAME"),
        (["question"], "--map question: write FIELD=PLACE"),
        (["question="], "the mapping of question names no field"),
        (["question=a", "question=b"], "--map question is given twice"),
        (["tags.=a"], "'tags.' is not a field"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_refused(options, problem):
    with pytest.raises(WrongSettings, match=problem):
        event_map(options)


def test_a_mapping_takes_the_place_of_a_dialect():
    assert event_map([]) is None
    with pytest.raises(WrongSettings, match="leave out 'ragas' or the mapping"):
        Decoder(dialect="ragas", event_map=EventMap({"question": "q"}))


def test_a_table_is_read_with_its_columns_by_their_names():
    text = (
        "id,question,answer,retrieved_documents,turn,occurred_at,latency_ms,tags,model\r\n"
        '1,When?,At nine.,"[""It opens at nine.""]",2,2026-05-01 08:00:00,12.5,"{""topic"": ""hours""}",\r\n'
        "2,,,,,1777622400,,,\r\n"
    )
    first, second = table(text)
    assert (first.id, first.question, first.turn, first.latency_ms) == ("1", "When?", 2, 12.5)
    assert [d.text for d in first.retrieved_documents] == ["It opens at nine."]
    assert (first.tags, first.model) == ({"topic": "hours"}, None)
    assert (second.question, second.answer, second.retrieved_documents, second.turn) == ("", "", (), None)
    assert second.occurred_at.isoformat() == "2026-05-01T08:00:00+00:00"


def test_a_table_is_read_with_a_mapping():
    (row,) = table("prompt;reply;contexts\nWhen?;At nine.;a\n", *BASIC)
    assert (row.question, row.answer, [d.text for d in row.retrieved_documents]) == ("When?", "At nine.", ["a"])


def test_a_row_with_other_cells_than_the_header_is_refused():
    with pytest.raises(InvalidMessage, match="has more or fewer cells than the header has columns"):
        table("question,answer,retrieved_documents\nWhen, exactly?,At nine.,a\n")


def test_a_topic_has_its_own_mapping(monkeypatch):
    by_topic = {"answers": {"map": {"question": "prompt", "answer": "reply", "retrieved_documents": "contexts"}}}
    monkeypatch.setenv("MONITOR_KAFKA__BY_TOPIC", json.dumps(by_topic))
    decoder = topic_decoder(Settings(), app=None, dialect=None, tag_key=lambda: b"")
    message = a_message(raw({"prompt": "q", "reply": "a", "contexts": ["x"]}))
    assert [i.question for i in decoder.decode_batch([message]).interactions] == ["q"]


def test_a_table_without_a_column_names_those_that_it_has():
    with pytest.raises(InvalidMessage) as caught:
        table("prompt,reply,contexts\nWhen?,At nine.,It opens.\n", "question=prompt")
    assert caught.value.path == "retrieved_documents"
    hint = "is missing; the columns are prompt, reply, contexts; name the one: --map retrieved_documents=COLUMN"
    assert caught.value.problem == hint
    assert table("prompt,reply,contexts\nWhen?,At nine.,It opens.\n", *BASIC)[0].answer == "At nine."


@pytest.mark.parametrize(
    "cell",
    [
        '["nine\\u0000", "ten"]',
        '[{"text": "nine\\ud800", "metadata": {"\\u0000": ["\\ud800"]}}]',
        r"['nine\x00', 'ten']",
        r"['nine\ud800']",
    ],
)
def test_what_no_text_can_hold_within_the_json_or_python_of_a_cell_is_replaced_and_marked(cell):
    for headers in ((), TABLE):
        interaction = mapped({"prompt": "When?", "contexts": cell, "reply": "At nine."}, headers=headers)
        assert interaction.retrieved_documents[0].text == "nine\ufffd"
        assert Mark.TEXT_REPLACED in interaction.marks
        assert not {"\x00", "\ud800"}.intersection(str(interaction.retrieved_documents))


def test_a_mapping_into_lists_of_lists_ends_as_a_dead_letter():
    deep = "[" * 900 + "]" * 900
    event = f'{{"prompt": "When?", "contexts": {deep}, "reply": "At nine."}}'.encode()
    assert refused(event, "question=prompt", "answer=reply", "retrieved_documents=contexts.text")[0] in {
        "$",
        "contexts.text",
    }


def test_a_python_list_is_read_item_by_item():
    def texts(cell):
        return [d.text for d in mapped({"prompt": "?", "contexts": cell, "reply": "!"}).retrieved_documents]

    assert texts(r"""['It\'s nine.', "It's ten.", 'a\nb' , '']""") == ["It's nine.", "It's ten.", "a\nb", ""]
    assert texts("['nine'\n 'ten']\n") == ["nine", "ten"]  # as NumPy shows an array
    for other in ("['nine', 'ten'", "['nine'] and more", "['nine' + 'ten']", "['nine', b'ten']", r"['\x']"):
        assert texts(other) == [other]


def test_a_python_list_of_many_texts_takes_no_hundredfold_memory():
    import tracemalloc  # noqa: PLC0415

    cell = "[" + "'a', " * 200_000 + "'a']"
    tracemalloc.start()
    assert documents(cell) == [cell]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * len(cell)
