"""Decides who may press the buttons: listed people, and the members of listed user groups, read from Slack."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from threading import Lock

from monitor.alert.receivers.slack.client import SlackClient
from monitor.alert.receivers.slack.errors import Refused
from monitor.core.errors import Retriable

log = logging.getLogger(__name__)

_GROUP = "S"  # first letter of a user group's id; a person's is U or W
_KEPT_SECONDS = 300.0


class Responders:
    """Allows the people and groups with the ids in `allowed`, or everybody if it is empty. Thread-safe.

    Reading the members of a group needs the scope `usergroups:read`; they are cached for five minutes of `clock`.
    While Slack cannot be asked, nobody is allowed by a group.
    """

    def __init__(
        self, allowed: Sequence[str], *, client: SlackClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._people = frozenset(id_ for id_ in allowed if not id_.startswith(_GROUP))
        self._groups = tuple(id_ for id_ in allowed if id_.startswith(_GROUP))
        self._client = client
        self._clock = clock
        self._members: dict[str, tuple[float, frozenset[str]]] = {}
        self._lock = Lock()

    def may(self, person: str) -> bool:
        """Whether the person with this id is allowed.

        Raises:
            Retriable: Slack cannot be asked now, or the app lacks the scope.
        """
        if not (self._people or self._groups) or person in self._people:
            return True
        with self._lock:
            return any(person in self._of(group) for group in self._groups)

    def _of(self, group: str) -> frozenset[str]:
        now = self._clock()
        asked, members = self._members.get(group, (None, frozenset[str]()))
        if asked is not None and now - asked < _KEPT_SECONDS:
            return members
        try:
            answer = self._client.read("usergroups.users.list", {"usergroup": group}, expected="users")
        except Refused as refused:
            hint = "; give the app the bot scope usergroups:read" if refused.word == "missing_scope" else ""
            log.warning("slack: the members of user group %s cannot be read (%s)%s", group, refused, hint)
            raise Retriable(f"the members of a user group cannot be read: {refused}") from None
        members = frozenset(map(str, answer["users"]))
        self._members[group] = (now, members)
        return members
