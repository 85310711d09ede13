from __future__ import annotations

import numpy as np

from monitor.assess.embed.hashing import HashEmbedder


def test_vectors_are_the_same_on_every_machine():
    # "a" and "b" hash to crc32 3904355907 and 1908338681: both odd, so -1 in dimensions 18 and 1.
    vector = HashEmbedder().embed(["a B"])[0]
    assert np.flatnonzero(vector).tolist() == sorted({(3904355907 >> 1) % 63, (1908338681 >> 1) % 63, 63})
    np.testing.assert_allclose(
        vector[[(3904355907 >> 1) % 63, (1908338681 >> 1) % 63, 63]], np.array([-1, -1, 0.5]) / 1.5
    )


def test_texts_that_share_words_are_nearer():
    near, base, far = HashEmbedder().embed(
        ["Snapshots are kept for 30 days", "snapshots are kept for 60 days", "invoices come by mail every month"]
    )
    assert near @ base > 0.7 > far @ base + 0.2


def test_the_order_of_words_does_not_count():
    one, other = HashEmbedder().embed(["one two three", "three  two\none"])
    np.testing.assert_array_equal(one, other)


def test_the_name_says_what_it_is():
    assert HashEmbedder().model == "hash/64"


def test_a_token_for_each_word_where_it_stands():
    text = "Kept: 30 days, naïve_x 🙂!"
    (tokens,) = HashEmbedder().encode([text])
    spans = zip(tokens["start"], tokens["end"], strict=True)
    assert [text[start:end] for start, end in spans] == ["Kept", "30", "days", "naïve_x"]
    assert tokens["weight"].tolist() == [5, 1, 5, 5]


def test_a_word_has_the_same_token_vector_everywhere():
    one, other = HashEmbedder().encode(["kept for days", "Days of KEPT"])
    np.testing.assert_array_equal(one["vector"][[0, 2]], other["vector"][[2, 0]])
    assert abs(one["vector"][0].astype(np.float32) @ one["vector"][1].astype(np.float32)) < 0.5
