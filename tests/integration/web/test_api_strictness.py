"""The JSON API refuses undeclared parameters and fields, and its OpenAPI document is complete."""

from __future__ import annotations

import pytest

from tests.rig.web.api import got, problem


@pytest.mark.parametrize(
    "query",
    [
        *(
            "unknown=1",
            "limit=0",
            "limit=201",
            "limit=1.0",
            "limit=%201",
            "limit=1&limit=2",
            "since=2025",
            "app=a&app=b",
        ),
        *("since=2025-11-21", "since=1763726400", "since=2025-11-21T12:00:00", "since=2025-13-01T00:00:00Z"),
        *("verdict=good", "metric=sda", "metric=xyz:0..1", "metric=sda:0..2", "labelled=maybe", f"app={'x' * 1001}"),
    ],
)
def test_a_slip_in_the_address_is_refused_and_not_read_as_something_else(viewer, query):
    problem(viewer.get(f"/api/v1/interactions?{query}"), 422)


@pytest.mark.parametrize("query", ["clear=yes", "clear=1", "clear=TRUE", "clear=", "x=1"])
def test_a_flag_is_true_or_false(viewer, query):
    problem(viewer.get(f"/api/v1/interactions/a/b?{query}"), 422)


@pytest.mark.parametrize("time", ["0000-01-01T00:00:00Z", "9999-12-31T23:59:60-23:59", "0001-01-01T00:00:00+23:59"])
def test_times_at_the_edge_of_all_times_are_times(viewer, time):
    assert got(viewer, "interactions", since=time, until=time)["items"] == []


def test_what_postgres_cannot_hold_finds_nothing(viewer):
    assert got(viewer, "interactions", app="a\x00b")["items"] == []
    problem(viewer.get("/api/v1/interactions/a%00/b"), 404)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"app": "a", "id": "b"},
        {"app": "a", "id": "b", "label": "good"},
        {"app": "a", "id": 7, "label": "refusal"},
        {"app": "a", "id": "b", "label": "refusal", "by": "somebody else"},
        {"app": "", "id": "b", "label": "refusal"},
        [],
        "text",
    ],
)
def test_a_body_has_to_be_of_the_declared_form(operator, body):
    problem(operator.post("/api/v1/labels", json=body), 422)


def test_a_body_that_is_no_json_is_refused(operator):
    problem(operator.post("/api/v1/labels", content=b"{", headers={"content-type": "application/json"}), 422)
    problem(operator.post("/api/v1/labels", data={"app": "a"}), 422)


def test_the_page_of_the_api_lists_every_operation(site):
    text = site.by_token("viewer").get("/api").text
    document = site.app.openapi()
    for path, methods in document["paths"].items():
        for method, its in methods.items():
            assert f'id="{its["operationId"]}"' in text, (method, path)
    assert 'href="/api/v1/openapi.json"' in text


def test_the_description_is_whole(site):
    document = site.anonymous().get("/api/v1/openapi.json").json()
    names = [its["operationId"] for methods in document["paths"].values() for its in methods.values()]
    assert len(set(names)) == len(names)
    for path, methods in document["paths"].items():
        assert path.startswith("/api/v1/")
        for its in methods.values():
            assert its["summary"]
            assert its["description"]
            assert its["tags"]
            assert its["security"] == [{"HTTPBearer": []}]
            assert {"400", "401", "403", "422", "503"} <= its["responses"].keys()
