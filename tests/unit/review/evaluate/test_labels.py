from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.ingest.decode import Decoder
from monitor.review.evaluate.labels import default_group, read_labels
from tests.factories.answers import an_interaction, clock


def line(number=1, **over):
    known = {
        "id": f"q-{number}",
        "question": "How long  is it kept?",
        "answer": "For 30 days.",
        "retrieved_documents": ["It is kept for 30 days."],
        "label": "grounded",
    }
    return json.dumps({name: value for name, value in {**known, **over}.items() if value != "left out"}) + "\n"


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    decode = Decoder(dialect="native").decode_batch
    return read_labels([Path("-")], decode=decode, now=clock, stdin=io.BytesIO(data))


def test_a_line_is_an_event_with_a_label():
    row, other = read(
        line(1, label="self_generated", group="faq", answerable=False, drawn="random", model="m")
        + line(2, question="how long is it KEPT?")
    )
    assert (row.label, row.group, row.answerable, row.drawn) == (Verdict.SELF_GENERATED, "faq", False, "random")
    assert (row.interaction.id, row.interaction.model) == ("q-1", "m")
    assert row.interaction.retrieved_documents[0].text == "It is kept for 30 days."
    assert (other.label, other.group, other.answerable, other.drawn) == (
        Verdict.GROUNDED,
        default_group(an_interaction(question="How long  is it kept?")),
        None,
        None,
    )


def test_compressed_lines_and_nulls_are_read():
    text = line(1, group=None, answerable=None, drawn=None) + "\n" + line(2)
    assert [row.interaction.id for row in read(gzip.compress(text.encode()))] == ["q-1", "q-2"]


def test_the_same_question_is_one_group_and_no_question_is_none():
    assert default_group(an_interaction(question=" Who?\nMe ")) == default_group(an_interaction(question="who? me"))
    first, second = an_interaction(id="1", question=""), an_interaction(id="2", question=" ")
    assert default_group(first) != default_group(second)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (line(label="left out"), "-:1: label: is missing"),
        (line(label="good"), '-:1: label: must be one of grounded, refusal, self_generated; got "good"'),
        (line(label=None), "-:1: label: must be one of"),
        (line(answerable="yes"), "-:1: answerable: must be true, false or null, got a string"),
        (line(answerable=1), "-:1: answerable: must be true, false or null, got a number"),
        (line(group=3), "-:1: group: must be a string or null, got a number"),
        (line(drawn=[]), "-:1: drawn: must be a string or null, got a list"),
        (line(answer="left out"), "-:1: answer: is missing"),
        ("no JSON\n", "-:1: the message is not JSON"),
        (line(1) + "\n" + line(2) + line(1), "-:4: id: the same answer is in -:1 already"),
    ],
)
def test_a_bad_line_is_named_with_its_place(bad, said):
    with pytest.raises(
        WrongSettings, match=r"1 line is not a labelled event \(`monitor docs quality/evaluation` says what one is\):"
    ) as caught:
        read(bad)
    assert said in str(caught.value)


def test_every_bad_line_is_counted_and_ten_are_shown():
    with pytest.raises(
        WrongSettings, match=r"14 lines are not labelled events \(`monitor docs quality/evaluation` says what one is\):"
    ) as caught:
        read("".join([line(1)] + ["[]\n"] * 14))
    message = str(caught.value)
    assert message.count("must be a JSON object") == 10
    assert "-:2: " in message
    assert "-:11: " in message
    assert message.endswith("and 4 more")


def test_a_file_without_a_line_is_said():
    with pytest.raises(WrongSettings, match="there is no line to read"):
        read("\n\n")
