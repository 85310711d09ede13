"""Reads JSON and problems from the API."""

from __future__ import annotations

SECRET = "Write to ada@example.org, or call +49 30 901820."
MASKED = "Write to [e-mail], or call [phone]."


def got(client, path, status=200, **parameters):
    answer = client.get(f"/api/v1/{path}", params=parameters)
    assert answer.status_code == status, answer.text
    return answer.json()


def problem(answer, status):
    """Its sentence."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    said = answer.json()
    assert said.keys() == {"type", "title", "status", "detail"}
    assert said["status"] == status
    return said["detail"]
