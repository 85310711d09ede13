"""How a message is handed to Slack so that it pings nobody, and arrives in some form whatever Slack thinks of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from monitor.alert.receivers.slack.errors import DEFECT, REFUSED_BLOCKS, Refused
from monitor.alert.receivers.slack.text import SlackMessage
from monitor.core.model import Json

log = logging.getLogger(__name__)
T = TypeVar("T")

# Nobody is pinged, nothing is linked or unfurled that we did not link ourselves.
QUIET = {"parse": "none", "link_names": False}
NO_PREVIEW = {"unfurl_links": False, "unfurl_media": False, "mrkdwn": False}


def first_taken(messages: Sequence[SlackMessage], call: Callable[[dict[str, Json]], T]) -> T:
    """Sends the first of `messages` whose blocks Slack takes, each less than the one before.

    A page that Slack will not show in blocks is still a page: then the one line of the last goes out alone.
    """
    for message in messages:
        try:
            return call(message.content)
        except Refused as refused:
            if refused.word not in REFUSED_BLOCKS:
                raise
            log.warning("slack: the blocks of a message were refused (%s)", refused.word)
    log.error("slack: only the text of a message is shown; %s", DEFECT)
    return call({"text": messages[-1].text})
