"""What arrives with personal data, and what is left of it."""

from __future__ import annotations

import hashlib
import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban, luhn

import monitor.simulate
from monitor.assess.complete.locate import locate
from monitor.core.model import Document, Mark, Match, SupportingDocument
from monitor.core.text.personal_data import PersonalData
from monitor.ingest.decode import Decoder, TopicDecoder
from monitor.privacy.redaction.redactor import redactor
from tests.factories.answers import a_dead_letter, a_message, an_interaction

MAIL = "jane.doe@shop.example"
REGIONS = ("DE", "US", "GB", "FR", "ES", "IT", "NL")
FULL = redactor(tuple(PersonalData), REGIONS, {"employee": r"EMP-\d{4}"})
KNOWLEDGE = Path(monitor.simulate.__file__).parent / "knowledge"


# --- texts ---


def test_only_the_kinds_that_are_asked_for_go():
    text = f"{MAIL}, 4111 1111 1111 1111, EMP-1234"
    assert redactor((PersonalData.CARD,)).text(text) == f"{MAIL}, [card], EMP-1234"
    assert redactor((), patterns={"employee": r"EMP-\d{4}"}).text(text).endswith(", [employee]")
    assert FULL.text(text) == "[e-mail], [card], [employee]"


def test_a_wrong_pattern_is_refused():
    with pytest.raises(ValueError, match="is no regular expression"):
        redactor((), patterns={"employee": "("})


def around(made):
    """Each between other characters that do not make it another thing."""
    beside = st.text(" ;()!?漢\n", max_size=5)
    return st.tuples(beside, made, beside)


LETTERS = st.text(string.ascii_lowercase, min_size=1, max_size=12)
MAILS = st.builds("{}.{}@{}.example".format, LETTERS, LETTERS, LETTERS)
CARDS = st.builds(lambda rest: (n := f"4{rest:014d}") + luhn.calc_check_digit(n), st.integers(0, 10**14 - 1))
IBANS = st.builds(lambda bank: f"DE{iban.calc_check_digits(f'DE00{bank:018d}')}{bank:018d}", st.integers(0, 10**18 - 1))


@given(st.lists(around(MAILS | CARDS | IBANS), min_size=1, max_size=4))
def test_none_that_is_made_survives(made):
    text = " ".join(before + value + after for before, value, after in made)
    left = FULL.text(text)
    assert not [value for _, value, _ in made if value in left]


def test_nothing_of_the_knowledge_base_is_taken_for_personal_but_an_address_that_is_one():
    texts = [path.read_text(encoding="utf-8") for path in KNOWLEDGE.glob("*.jsonl")]
    taken = {
        text[span.start : span.end]
        for whole in texts
        for line in whole.splitlines()
        for text in map(str, json.loads(line).values())
        for span in FULL._find(text)
    }
    assert taken == {"security@quillmere.example"}


# --- interactions ---


def test_every_text_is_looked_at_and_ids_are_left_alone():
    it = an_interaction(
        id=MAIL,
        question=MAIL,
        answer=f"Yes, {MAIL}.",
        reference_answer=MAIL,
        conversation_id=MAIL,
        retrieved_documents=(
            Document(id="d", text=MAIL, source=f"mailto:{MAIL}", metadata={"by": [{"mail": MAIL}], "n": 1}),
        ),
        supporting_documents=(SupportingDocument(text=MAIL),),
        tags={"user": MAIL},
    )
    after = FULL.interaction(it)
    assert after.marks == {Mark.REDACTED}
    assert (after.id, after.conversation_id) == (MAIL, MAIL)
    assert (after.question, after.answer, after.reference_answer) == ("[e-mail]", "Yes, [e-mail].", "[e-mail]")
    (document,) = after.retrieved_documents
    assert (document.text, document.source) == ("[e-mail]", "mailto:[e-mail]")
    assert document.metadata == {"by": [{"mail": "[e-mail]"}], "n": 1}
    assert after.supporting_documents == (SupportingDocument(text="[e-mail]"),)
    assert after.tags == {"user": "[e-mail]"}


def test_an_interaction_without_any_is_the_same_and_unmarked():
    it = an_interaction()
    assert FULL.interaction(it) is it


@given(st.lists(st.sampled_from([MAIL, "word", "4111111111111111", " ", "."]), max_size=8).map(" ".join))
def test_what_is_redacted_once_is_not_changed_again(text):
    once = FULL.interaction(an_interaction(question=text))
    assert FULL.interaction(once) is once


# --- supporting documents ---


def supported(document, piece):
    it = an_interaction(
        retrieved_documents=(Document(id="other", text="Nothing."), Document(id="d", text=document)),
        supporting_documents=(piece,),
    )
    after = FULL.interaction(it)
    (left,) = after.supporting_documents
    return left, after.retrieved_documents


def a_piece(document, text, **over):
    start = document.index(text)
    return SupportingDocument(**{"text": text, "document_id": "d", "start": start, "end": start + len(text), **over})


DOCUMENT = f"Write to {MAIL} or call. Snapshots are kept for 30 days. Write to {MAIL} or call."


def test_offsets_move_along_with_the_text():
    piece, documents = supported(DOCUMENT, a_piece(DOCUMENT, "Snapshots are kept for 30 days."))
    assert documents[1].text[piece.start : piece.end] == piece.text == "Snapshots are kept for 30 days."
    assert locate([piece], documents)[0].match is Match.EXACT


def test_a_piece_that_holds_an_address_still_stands_where_it_stood():
    last = DOCUMENT.rindex("Write")
    given = SupportingDocument(text=DOCUMENT[last:], document_id="d", start=last, end=len(DOCUMENT))
    piece, documents = supported(DOCUMENT, given)
    assert piece.text == "Write to [e-mail] or call."
    assert documents[1].text[piece.start : piece.end] == piece.text
    assert piece.start > 9


def test_a_piece_that_cuts_a_number_does_not_keep_the_rest_of_it():
    document = "Our card is 4111 1111 1111 1111, thanks."
    piece, documents = supported(document, a_piece(document, "1111 1111, thanks."))
    assert piece.text == "[card], thanks."
    assert documents[1].text[piece.start : piece.end] == piece.text
    without, _ = supported(document, SupportingDocument(text="1111 1111, thanks."))
    assert (without.text, without.start) == ("[card], thanks.", None)


def test_offsets_that_never_fitted_are_left_out_once_the_document_changes():
    piece, documents = supported(DOCUMENT, a_piece(DOCUMENT, "Snapshots are kept", start=0, end=5))
    assert (piece.text, piece.start, piece.end) == ("Snapshots are kept", None, None)
    assert locate([piece], documents)[0].match is Match.EXACT


def test_a_piece_of_an_unchanged_document_is_left_as_it_was():
    odd = SupportingDocument(text="not from there", document_id="d", start=3, end=9)
    assert supported("Snapshots.", odd)[0] == odd


@given(st.lists(st.sampled_from([MAIL, "4111111111111111", "word", "30"]), min_size=1, max_size=9), st.data())
def test_a_located_piece_is_always_what_the_document_says_there(words, data):
    document = " ".join(words)
    start = data.draw(st.integers(0, len(document) - 1))
    end = data.draw(st.integers(start + 1, len(document)))
    piece, documents = supported(
        document, SupportingDocument(text=document[start:end], document_id="d", start=start, end=end)
    )
    assert piece.start is None or documents[1].text[piece.start : piece.end] == piece.text
    assert MAIL not in piece.text
    assert "4111111111111111" not in piece.text


# --- dead letters ---


def test_the_bytes_of_a_dead_letter_are_redacted_and_its_digest_is_of_what_came():
    value = b'{"question": "I am ' + MAIL.encode() + b'\\n4111 1111 1111 1111", "\xff'
    letter = a_dead_letter(value, key=MAIL.encode(), headers=(("user", MAIL.encode()),), problem=f"got {MAIL}")
    after = FULL.dead_letter(letter)
    assert after.message.value == b'{"question": "I am [e-mail]\\n[card]", "\xff'
    assert after.message.size == len(after.message.value)
    assert (after.message.key, after.message.headers) == (b"[e-mail]", (("user", b"[e-mail]"),))
    assert after.problem == "got [e-mail]"
    assert after.digest == hashlib.sha256(value).digest()


def test_a_dead_letter_hides_nothing_in_escapes_and_stays_json():
    event = {"a": "Dear\tall,\nö@shop.example", "b": json.dumps({"card": "4111\t1111\t1111\t1111", "c": MAIL})}
    value = json.dumps(event).encode().replace(b"@", rb"\u0040") + b"\xff"
    after = FULL.dead_letter(a_dead_letter(value)).message.value
    assert after.endswith(b"\xff")
    left = json.loads(after[:-1])
    assert left["a"] == "Dear\tall,\n[e-mail]"
    assert json.loads(left["b"]) == {"card": "[card]", "c": "[e-mail]"}


def test_a_dead_letter_that_was_cut_stays_one_that_was():
    letter = a_dead_letter(MAIL.encode(), size=1_000)
    after = FULL.dead_letter(letter)
    assert after.message.size - len(after.message.value) == 1_000 - len(MAIL)


def test_a_dead_letter_without_any_is_the_same():
    letter = a_dead_letter(b"\xff\x00 nothing")
    assert FULL.dead_letter(letter) is letter


@given(st.binary(max_size=200))
def test_any_bytes_are_read(value):
    assert FULL.dead_letter(a_dead_letter(value)).message.position.offset == 1


def test_messages_are_redacted_as_they_are_decoded():
    event = {"id": "q-1", "question": f"I am {MAIL}", "answer": "Hello", "retrieved_documents": []}
    decoder = TopicDecoder(Decoder(), {}, FULL)
    (it,), (dead,), _ = decoder.decode_batch([a_message(json.dumps(event).encode()), a_message(MAIL.encode())])
    assert it.question == "I am [e-mail]"
    assert dead.message.value == b"[e-mail]"


def test_a_redacted_tag_leaves_a_digest_of_its_exact_value_and_another_tag_does_not():
    made = redactor((PersonalData.E_MAIL,), digest_of_tag=lambda name, value: f"digest of {name}={value}")
    after = made.interaction(an_interaction(tags={"user": MAIL, "topic": "storage"}))
    assert after.tags == {"user": "[e-mail]", "topic": "storage"}
    assert after.tag_digests == {f"digest of user={MAIL}"}
    assert made.interaction(an_interaction(tags={"topic": "storage"})).tag_digests == frozenset()
