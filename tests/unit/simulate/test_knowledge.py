import json
import re
from collections import Counter
from importlib.resources import files

import pytest

KNOWLEDGE = files("monitor.simulate") / "knowledge"
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
WORD = re.compile(r"[a-z0-9]+")
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can do does for from has have if in into is it its may more no not of on "
        "one only or so than that the their them then there they this to until up use when which will with you your",
    )
)


def read_lines(name):
    return [json.loads(line) for line in (KNOWLEDGE / name).read_text(encoding="utf-8").splitlines()]


PASSAGES = {passage["id"]: passage for passage in read_lines("passages.jsonl")}
QUESTIONS = read_lines("questions.jsonl")
UNRELATED = read_lines("unrelated.jsonl")
REFUSALS = json.loads((KNOWLEDGE / "refusals.json").read_text(encoding="utf-8"))

each_question = pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item["id"])


def words(text):
    return set(WORD.findall(text.lower())) - COMMON


def support(item):
    return " ".join(f"{PASSAGES[key]['title']} {PASSAGES[key]['text']}" for key in item["passages"])


def share_in_support(answer, item):
    return len(words(answer) & words(support(item))) / len(words(answer))


def sentences(text):
    return len(re.findall(r"[.!?](?=\s|$)", text))


def test_there_is_enough_of_everything():
    assert len(PASSAGES) >= 84
    assert len({passage["topic"] for passage in PASSAGES.values()}) >= 12
    assert len(QUESTIONS) >= 156
    assert len(REFUSALS) >= 24
    assert len(UNRELATED) == 20


def test_ids_are_unique():
    ids = [row["id"] for name in ("passages.jsonl", "questions.jsonl", "unrelated.jsonl") for row in read_lines(name)]
    assert len(ids) == len(set(ids))


def test_lines_are_compact():
    for name in ("passages.jsonl", "questions.jsonl", "unrelated.jsonl"):
        for line in (KNOWLEDGE / name).read_text(encoding="utf-8").splitlines():
            assert line == json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":"))


def test_passages_have_the_agreed_shape():
    for passage in PASSAGES.values():
        assert set(passage) == {"id", "topic", "title", "text"}
        assert passage["id"].startswith(f"kb-{passage['topic']}-")
        assert 45 <= len(passage["text"].split()) <= 110, passage["id"]
        assert 3 <= sentences(passage["text"]) <= 6, passage["id"]


def test_unrelated_passages_have_the_agreed_shape():
    for passage in UNRELATED:
        assert set(passage) == {"id", "topic", "title", "text"}
        assert passage["topic"] == "legacy"
        assert 40 <= len(passage["text"].split()) <= 80, passage["id"]


def test_every_passage_is_asked_about():
    asked = {key for item in QUESTIONS for key in item["passages"]}
    assert asked == set(PASSAGES)


def test_every_topic_has_at_least_as_many_questions_as_passages():
    asked = Counter(item["topic"] for item in QUESTIONS)
    for topic, count in Counter(passage["topic"] for passage in PASSAGES.values()).items():
        assert asked[topic] >= count


def test_no_text_is_a_duplicate():
    answers = [answer for item in QUESTIONS for answer in (*item["grounded"], *item["fabricated"])]
    for texts in (
        answers,
        [item["question"] for item in QUESTIONS],
        [passage["text"] for passage in (*PASSAGES.values(), *UNRELATED)],
        REFUSALS,
    ):
        folded = [" ".join(WORD.findall(text.lower())) for text in texts]
        assert [text for text, count in Counter(folded).items() if count > 1] == []


def test_refusals_have_no_placeholder_but_the_subject():
    for refusal in REFUSALS:
        assert re.findall(r"\{.*?\}", refusal) in ([], ["{subject}"])
        assert "{" not in refusal.format(subject="two-factor login")


def test_some_refusals_are_generic_and_some_name_the_subject():
    named = sum("{subject}" in refusal for refusal in REFUSALS)
    assert 5 <= named <= len(REFUSALS) - 5


@each_question
def test_question_has_the_agreed_shape(item):
    assert set(item) == {"id", "topic", "passages", "question", "grounded", "fabricated"}
    assert 1 <= len(item["passages"]) <= 2
    assert set(item["passages"]) <= set(PASSAGES)
    assert item["topic"] in {PASSAGES[key]["topic"] for key in item["passages"]}
    assert len(item["grounded"]) == 2
    assert len(item["fabricated"]) == 1
    for answer in (*item["grounded"], *item["fabricated"]):
        assert 1 <= sentences(answer) <= 4


@each_question
def test_figures_of_grounded_answers_stand_in_passages_or_question(item):
    known = set(FIGURE.findall(support(item))) | set(FIGURE.findall(item["question"]))
    for answer in item["grounded"]:
        assert set(FIGURE.findall(answer)) <= known


@each_question
def test_grounded_answers_share_more_words_with_their_passages_than_the_fabricated_one(item):
    fabricated = share_in_support(item["fabricated"][0], item)
    assert fabricated < 0.35
    assert all(share_in_support(answer, item) > fabricated + 0.1 for answer in item["grounded"])
