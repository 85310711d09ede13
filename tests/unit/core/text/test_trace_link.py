"""Addresses of traces, from templates and from ids that anyone may have chosen."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from pydantic import TypeAdapter, ValidationError

from monitor.core.settings.export import TraceUrls
from monitor.core.text.trace_link import trace_link

TEMPLATE = "https://langfuse.example/project/x/traces/{trace_id}"
read = TypeAdapter(TraceUrls).validate_python


def linked(trace_id, template=TEMPLATE, **more):
    return trace_link(read(template), app="support-bot", id_="q-1", trace_id=trace_id, **more)


def test_the_trace_takes_its_place_in_the_template():
    assert linked("4bf9") == "https://langfuse.example/project/x/traces/4bf9"


@pytest.mark.parametrize(
    "trace_id",
    [
        "javascript:alert(1)",
        "../../../admin",
        "x?project=other#top",
        'x" onmouseover="alert(1)',
        "<script>alert(1)</script>",
        "a b\r\nSet-Cookie: x",
        "{app}{trace_id}{span_id}",
        "@evil.example/",
        "%2e%2e/%00",
        "\ud800\u202e",
        "|text> <https://evil.example",
    ],
)
def test_no_id_leaves_its_segment(trace_id):
    found = urlsplit(linked(trace_id))
    assert (found.scheme, found.netloc, found.query, found.fragment) == ("https", "langfuse.example", "", "")
    assert found.path.count("/") == 4
    assert not set(found.path) & set("<>\"' {}|\\\r\n")


@pytest.mark.parametrize("trace_id", ["", None, ".", ".."])
def test_without_a_trace_or_with_steps_to_other_pages_there_is_no_link(trace_id):
    assert linked(trace_id) is None


def test_a_template_with_the_span_gives_no_link_without_one():
    template = "http://jaeger.local:16686/trace/{trace_id}?uiFind={span_id}"
    assert linked("4bf9", template) is None
    assert linked("4bf9", template, span_id="00f0") == "http://jaeger.local:16686/trace/4bf9?uiFind=00f0"


def test_an_app_may_have_an_address_of_its_own():
    templates = read('{"support-bot": "https://a.example/{trace_id}", "*": "https://b.example/{app}/{trace_id}"}')
    assert trace_link(templates, app="support-bot", id_="q", trace_id="t") == "https://a.example/t"
    assert trace_link(templates, app="other bot", id_="q", trace_id="t") == "https://b.example/other%20bot/t"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("javascript:alert('{trace_id}')", "must begin with http"),
        ("https://{trace_id}.example/", "must begin with http"),
        ("https://user:secret@host.example/{trace_id}", "must begin with http"),
        ("ftp://host/{trace_id}", "must begin with http"),
        ("https://host/x", "lacks {trace_id}"),
        ("https://host/{trace_id}/{model}", "has {model}"),
        ('{"bot": "data:text/html,{trace_id}"}', "of bot must begin with http"),
        ("{not json", "neither an address nor JSON"),
    ],
)
def test_a_template_that_is_no_web_address_is_refused(template, problem):
    with pytest.raises(ValidationError, match=problem):
        read(template)


def test_no_address_is_set_by_default():
    assert read("") == {}
    assert trace_link({}, app="a", id_="q", trace_id="t") is None
