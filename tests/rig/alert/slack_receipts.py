"""Notifications that follow a receipt of Slack's."""

from __future__ import annotations

from tests.factories.alert.notifications import a_notification, a_resolved_notification, at


def later(receipt, **changes):
    return a_notification(number=1, news="repeated", pages=True, at=at(60), previous=receipt, **changes)


def the_end(receipt, **changes):
    return a_resolved_notification(previous=receipt, **changes)
