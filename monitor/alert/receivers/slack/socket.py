"""Keeps the Socket Mode link: a WebSocket over which Slack sends interactions, reopened whenever it is lost.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import logging
import select
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from monitor.alert.receivers.slack.client import silent_logger, web_client
from monitor.alert.receivers.slack.errors import Refused, out_of_reach

log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0  # how often the link is checked
_LONGEST_WAIT_SECONDS = 60.0
_STOP_SECONDS = 5.0
_HUNG_UP = getattr(select, "POLLRDHUP", select.POLLHUP)


class SlackSocket:
    """Acknowledges every envelope and passes its payload to `receive`, which must return at once."""

    def __init__(self, *, app_token: str, api_url: str, receive: Callable[[Mapping[str, Any]], None]) -> None:
        self._app_token = app_token
        self._web = web_client(None, api_url)
        self._receive = receive
        self._stopping = Event()
        self._keeper = Thread(target=self._keep, name="slack-socket", daemon=True)

    def start(self) -> None:
        """Connects in the background."""
        self._keeper.start()

    def stop(self) -> None:
        """Closes the link, and waits at most a few seconds for that; may be called without `start`."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join(_STOP_SECONDS)

    def _keep(self) -> None:
        client = SocketModeClient(
            app_token=self._app_token, web_client=self._web, logger=silent_logger(), auto_reconnect_enabled=False
        )
        client.socket_mode_request_listeners.append(self._on_request)
        wait, lost = _LOOK_SECONDS, False
        while not self._stopping.wait(wait if lost else _LOOK_SECONDS if _stands(client) else 0):
            if _stands(client):
                continue
            trouble = self._connect(client)
            if trouble is None:
                log.info("slack: listening for buttons")
                wait, lost = _LOOK_SECONDS, False
            else:
                if not lost:
                    log.warning("slack: buttons do not work for now (%s); reconnecting until they do", trouble)
                wait, lost = min(2 * wait, _LONGEST_WAIT_SECONDS) if lost else _LOOK_SECONDS, True
        with suppress(Exception):
            _close(client)

    def _connect(self, client: SocketModeClient) -> str | None:
        """The error, or None. Replaces slack_sdk's own connect, which waits and logs secrets."""
        with client.connect_operation_lock:  # slack_sdk itself reconnects when Slack asks for it
            if client.is_connected():
                return None
            try:
                url = str(client.web_client.apps_connections_open(app_token=self._app_token)["url"])
                client.wss_uri, client.proxy = url, _proxy_for(url)
                client.connect()
            except SlackApiError as error:
                response = error.response
                refused = Refused(response.get("error"), status=response.status_code, headers=response.headers)
                return (
                    f"{refused}: MONITOR_SLACK__APP_TOKEN must be an app-level token with the scope connections:write"
                )
            except Exception as error:  # noqa: BLE001  slack_sdk raises bare exceptions when a proxy refuses
                return str(out_of_reach(error))
            return None if client.is_connected() else "slack: the WebSocket is out of reach"

    def _on_request(self, client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        try:
            client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))
        except SlackClientError:  # Slack may send it again; `receive` ignores repetitions
            log.warning("slack: a click could not be acknowledged")
        if request.type == "interactive":
            self._receive(request.payload)


def _stands(client: SocketModeClient) -> bool:
    """Whether the link is up; slack_sdk needs half a minute of busy waiting to notice that the other end hung up."""
    session = client.current_session
    if session is None or session.sock is None:
        return False
    try:
        watch = select.poll()
        watch.register(session.sock.fileno(), _HUNG_UP)
        if not watch.poll(0):
            return True
        session.disconnect()
    except (OSError, ValueError, AttributeError):  # closed since
        return False
    return False


def _proxy_for(url: str) -> str | None:
    """The proxy for `url`; slack_sdk honours HTTPS_PROXY but not NO_PROXY."""
    host = urlsplit(url).hostname or ""
    return None if proxy_bypass(host) else getproxies().get("https")


def _close(client: SocketModeClient) -> None:
    """Closes the client; the socket is shut first, since slack_sdk's close waits up to three seconds for a packet."""
    session = client.current_session
    if session is not None and session.sock is not None:
        with suppress(OSError):
            session.sock.shutdown(socket.SHUT_RDWR)
    client.close()
