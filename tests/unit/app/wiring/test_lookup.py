from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from monitor.app.doctor.services import check_lookup
from monitor.app.wiring.lookup import document_lookup, sources
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.settings.load import load_settings


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text('{"id": "a", "text": "A", "body": "B"}\n', encoding="utf-8")
    return path


@pytest.fixture
def settings(monkeypatch):
    def given(**named):
        for name, value in named.items():
            monkeypatch.setenv(f"MONITOR_LOOKUP__{name}", str(value))
        return load_settings()

    return given


def checked(settings):
    return check_lookup(SimpleNamespace(settings=settings))


def test_without_a_source_there_is_no_look_up(settings):
    assert document_lookup(settings().lookup) is None
    assert checked(settings()).startswith("not set:")


def test_a_file_is_a_source_and_an_app_may_have_its_own(settings, file):
    of_shop = {"shop": {"path": str(file), "text_path": "body"}}
    lookup = document_lookup(settings(PATH=file, BY_APP=json.dumps(of_shop)).lookup)
    assert lookup.texts("bank", ["a", "b"]) == {"a": "A"}
    assert lookup.texts("shop", ["a"]) == {"a": "B"}
    lookup.close()


def test_an_app_may_be_the_only_one_with_a_source(settings, file):
    lookup = document_lookup(settings(BY_APP=json.dumps({"shop": {"path": str(file)}})).lookup)
    assert (lookup.texts("shop", ["a"]), lookup.texts("bank", ["a"])) == ({"a": "A"}, {})
    lookup.close()


def test_each_kind_of_source_is_named_without_its_secrets(settings, file):
    of_apps = {
        "a": {
            "database_url": "postgresql://user:geheim@kb.example.com/kb",
            "query": "SELECT id, t FROM d WHERE id IN :ids",
        },
        "b": {"url": "https://kb.example.com/{id}?key=geheim", "token": "geheim"},
        "c": {"path": str(file)},
    }
    named = sources(settings(BY_APP=json.dumps(of_apps)).lookup)
    assert [source.describe() for source in named.values()] == [
        "SQL on kb.example.com",
        "HTTP at kb.example.com",
        f"file {file}",
    ]
    assert "MONITOR_LOOKUP__BY_APP a" in named
    for source in named.values():
        source.close()


def test_the_doctor_asks_every_source(settings, file):
    assert checked(settings(PATH=file)) == f"MONITOR_LOOKUP: file {file} answers"
    with pytest.raises(Retriable, match="No such file"):
        checked(settings(PATH=file.with_name("gone")))


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ({"QUERY": "SELECT 1"}, "LOOKUP__…: DATABASE_URL and QUERY go together"),
        ({"DATABASE_URL": "sqlite://", "QUERY": "SELECT id, t FROM d"}, "LOOKUP__…: QUERY needs the bind :ids"),
        ({"PATH": "x", "URL": "http://kb/{id}"}, "LOOKUP__…: only one of QUERY, URL and PATH can be set"),
        ({"URL": "http://{id}/"}, "LOOKUP__URL: must be an http or https URL of the form "),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings, named, problem):
    with pytest.raises(WrongSettings, match=problem):
        settings(**named)
