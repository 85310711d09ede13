from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from monitor.core.errors import Retriable
from monitor.ingest.lookup.file import FileLookup


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def path(tmp_path):
    return tmp_path / "documents.jsonl"


@pytest.fixture
def reading(path):
    with ExitStack() as closing:

        def made(**settings):
            lookup = FileLookup(path, **settings)
            closing.callback(lookup.close)
            return lookup

        yield made


def write(path, *documents):
    path.write_text("".join(json.dumps(d, ensure_ascii=False) + "\n" for d in documents), encoding="utf-8")


def test_texts_are_found_by_id(path, reading):
    write(path, {"id": "a", "text": "A"}, {"id": 2, "text": "Zwei – ü"}, {"id": "c", "text": "C"})
    assert reading().texts("shop", ["2", "c", "x"]) == {"2": "Zwei – ü", "c": "C"}


def test_the_paths_say_where_id_and_text_stand(path, reading):
    write(path, {"chunk": {"key": "a", "body": "A"}})
    assert reading(id_path="chunk.key", text_path="chunk.body").texts("shop", ["a"]) == {"a": "A"}


def test_of_several_lines_the_last_counts_and_others_are_left_out(path, reading, monkeypatch):
    monkeypatch.setattr("monitor.ingest.lookup.file._LONGEST_LINE", 100)
    path.write_bytes(
        b'\xff\n\n[1]\n{"id": "a", "text": "old"}\n{"id": "b"}\n{"id": true, "text": "x"}\n'
        + json.dumps({"id": "long", "text": "x" * 200}).encode()
        + b'\n{"id": "a", "text": "new"}\n{"id": "cut", "te'
    )
    assert reading().texts("shop", ["a", "b", "true", "long", "cut"]) == {"a": "new"}


def test_ids_whose_hashes_collide_are_told_apart(path, reading, monkeypatch):
    monkeypatch.setattr("monitor.ingest.lookup.file._hash", lambda _: 7)
    write(path, {"id": "a", "text": "A"}, {"id": "b", "text": "B"})
    assert reading().texts("shop", ["b", "a", "c"]) == {"a": "A", "b": "B"}


def test_a_file_that_changes_is_read_again(path, reading):
    clock = Clock()
    write(path, {"id": "a", "text": "A"})
    lookup = reading(clock=clock)
    assert lookup.texts("shop", ["a", "b"]) == {"a": "A"}
    new = path.with_name("new")
    write(new, {"id": "b", "text": "B"})
    new.replace(path)
    assert lookup.texts("shop", ["a"]) == {"a": "A"}  # it looks every few seconds only
    clock.now = 60.0
    assert lookup.texts("shop", ["a", "b"]) == {"b": "B"}


def test_a_file_that_is_missing_may_come_later(path, reading):
    lookup = reading()
    with pytest.raises(Retriable, match="No such file"):
        lookup.texts("shop", ["a"])
    write(path, {"id": "a", "text": "A"})
    assert lookup.texts("shop", ["a"]) == {"a": "A"}


def test_the_index_takes_16_bytes_a_line(path, reading):
    write(path, *({"id": f"document-{i}", "text": "x" * 100} for i in range(2_000)))
    lookup = reading()
    assert lookup.texts("shop", ["document-1999"]) == {"document-1999": "x" * 100}
    assert lookup._hashes.nbytes + lookup._offsets.nbytes == 16 * 2_000


def test_texts_of_one_call_are_bounded(path, reading, monkeypatch):
    monkeypatch.setattr("monitor.ingest.lookup.lookup.MAX_TEXTS_BYTES", 2)
    write(path, *({"id": key, "text": key} for key in "abc"))
    assert reading().texts("shop", ["a", "b", "c"]) == {"a": "a", "b": "b"}
