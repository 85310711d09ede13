from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.iso7064 import mod_97_10

from monitor.privacy.redaction.forms import _is_account, _is_card

ACCOUNT = st.text(string.ascii_letters + string.digits, min_size=11, max_size=30)


@given(st.text(string.digits, min_size=11, max_size=18))
def test_one_last_digit_of_ten_makes_a_card(digits):
    assert [last for last in string.digits if _is_card(digits + last)] == [luhn.calc_check_digit(digits)]


@given(ACCOUNT)
def test_check_digits_of_accounts_are_those_of_iso_7064(account):
    checks = mod_97_10.calc_check_digits(account + "DE")
    assert _is_account(f"DE{checks}{account}")
    assert not _is_account(f"DE{int(checks) % 97 + 1:02}{account}") or int(checks) % 97 + 1 == int(checks)


@given(ACCOUNT, st.integers(0, 99))
def test_accounts_are_judged_as_the_library_judges_them(account, checks):
    written = f"DE{checks:02}{account}"
    assert _is_account(written) == mod_97_10.is_valid(written[4:] + written[:4])
