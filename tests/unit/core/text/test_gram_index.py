from __future__ import annotations

import numpy as np
import pytest

from monitor.core.text.gram_index import MOST_SEEDS, GramIndex


@pytest.mark.parametrize("named", [1, 4, 8])
def test_the_places_looked_at_do_not_grow_with_the_texts_that_come_first(monkeypatch, named):
    looked_at = []
    joined = np.concatenate

    def counted(parts):
        found = joined(parts)
        looked_at.append(len(found))
        return found

    index = GramIndex(["a" * 10_000] * 10, 5)
    monkeypatch.setattr(np, "concatenate", counted)
    places, complete = index.occurrences("aaaaa", range(10 - named, 10), 64)
    assert [text for text, _ in places] == [10 - named] * 64
    assert not complete
    assert looked_at[0] <= 2 * MOST_SEEDS
    assert index.occurrences("aaaaa", range(10 - named, 10), 64) == (places, complete)
    assert len(looked_at) == 1


def test_every_place_of_the_texts_that_come_first_is_found_where_there_are_few():
    texts = ["abcde" * 500, "abcde" * 900, "abcde" * 800]
    places, complete = GramIndex(texts, 5).occurrences("abcde", [2, 1], 10_000)
    assert complete
    assert [text for text, _ in places] == [2] * 800 + [1] * 900 + [0] * 500 + [1] * 900 + [2] * 800
