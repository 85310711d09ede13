from __future__ import annotations

from hashlib import sha256
from hmac import new

from monitor.audit.commitment import SECRET_BYTES, commitment, field_key, new_secret

SECRET = bytes(range(32))


def test_a_secret_is_as_long_as_the_hash_and_drawn_each_time():
    assert new_secret(bytes) == bytes(SECRET_BYTES)
    assert len(new_secret()) == SECRET_BYTES
    assert new_secret() != new_secret()


def test_key_and_commitment_are_hmacs_over_name_and_canonical_bytes():
    key = new(SECRET, b"question", sha256).digest()
    assert field_key(SECRET, "question") == key
    assert commitment(key, {"b": 1.0, "a": "?"}) == new(key, b'{"a":"?","b":1}', sha256).hexdigest()


def test_what_differs_is_told_apart():
    keys = [field_key(secret, field) for secret in (SECRET, bytes(32)) for field in ("question", "answer")]
    made = {commitment(key, value) for key in keys for value in (None, "", "null", [], {}, False, 0, "0")}
    assert len(made) == len(keys) * 8
