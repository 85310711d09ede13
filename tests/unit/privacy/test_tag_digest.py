"""The keyed digest by which a redacted tag is found."""

from __future__ import annotations

from monitor.privacy.tag_digest import tag_digest, tag_digests

KEYS = (bytes(32), bytes([1]) * 32)


def test_it_depends_on_key_name_and_value_and_on_nothing_else():
    known = tag_digest(KEYS[0], "user", "+49 30 12345678")
    assert known == tag_digest(KEYS[0], "user", "+49 30 12345678")
    others = [
        tag_digest(KEYS[1], "user", "+49 30 12345678"),
        tag_digest(KEYS[0], "phone", "+49 30 12345678"),
        tag_digest(KEYS[0], "user", "+49 30 12345679"),
    ]
    assert len({known, *others}) == 4
    assert tag_digest(KEYS[0], "a=b", "c") != tag_digest(KEYS[0], "a", "b=c")


def test_after_a_change_of_keys_the_value_has_a_digest_under_each():
    assert tag_digests(KEYS, "user", "jane") == tuple(tag_digest(key, "user", "jane") for key in KEYS)
