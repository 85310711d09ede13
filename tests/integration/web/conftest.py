"""The dashboard over a real PostgreSQL, in this process, with clients of any role."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from starlette.testclient import TestClient

from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from monitor.store.tokens import Access
from monitor.web.app import create_app
from monitor.web.base.access import Role
from monitor.web.base.guard import Guard
from tests.factories.answers import NOON
from tests.rig.store.keys import give_key

HERE = "http://127.0.0.1:8080"
NUMBERS = count(1)  # so that no two tokens have one name


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self) -> None:
        self.moment: datetime = NOON

    def __call__(self) -> datetime:
        return self.moment

    def pass_by(self, length: timedelta) -> None:
        self.moment += length


class Site:
    """An application and its clients. Errors are not raised: clients get the responses that people get."""

    def __init__(self, application: Application, clock: Clock, **guard: Any) -> None:
        self.application = application
        self.clock = clock
        self.access = Access(application.engine)
        self.guard = Guard(access=self.access, now=clock, **guard)
        self.app = create_app(application, self.guard)

    def anonymous(self, *, at: str = HERE, **headers: str) -> TestClient:
        return TestClient(self.app, base_url=at, headers=headers, raise_server_exceptions=False, follow_redirects=False)

    def token(self, role: str, name: str = "", **over: Any) -> str:
        """The secret of a new token."""
        name = name or f"{role}-{next(NUMBERS)}"
        return self.access.make_token(name, Role(role), by="tests", now=self.clock(), **over)[1]

    def by_token(self, role: str, *, at: str = HERE) -> TestClient:
        return self.anonymous(at=at, authorization=f"Bearer {self.token(role)}")

    def signed_in(self, role: str, *, at: str = HERE) -> tuple[TestClient, str]:
        """A browser with a session, and the CSRF token of its forms."""
        client = self.anonymous(at=at)
        answer = client.post("/signin", data={"token": self.token(role)})
        assert answer.status_code == 303, answer.text
        return client, csrf_of(client)


def csrf_of(client: TestClient) -> str:
    """The CSRF token, from the footer of a page that every role may see and that costs little."""
    text = client.get("/reports").text
    return re.search('action="/signout"><input type="hidden" name="csrf" value="([0-9a-f]{64})"', text)[1]


@pytest.fixture
def moving() -> Clock:
    return Clock()


@pytest.fixture
def make_site(database, monkeypatch, moving):
    """Makes sites over the test's database, with its audit key; keywords are settings by their environment names."""
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    made = []

    def make(*, guard: dict[str, Any] | None = None, **settings: str) -> Site:
        for name, value in settings.items():
            monkeypatch.setenv(f"MONITOR_{name}", value)
        application = Application(load_settings(), now=moving)
        give_key(application.settings.state_dir)
        made.append(Site(application, moving, **(guard or {})))
        return made[-1]

    yield make
    for its in made:
        its.app.state.jobs.stop()
        its.application.__exit__()


@pytest.fixture
def site(make_site) -> Site:
    return make_site(guard={"only_tokens": True})


@pytest.fixture
def viewer(site):
    return site.by_token("viewer")


@pytest.fixture
def operator(site):
    return site.by_token("operator")


@pytest.fixture
def auditor(site):
    return site.by_token("auditor")


@pytest.fixture
def looks(rows):
    """The recorded looks at personal data."""
    return lambda: rows("SELECT app, subject, body ->> 'by' FROM audit_queue WHERE kind = 'look' ORDER BY seq")
