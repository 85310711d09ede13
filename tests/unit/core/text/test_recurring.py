from __future__ import annotations

from monitor.core.text.recurring import LONGEST, REMEMBERED, recurring


def counted():
    read = []

    @recurring
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    return length, read


def test_a_text_that_comes_again_is_read_once():
    length, read = counted()
    assert [length("abc"), length("abc"), length("d"), length("abc")] == [3, 3, 1, 3]
    assert read == ["abc", "d"]


def test_a_text_that_is_too_long_is_read_each_time_and_takes_no_room():
    length, read = counted()
    long, longest = "x" * (LONGEST + 1), "x" * LONGEST
    assert [length(long), length(long), length(longest), length(longest)] == [LONGEST + 1] * 2 + [LONGEST] * 2
    assert read == [long, long, longest]


def test_the_texts_that_came_last_are_kept():
    length, read = counted()
    for number in range(REMEMBERED + 1):
        length(str(number))
    length("1")
    assert len(read) == REMEMBERED + 1
    length("0")
    assert len(read) == REMEMBERED + 2
