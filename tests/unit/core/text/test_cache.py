from __future__ import annotations

from monitor.core.text.cache import CACHED_TEXTS, LONGEST_CACHED, cached_by_text


def counted():
    read = []

    @cached_by_text
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    return length, read


def test_a_repeated_text_is_read_once():
    length, read = counted()
    assert [length("abc"), length("abc"), length("d"), length("abc")] == [3, 3, 1, 3]
    assert read == ["abc", "d"]


def test_a_text_over_the_limit_is_read_each_time_and_takes_no_room():
    length, read = counted()
    long, longest = "x" * (LONGEST_CACHED + 1), "x" * LONGEST_CACHED
    assert [length(long), length(long), length(longest), length(longest)] == [LONGEST_CACHED + 1] * 2 + [
        LONGEST_CACHED
    ] * 2
    assert read == [long, long, longest]


def test_the_most_recent_texts_are_kept():
    length, read = counted()
    for number in range(CACHED_TEXTS + 1):
        length(str(number))
    length("1")
    assert len(read) == CACHED_TEXTS + 1
    length("0")
    assert len(read) == CACHED_TEXTS + 2


def test_short_texts_alone_are_cached_where_a_function_is_to_keep_many():
    read = []
    length = cached_by_text(lambda text: read.append(text) or len(text), texts=2, longest=3)
    assert [length("abc"), length("abc"), length("abcd"), length("abcd")] == [3, 3, 4, 4]
    assert read == ["abc", "abcd", "abcd"]
