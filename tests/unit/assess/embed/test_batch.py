from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.batch import embed_batch, encode_batch
from monitor.assess.embed.hashing import HashEmbedder
from monitor.core.model import Document
from tests.factories.assess.interactions import TableEmbedder, interaction, support

WORDS = TableEmbedder({"q": (1, 0, 0), "a": (0, 1, 0), "doc": (0, 0, 1), "other": (1, 1, 0)}).table


def items(ragged, i):
    return ragged.items[ragged.starts[i] : ragged.starts[i + 1]].tolist()


def test_each_distinct_text_is_embedded_once_in_a_single_call():
    embedder = TableEmbedder(WORDS)
    interactions = [interaction("q", "a", ["doc", "other"]), interaction("q", "doc", ["doc", "doc"])]
    embed_batch(interactions, [support("doc"), support("other", "a")], embedder)
    (asked,) = embedder.asked
    assert sorted(asked) == ["a", "doc", "other", "q"]


def test_indices_point_at_the_rows_of_the_texts():
    embedder = TableEmbedder(WORDS)
    batch = embed_batch([interaction("q", "a", ["doc", "other"])], [support("other", "q")], embedder)
    (asked,) = embedder.asked
    row = {text: place + 1 for place, text in enumerate(asked)}
    assert batch.question.tolist() == [row["q"]]
    assert batch.answer.tolist() == [row["a"]]
    assert items(batch.retrieved, 0) == [row["doc"], row["other"]]
    assert items(batch.supporting, 0) == [row["other"], row["q"]]
    assert batch.vectors[row["doc"]].tolist() == [0, 0, 1]
    assert batch.lengths[row["other"]] == 5


def test_row_zero_is_zero_and_stands_for_empty_texts():
    batch = embed_batch([interaction("", " \n", ["doc"])], [support()], TableEmbedder(WORDS))
    assert not batch.vectors[0].any()
    assert batch.lengths[0] == 0
    assert (batch.question.tolist(), batch.answer.tolist()) == ([0], [0])


def test_empty_documents_are_absent_and_empty_lists_keep_their_place():
    interactions = [interaction("q", "a", ["", "doc", " "]), interaction("q", "a"), interaction("q", "a", ["other"])]
    batch = embed_batch(interactions, [support("\t"), support("doc"), support()], TableEmbedder(WORDS))
    assert batch.retrieved.starts.tolist() == [0, 1, 1, 2]
    assert batch.supporting.starts.tolist() == [0, 0, 1, 1]


def test_the_embedder_is_not_called_for_nothing():
    embedder = TableEmbedder(WORDS)
    batch = embed_batch([interaction("", "", [" "])], [support()], embedder)
    assert embedder.asked == []
    assert batch.vectors.shape == (1, 3)
    assert embed_batch([], [], embedder).question.shape == (0,)


def test_texts_that_differ_in_white_space_only_are_different_texts():
    embedder = TableEmbedder({**WORDS, "q ": (0, 1, 1)})
    embed_batch([interaction("q", "q ", [])], [support()], embedder)
    assert embedder.asked == [["q", "q "]]


def test_shapes_are_those_that_the_scores_expect():
    batch = embed_batch([interaction("q", "a", ["doc"])], [support("doc")], TableEmbedder(WORDS))
    assert (batch.vectors.dtype, batch.lengths.dtype) == (np.float32, np.float32)
    assert {x.dtype for x in (batch.question, batch.answer, batch.retrieved.items, batch.supporting.starts)} == {
        np.dtype(np.int64)
    }


text = st.text(alphabet="abc \n", max_size=4)


@given(st.lists(st.tuples(text, text, st.lists(text, max_size=4), st.lists(text, max_size=4)), max_size=6))
def test_every_text_can_be_read_back_by_its_row(rows):
    class Recording(HashEmbedder):
        def embed(self, texts):
            self.texts = list(texts)
            return super().embed(texts)

    embedder = Recording()
    embedder.texts = []
    batch = embed_batch(
        [interaction(q, a, documents) for q, a, documents, _ in rows], [support(*s) for *_, s in rows], embedder
    )
    read = ["", *embedder.texts]
    assert len(set(read)) == len(read) == len(batch.vectors) == len(batch.lengths)
    for i, (question, answer, documents, pieces) in enumerate(rows):
        assert read[batch.question[i]] == (question if question.strip() else "")
        assert read[batch.answer[i]] == (answer if answer.strip() else "")
        assert [read[row] for row in items(batch.retrieved, i)] == [d for d in documents if d.strip()]
        assert [read[row] for row in items(batch.supporting, i)] == [s for s in pieces if s.strip()]


def test_a_document_is_known_by_its_text_and_not_by_its_id():
    embedder = TableEmbedder(WORDS)
    documents = (Document(id="1", text="doc"), Document(id="2", text="doc"))
    batch = embed_batch([interaction("q", "a", retrieved_documents=documents)], [support()], embedder)
    assert len(set(items(batch.retrieved, 0))) == 1
    assert len(items(batch.retrieved, 0)) == 2


class RecordingEncoder(HashEmbedder):
    """Records the texts that it was asked for, call by call."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.append(list(texts))
        return super().encode(texts)


def test_each_distinct_text_is_encoded_once_in_a_single_call():
    encoder = RecordingEncoder()
    interactions = [interaction("q", "a", ["doc", "other"]), interaction("q", "doc", ["doc", "", "doc"])]
    one, two = encode_batch(interactions, encoder)
    (asked,) = encoder.asked
    assert sorted(asked) == ["", "a", "doc", "other", "q"]
    assert one.question is two.question
    assert one.documents[0] is two.answer is two.documents[0] is two.documents[2]


def test_tokens_belong_to_their_texts_and_empty_documents_keep_their_place():
    (encoded,) = encode_batch([interaction("Where?", "", ["one two", " ", "three"])], HashEmbedder())
    assert [len(document) for document in encoded.documents] == [2, 0, 1]
    assert (len(encoded.question), len(encoded.answer)) == (1, 0)
    np.testing.assert_array_equal(encoded.documents[2], HashEmbedder().encode(["three"])[0])


def test_a_batch_of_nothing_is_encoded_to_nothing():
    assert encode_batch([], HashEmbedder()) == []
    (encoded,) = encode_batch([interaction("q", "a")], HashEmbedder())
    assert encoded.documents == ()
