import json
from base64 import urlsafe_b64encode
from datetime import timedelta

import pytest

from monitor.web.signin.signin import LONGEST_AWAY
from monitor.web.signin.state_cookie import SignInState, read_state, sign_state
from tests.factories.answers import NOON

KEY, OTHER = b"k" * 32, b"o" * 32
STATE = SignInState(state="s", nonce="n", verifier="v", after="/ü?a=b")


def test_signed_state_comes_back():
    assert read_state(sign_state(STATE, KEY, NOON), KEY, NOON) == STATE


def test_it_holds_for_ten_minutes_and_not_before_it_was_signed():
    cookie = sign_state(STATE, KEY, NOON)
    assert read_state(cookie, KEY, NOON + LONGEST_AWAY - timedelta(seconds=1)) == STATE
    assert read_state(cookie, KEY, NOON + LONGEST_AWAY) is None
    assert read_state(cookie, KEY, NOON - timedelta(seconds=1)) is None


def test_it_holds_under_its_own_key_only():
    assert read_state(sign_state(STATE, KEY, NOON), OTHER, NOON) is None


@pytest.mark.parametrize("cookie", ["", ".", "a.b", "ü.ü", "." * 100, "e30=.", sign_state(STATE, KEY, NOON)[:-1]])
def test_any_other_cookie_is_refused_without_an_error(cookie):
    assert read_state(cookie, KEY, NOON) is None


@pytest.mark.parametrize("odd", [1, None, [], {}, "x", True, ["exp"], 1.5])
@pytest.mark.parametrize("name", ["alg", "crit", "b64", "kid", "typ"])
def test_a_header_of_odd_types_is_refused_without_an_error(name, odd):
    header, claims = (
        urlsafe_b64encode(json.dumps(part).encode()).decode() for part in ({"alg": "HS384", name: odd}, {})
    )
    assert read_state(f"{header.rstrip('=')}.{claims.rstrip('=')}.AAAA", KEY, NOON) is None


def test_no_character_of_it_can_be_changed():
    cookie = sign_state(STATE, KEY, NOON)
    for place, letter in enumerate(cookie):
        changed = cookie[:place] + ("A" if letter != "A" else "B") + cookie[place + 1 :]
        assert read_state(changed, KEY, NOON) is None
