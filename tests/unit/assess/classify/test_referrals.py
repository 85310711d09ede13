from __future__ import annotations

import pytest

from monitor.assess.classify.referrals import points_elsewhere


@pytest.mark.parametrize(
    "sentence",
    [
        "see [the manual](https://example.com/manual).",
        "for more details, visit https://example.com/a or https://example.com/b.",
        "more: https://example.com",
        "siehe https://example.com/hilfe",
        "lire plus : [la documentation](https://example.com/doc/12)",
        "详见 https://example.com/zh",
    ],
)
def test_a_sentence_that_only_points_says_nothing(sentence):
    assert points_elsewhere(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "see the manual.",  # no link
        "the limit is [5 gb](https://example.com/limits).",
        "you can see in [the report](https://example.com/r) that sales fell by 5 percent.",
        "the [saml gateway](https://example.com/saml) signs in users.",
        "see https://example.com: snapshots are kept in two regions and copied to a third one every night.",
        "see https://example.com/" + "a" * 500,
    ],
)
def test_a_statement_with_a_link_is_a_statement(sentence):
    assert not points_elsewhere(sentence)
