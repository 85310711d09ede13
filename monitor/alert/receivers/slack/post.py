"""Posts messages so that they ping nobody, and with fewer or no blocks if Slack refuses the blocks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from monitor.alert.receivers.slack.errors import DEFECT, REFUSED_BLOCKS, Refused
from monitor.alert.receivers.slack.text import SlackMessage
from monitor.core.model import Json

log = logging.getLogger(__name__)
T = TypeVar("T")

# Slack pings nobody and links nothing by itself, and shows no previews.
QUIET = {"parse": "none", "link_names": False}
NO_PREVIEW = {"unfurl_links": False, "unfurl_media": False, "mrkdwn": False}


def first_taken(messages: Sequence[SlackMessage], call: Callable[[dict[str, Json]], T]) -> T:
    """Sends the first of `messages`, ordered from full to reduced, whose blocks Slack accepts.

    An alert must reach people even if Slack refuses all blocks: then only the text line of the last message is sent.
    """
    for message in messages:
        try:
            return call(message.content)
        except Refused as refused:
            if refused.word not in REFUSED_BLOCKS:
                raise
            log.warning("slack: the blocks of a message were refused (%s)", refused.word)
    log.error("slack: a message is shown as text only; %s", DEFECT)
    return call({"text": messages[-1].text})
