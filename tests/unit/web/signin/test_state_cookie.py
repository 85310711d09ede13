from datetime import timedelta

import pytest

from monitor.web.signin.state_cookie import LONGEST, sealed, unsealed
from tests.factories.answers import NOON

KEY, OTHER = b"k" * 32, b"o" * 32
KEPT = {"state": "s", "next": "/ü?a=b"}


def test_what_was_sealed_comes_back():
    assert unsealed(sealed(KEPT, KEY, NOON), KEY, NOON) == KEPT


def test_for_ten_minutes_and_not_before_it_was_sealed():
    word = sealed(KEPT, KEY, NOON)
    assert unsealed(word, KEY, NOON + LONGEST - timedelta(seconds=1)) == KEPT
    assert unsealed(word, KEY, NOON + LONGEST) is None
    assert unsealed(word, KEY, NOON - timedelta(seconds=1)) is None


def test_under_its_own_key_only():
    assert unsealed(sealed(KEPT, KEY, NOON), OTHER, NOON) is None


@pytest.mark.parametrize("word", ["", ".", "a.b", "ü.ü", "." * 100, "e30=.", sealed(KEPT, KEY, NOON)[:-1]])
def test_nothing_else_comes_back_and_nothing_breaks(word):
    assert unsealed(word, KEY, NOON) is None


def test_no_letter_of_it_can_be_changed():
    word = sealed(KEPT, KEY, NOON)
    for place, letter in enumerate(word):
        changed = word[:place] + ("A" if letter != "A" else "B") + word[place + 1 :]
        assert unsealed(changed, KEY, NOON) is None
