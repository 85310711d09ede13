"""What benchmarks have encoded once is kept for the next one."""

from __future__ import annotations

import hashlib

import numpy as np

from benchmarks.labelled import Encoded, _load, _save


def test_encoded_texts_come_back_from_a_folder_that_was_not_there(tmp_path):
    rng = np.random.default_rng(0)
    held = {
        hashlib.sha256(str(n).encode()).digest(): Encoded(
            rng.random(4, np.float32), rng.random((n, 3), np.float32), rng.random((n + 1, 4), np.float32)
        )
        for n in range(3)
    }
    path = tmp_path / "state" / "cache" / "texts.npz"
    assert _load(path) == {}
    _save(path, held)
    found = _load(path)
    assert found.keys() == held.keys()
    for key, row in held.items():
        assert all(map(np.array_equal, found[key], row))
