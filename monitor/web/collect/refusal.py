"""Why a request was not taken; each transport says it in its own form."""

from __future__ import annotations

from http import HTTPStatus

from monitor.core.errors import Retriable

_DATABASE_AWAY = 5.0  # seconds until a sender should try again


class Refused(Exception):
    """Nothing of the request was kept. With `retry_after` (seconds) the sender may try again, without it never."""

    def __init__(self, status: HTTPStatus, problem: str, *, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.status = status
        self.problem = problem
        self.retry_after = retry_after


def busy(problem: str, *, retry_after: float = 1.0) -> Refused:
    """The server cannot take more at the moment."""
    return Refused(HTTPStatus.SERVICE_UNAVAILABLE, problem, retry_after=retry_after)


def not_kept(error: Retriable) -> Refused:
    """What was received could not be kept; the reason is the log's, since it may name hosts."""
    if error.retry_after is not None:
        return busy(str(error), retry_after=error.retry_after)
    return busy("the database is out of reach; nothing was kept, try again", retry_after=_DATABASE_AWAY)
