from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from monitor.core.errors import Fatal
from monitor.ingest import lines as line_splitting
from monitor.ingest.records import SURPLUS, Form, form_of, records

ITEMS = [{"a": 'x"}],{'}, {"b": [1, {"c": "\\"}]}, {"d": "ü\n"}, {}]


@pytest.fixture(params=[1, 2, 3, 7, 1000])
def chunk(request, monkeypatch):
    monkeypatch.setattr(line_splitting, "CHUNK_BYTES", request.param)
    monkeypatch.setattr("monitor.ingest.records.CHUNK_BYTES", request.param)


def read(content, form=Form.JSON, limit=10**6):
    return [one for one in records(io.BytesIO(content), form, limit) if one is not None and one[0].strip()]


def rows(content):
    return [json.loads(value) for value, _ in read(content, Form.TABLE)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_an_array_is_read_item_by_item(indent, bom):
    content = bom + json.dumps(ITEMS, indent=indent).encode()
    assert [json.loads(value) for value, _ in read(content)] == ITEMS


@pytest.mark.usefixtures("chunk")
def test_a_document_is_found_however_its_bytes_arrive():
    content = json.dumps(ITEMS, indent=2).encode()
    assert [(json.loads(value), length == len(value)) for value, length in read(content)] == [(i, True) for i in ITEMS]


def test_objects_that_go_on_over_several_lines_are_read_one_by_one():
    content = "\n".join(json.dumps(item, indent=2) for item in ITEMS).encode()
    assert [json.loads(value) for value, _ in read(content)] == ITEMS


def test_what_follows_the_last_item_is_not_lost():
    assert [value for value, _ in read(b'[{"a": 1}] and more')] == [b'{"a": 1}', b"and more"]


@pytest.mark.usefixtures("chunk")
def test_an_item_over_the_limit_is_cut_and_its_length_told():
    first, second, third = read(b'[{"a": 1}, {"b": "' + b"x" * 100 + b'"}, {"c": 3}]', limit=12)
    assert (first, third) == ((b'{"a": 1}', 8), (b'{"c": 3}', 8))
    assert (len(second[0]), second[1] > 100) == (13, True)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.csv", Form.TABLE),
        ("a.TSV.gz", Form.TABLE),
        ("a.csv.zst", Form.TABLE),
        ("a.jsonl", Form.JSON),
        ("csv", Form.JSON),
        ("-", Form.JSON),
    ],
)
def test_the_name_tells_a_table(name, form):
    assert form_of(Path(name)) is form


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_the_header_shows_the_delimiter(sign, bom):
    content = f'{bom}question{sign}"the answer, in short"\r\n"Say ""when""\r\n, please"{sign}Now\r\n\r\nb{sign}c\r\n'
    assert rows(content.encode()) == [
        {"question": 'Say "when"\r\n, please'.replace("\r", ""), "the answer, in short": "Now"},
        {"question": "b", "the answer, in short": "c"},
    ]


def test_rows_are_numbered_as_in_a_spreadsheet():
    numbered = [v for v, _ in (r for r in records(io.BytesIO(b"a,b\n1,2\n\n3,4\n"), Form.TABLE, 99) if r is not None)]
    assert numbered == [b"", b'{"a": "1", "b": "2"}', b"", b'{"a": "3", "b": "4"}']


def test_a_column_without_a_name_is_called_by_its_place():
    assert rows(b",question\n0,Why?\n") == [{"column 1": "0", "question": "Why?"}]


def test_a_row_says_that_it_has_other_cells_than_the_header():
    assert rows(b"a,b\n1,2,3\n4\n") == [{"a": "1", "b": "2", SURPLUS: ["3"]}, {"a": "4", SURPLUS: []}]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PK\x03\x04\x14\x00", "a ZIP archive, as spreadsheets are: unpack it"),
        ('{"id": "1"}\n'.encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is no text file"),
    ],
)
def test_what_is_no_text_is_refused_before_its_first_line(content, problem):
    with pytest.raises(Fatal, match=problem):
        read(content)


@pytest.mark.parametrize(
    ("content", "lines_"),
    [
        (b'{"id": "1"}\n' * 3 + b"\0" * 4096, 4),  # a crash
        (b"\0" * 4096 + b'{"id": "1"}\n' * 3, 3),  # emptied under a writer that goes on at its place
        (b'{"id": "\0"}\n' + b'{"id": "1"}\n', 2),
    ],
)
def test_bytes_0_in_a_log_make_no_binary_file_of_it(content, lines_):
    assert len(read(content)) == lines_


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the table is empty"),
        (b"question,answer;text\na,b\n", "can be split at ',' and at ';' alike"),
        (b"a,b,a\n1,2,3\n", "the header names a twice"),
        ("a,b\nä,ö\n".encode("latin-1"), "is not UTF-8; save it as CSV in UTF-8"),
        ("a,b\n".encode("utf-16"), "is UTF-16"),
        (b'a,b\n"x,1\n' + b"y,2\n" * 40, "a quotation mark in it may not be closed"),
        (b'a,b\n"x,1\n', "row 2 is not CSV"),
    ],
)
def test_a_table_that_cannot_be_read_says_why(content, problem):
    with pytest.raises(Fatal, match=problem):
        read(content, Form.TABLE, limit=100)


def test_a_header_of_many_names_is_read():
    names = [f"n{number}" for number in range(200_000)]
    first, row = [r for r in records(io.BytesIO((",".join(names) + "\n1\n").encode()), Form.TABLE, 10**7) if r]
    assert first == (b"", 0)
    assert json.loads(row[0])["n0"] == "1"
