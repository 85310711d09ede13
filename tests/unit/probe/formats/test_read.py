"""Files of golden questions as teams have them: ours, RAGAS, Langfuse, OpenAI evals; and hostile ones."""

from __future__ import annotations

import csv
import io
import json

import pytest

from monitor.core.errors import WrongSettings
from monitor.probe.formats.read import parse_golden, read_golden
from monitor.probe.golden import LONGEST_TEXT as LONGEST
from monitor.probe.golden import MOST_ITEMS as MOST
from monitor.probe.golden import GoldenItem, Source

Q, R = "How long does a refund take?", "A refund takes 14 days."
MESSAGES = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": Q}]


def lines(*rows, **given):
    return "".join(json.dumps(row, **given) + "\n" for row in rows)


def table(*rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=[*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read(text):
    return parse_golden(text, name="f")


def problems(text):
    with pytest.raises(WrongSettings) as caught:
        read(text)
    return str(caught.value).splitlines()


PAIRS = "question and reference, user_input and reference, input and expectedOutput, or input and ideal"
OURS = {"id": "q1", "question": Q, "reference": R, "tags": {"topic": "refunds", "n": 3}, "source": "shop/7"}
RAGAS = {
    "user_input": Q,
    "reference_contexts": ["Refunds: 14 days."],
    "reference": R,
    "synthesizer_name": "single_hop_specific_query_synthesizer",
}
OLD_RAGAS = {
    "question": Q,
    "contexts": ["Refunds: 14 days."],
    "ground_truth": R,
    "evolution_type": "simple",
    "metadata": [{"source": "a.md"}],
    "episode_done": True,
}
LANGFUSE = {
    "id": "clx1",
    "status": "ACTIVE",
    "input": {"question": Q},
    "expectedOutput": {"answer": R},
    "metadata": {"topic": "refunds", "deep": {"a": 1}},
    "sourceTraceId": None,
    "sourceObservationId": None,
    "datasetId": "d1",
    "datasetName": "support",
    "createdAt": "2026-11-01T10:00:00.000Z",
    "updatedAt": "2026-11-01T10:00:00.000Z",
}


@pytest.mark.parametrize(
    ("row", "id_", "tags"),
    [
        (OURS, "q1", {"topic": "refunds", "n": "3"}),
        ({"question": Q, "reference": R, "tags": ["a", "b"]}, None, {"a": "true", "b": "true"}),
        (RAGAS, None, {"synthesizer": "single_hop_specific_query_synthesizer"}),
        (OLD_RAGAS, None, {"evolution": "simple"}),
        ({"question": Q, "ground_truths": [R, "Two weeks."], "contexts": []}, None, {}),
        (LANGFUSE, "clx1", {"topic": "refunds"}),
        ({"id": "1", "input": Q, "expected_output": R, "metadata": None}, "1", {}),
        ({"input": {"messages": MESSAGES}, "expectedOutput": R}, None, {}),
        ({"input": MESSAGES, "ideal": R}, None, {}),
        ({"input": MESSAGES, "ideal": [R, "14 days"]}, None, {}),
        ({"input": Q, "ideal": R}, None, {}),
        ({"input": [{"role": "user", "content": [{"type": "input_text", "text": Q}]}], "ideal": R}, None, {}),
        ({"item": {"question": Q, "ground_truth": R}}, None, {}),
        ({"item": {"input": Q, "ideal": [R]}, "sample": {}}, None, {}),
        ({"item": {"query": Q, "expected": R}}, None, {}),
    ],
)
def test_a_row_of_each_format(row, id_, tags):
    (found,) = read(lines(row))
    assert (found.question, found.reference, found.tags) == (Q, R, tags)
    assert found.id == (id_ or found.id)
    assert found.id
    assert read(json.dumps([row])) == read(json.dumps([row], indent=2)) == [found]
    assert read(json.dumps(row, indent=2)) == [found]


@pytest.mark.parametrize("name", ["items", "data"])
def test_the_list_in_an_exported_object_is_read(name):
    text = json.dumps({"name": "support", name: [LANGFUSE, {**LANGFUSE, "id": "2", "input": "Why?"}], "meta": {"n": 2}})
    assert [item.id for item in read(text)] == ["clx1", "2"]
    assert read(json.dumps(json.loads(text), indent=1)) == read(text)


def test_tables():
    (ours,) = read(table({"id": "q1", "question": Q, "reference": R, "tags": '{"topic": "refunds"}', "source": ""}))
    assert ours == GoldenItem(id="q1", question=Q, reference=R, tags={"topic": "refunds"}, source=None)
    langfuse = {**LANGFUSE, **{name: json.dumps(LANGFUSE[name]) for name in ("input", "expectedOutput", "metadata")}}
    (found,) = read(table(langfuse))
    assert (found.id, found.question, found.reference, found.tags) == ("clx1", Q, R, {"topic": "refunds"})
    (found,) = read(table({"user_input": Q, "reference_contexts": "['a']", "reference": R, "synthesizer_name": "s"}))
    assert (found.question, found.reference) == (Q, R)


def test_what_export_writes_is_read_as_it_was():
    text = lines({**OURS, "question": "a\u2028b\x85c\x0cd"}, {**OURS, "id": "2"}, ensure_ascii=False)
    first, second = read(text)
    assert (first.question, second.id) == ("a\u2028b\x85c\x0cd", "2")


def test_files_of_other_systems(tmp_path):
    file = tmp_path / "golden.jsonl"
    file.write_bytes(
        b"\xef\xbb\xbf" + lines(OURS, {**OURS, "id": "2", "question": "Why?"}).replace("\n", "\r\n").encode()
    )
    assert [item.id for item in read_golden(file)] == ["q1", "2"]
    file.write_bytes(b"\xef\xbb\xbf" + table({"question": Q, "reference": R}).encode())
    assert [item.question for item in read_golden(file)] == [Q]
    for content, why in (
        (b"\xff\xfe{", "is not UTF-8"),
        (b"", "holds no golden items"),
        (b" \n", "holds no golden items"),
    ):
        file.write_bytes(content)
        with pytest.raises(WrongSettings, match=why):
            read_golden(file)
    with pytest.raises(WrongSettings, match="No such file"):
        read_golden(tmp_path / "nowhere")


def test_a_question_that_comes_again_counts_once():
    twice = {"question": Q, "reference": R}
    assert len(read(lines(twice, twice, {**twice, "question": f" {Q.upper()} "}))) == 1
    assert len(read(lines({**twice, "id": "1"}, {**twice, "id": "1"}))) == 1


def test_a_question_with_two_references_is_refused():
    assert problems(lines({"question": Q, "reference": R}, {"question": Q, "reference": "Never."})) == [
        "f:2: asks what place 1 asks, with another reference"
    ]


def test_an_id_of_two_questions_is_refused():
    assert problems(lines(OURS, {**OURS, "question": "Why?"})) == ["f:2: has the id 'q1' of place 1"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"q": Q}, "has none of the fields question and reference, "),
        (7, "is no object with a question and a reference"),
        ({"question": Q, "reference": " "}, "its reference is empty"),
        ({"question": "\n", "reference": R}, "its question is empty"),
        ({"question": 3, "reference": R}, "its question is not text"),
        ({"question": Q, "reference": None}, "its reference is not text"),
        ({"question": Q, "reference": "x" * (LONGEST + 1)}, "its reference has more than 20,000 characters"),
        ({"question": Q, "reference": R, "id": ["a"]}, "its id is not text"),
        ({"question": Q, "reference": R, "id": {"a": 1}}, "its id is not text"),
        ({"question": Q, "reference": R, "id": True}, "its id is not text"),
        ({"question": Q, "reference": R, "id": "x" * 201}, "its id has more than 200 characters"),
        ({"user_input": MESSAGES, "reference": R}, "its question is not text"),
        ({"input": [*MESSAGES, *MESSAGES], "ideal": R}, "its input has 2 messages of a user"),
        ({"input": MESSAGES[:1], "ideal": R}, "its input has 0 messages of a user"),
        ({"input": MESSAGES, "ideal": []}, "its reference is not text"),
        ({"input": {"n": 3}, "expectedOutput": R}, "its question is not text"),
        ({"item": {"ticket": Q}}, "its item has none of the fields question, query, prompt, input, text"),
    ],
)
def test_rows_that_are_no_golden_items_are_named(row, problem):
    (found,) = problems(lines(OURS, row))
    assert found.startswith(f"f:2: {problem}")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            {"id": "q1", "question": Q, "answer": R},
            "has question, but no reference or ground_truth or ground_truths: its {} are id, question, answer",
        ),
        ({"user_input": Q}, "has user_input, but no reference: its {} are user_input"),
        ({"input": Q}, "has input, but no expectedOutput or expected_output or ideal: its {} are input"),
        (
            {"frage": Q, "antwort": R},
            f"has none of the {{}} {PAIRS}: it has frage, antwort",
        ),
    ],
)
def test_what_a_row_or_a_header_lacks_is_named(row, problem):
    assert problems(lines(OURS, row)) == [f"f:2: {problem.format('fields')}"]
    rows = [{**row, "n": n} for n in range(3)]
    (told,) = problems(table(*rows))  # once, not for each row
    assert told == f"f:1: the header {problem.format('columns')}, n"


def test_up_to_twenty_problems_are_named():
    found = problems(lines(*[{"n": n} for n in range(25)]))
    assert len(found) == 21
    assert found[-1] == "and 5 more problems"


def test_places_in_tables_are_the_lines_where_rows_begin():
    text = 'question,reference\n"two\nlines",fine\n,empty\n"again\nand\nagain",\n'
    assert [one.split(": ")[0] for one in problems(text)] == ["f:4", "f:5"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "is not valid JSON"),
        ('{"a": ' * 100_000, "is not valid JSON"),
        ('{"question": 1' + "0" * 5_000 + ', "reference": "a"}', "is not valid JSON"),
        ("[{}", "is not valid JSON"),
        ('{"question": "a"\n{"question": "b"}\n', "is not valid JSON"),
        ("{}", "has none of the fields"),
        ("[]", "holds no golden items"),
        ('question,reference\n"a', "is not valid CSV"),
        ("question,reference\na,b,c\n", ":2: has more fields than the header"),
        ("frage;antwort\na;b\n", ":1: the header has none of the columns"),
        ("question,reference\n" + "x" * 200_000 + ",a\n", "is not valid CSV|has more than 20,000 characters"),
        ("\x00", "holds no golden items|is not valid CSV"),
        ("hello", "holds no golden items"),
    ],
)
def test_hostile_files_are_refused(text, why):
    with pytest.raises(WrongSettings, match=why):
        read(text)


def test_deep_messages_are_no_deep_calls():
    deep = {"messages": MESSAGES}
    for _ in range(500):
        deep = {"messages": deep}
    assert problems(lines(OURS, {"input": deep, "ideal": R})) == ["f:2: its question is not text"]


def test_everything_can_be_stored():
    row = {"id": "a\x00", "question": "q\ud800?", "reference": "r\x00", "tags": {"t\x00": "v\udfff"}, "source": "s\x00"}
    (found,) = read(lines(row))
    assert found == GoldenItem(
        id="a\ufffd", question="q\ufffd?", reference="r\ufffd", tags={"t\ufffd": "v\ufffd"}, source=None
    )


def test_tags_are_bounded():
    (found,) = read(lines({**OURS, "tags": {**{f"t{n}": "v" for n in range(50)}, "long": "x" * 300}}))
    assert len(found.tags) == 20
    (found,) = read(lines({**OURS, "tags": {"x" * 300: "v", "list": [1], "none": None, "yes": True}}))
    assert found.tags == {"yes": "true"}


def test_the_number_of_items_is_bounded():
    rows = [{"question": f"{n}?", "reference": R} for n in range(MOST + 1)]
    assert len(read(lines(*rows[:MOST]))) == MOST
    with pytest.raises(WrongSettings, match="has more than 10,000 items"):
        read(lines(*rows))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_another_delimiter_and_tags_in_words(delimiter):
    head, row = ("question", "reference", "tags"), ('"When, at last?"', "At nine.", '"billing, urgent"')
    (made,) = parse_golden(f"{delimiter.join(head)}\n{delimiter.join(row)}\n", name="a.csv")
    assert (made.question, made.reference) == ("When, at last?", "At nine.")
    assert made.tags == {"billing": "true", "urgent": "true"}


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("shop/7", Source("shop", "7")),
        ({"app": "team/bot", "id": "a/1"}, Source("team/bot", "a/1")),
        ("faq.md", None),
        ("a/b/c", None),
        ("/7", None),
        ({"app": "shop"}, None),
        (7, None),
    ],
)
def test_only_an_interaction_is_a_source(source, known):
    row = {"question": "When?", "reference": "At nine.", "source": source}
    (made,) = parse_golden(json.dumps(row), name="a.json")
    assert made.source == known
