"""Calls Slack's Web API and webhooks through slack_sdk; refusals raise `Refused`, outages raise `Retriable`.

No error text and no log line of this module holds a token or a webhook's URL.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web import SlackResponse
from slack_sdk.webhook import WebhookClient, WebhookResponse
from typing_extensions import override

from monitor.alert.receivers.slack.errors import Refused, out_of_reach
from monitor.alert.wording import http_url
from monitor.core.errors import Retriable, WrongSettings

API_URL = "https://slack.com/api/"
TIMEOUT_SECONDS = 10
_OK = 200  # the HTTP status
_LARGEST_ANSWER = 16 * 2**20  # bytes; what comes instead, such as a proxy's page, must not fill the memory
# The exceptions of connections, HTTP, garbled answers and slack_sdk.
_NO_ANSWER = (OSError, HTTPException, ValueError, SlackClientError)


class SlackClient:
    """Calls methods of the Web API with one token. Every method may raise `Refused` or `Retriable`."""

    def __init__(self, *, token: str, api_url: str, timeout: int = TIMEOUT_SECONDS) -> None:
        self._client = web_client(token, api_url, timeout=timeout)
        self._timeout = timeout

    def write(self, method: str, payload: Mapping[str, Any], *, expected: str = "ts") -> dict[str, Any]:
        """Calls a method that takes JSON; the answer has a text or a list under the key `expected`."""
        return self._call(method, expected, json=dict(payload))

    def read(self, method: str, arguments: Mapping[str, Any], *, expected: str) -> dict[str, Any]:
        """Like `write`, for methods that take only forms, such as the reading ones."""
        return self._call(method, expected, params=dict(arguments))

    def _call(self, method: str, expected: str, **request: Any) -> dict[str, Any]:
        try:
            answer = self._client.api_call(method, **request)
        except SlackApiError as error:
            raise _refused(error.response) from None
        except _NO_ANSWER as error:
            raise out_of_reach(error) from None
        data = answer.data
        if not isinstance(data, dict) or not isinstance(data.get(expected), str | list):
            raise Retriable("slack: the answer is not from Slack; check MONITOR_SLACK__API_URL")
        return data

    def upload(self, url: str, content: bytes) -> None:
        """Posts a file to the URL that `files.getUploadURLExternal` returned."""
        if http_url(url) is None:
            raise Retriable("slack: the upload URL is not an http or https URL")
        request = Request(url, data=content, headers={"Content-Type": "application/octet-stream"})  # noqa: S310  checked above
        try:
            _sent(request, self._timeout)
        except HTTPError as error:
            raise Refused("", status=error.code, headers=dict(error.headers)) from None
        except _NO_ANSWER as error:
            raise out_of_reach(error) from None


class WebhookPost:
    """Posts JSON to one Slack URL: an incoming webhook, or the response URL of a click."""

    def __init__(self, url: str, *, timeout: int = TIMEOUT_SECONDS) -> None:
        self._client = _Webhook(url, timeout=timeout, retry_handlers=[], logger=silent_logger())
        self._client.proxy = None  # as in `web_client`

    def post(self, payload: dict[str, Any]) -> None:
        """Raises `Refused` or `Retriable` if Slack does not accept the payload."""
        try:
            answer = self._client.send_dict(payload)
        except _NO_ANSWER as error:
            raise out_of_reach(error) from None
        if answer.status_code != _OK or answer.body.strip() not in ("ok", '{"ok":true}'):
            raise Refused(answer.body.strip(), status=answer.status_code, headers=answer.headers)


def web_client(token: str | None, api_url: str, *, timeout: int = TIMEOUT_SECONDS) -> WebClient:
    """slack_sdk's client without its retries, logs and proxy handling.

    Raises:
        WrongSettings: `api_url` is not an http or https URL.
    """
    if http_url(api_url) is None:
        raise WrongSettings("MONITOR_SLACK__API_URL is not an http or https URL")
    client = _Web(token=token, base_url=api_url, timeout=timeout, retry_handlers=[], logger=silent_logger())
    client.proxy = None  # urllib's own reading of HTTPS_PROXY also honours NO_PROXY
    return client


def silent_logger() -> logging.Logger:
    """A logger that drops everything: slack_sdk logs the webhook URL and whole payloads at DEBUG."""
    return logging.Logger("slack_sdk", level=logging.CRITICAL + 1)  # noqa: LOG001  attached to nothing on purpose


class _NoRedirects(HTTPRedirectHandler):
    """A redirect is an error: urllib would send the token, but not the message, to wherever it leads."""

    @override
    def redirect_request(self, *_: Any) -> None:
        return None


class _Web(WebClient):
    @override
    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
        answer, body = _sent(req, self.timeout)
        return {"status": answer.status, "headers": answer.headers, "body": body}


class _Webhook(WebhookClient):
    @override
    def _perform_http_request_internal(self, url: str, req: Request) -> WebhookResponse:
        answer, body = _sent(req, self.timeout)
        return WebhookResponse(url=url, status_code=answer.status, body=body, headers=dict(answer.headers))


def _sent(request: Request, timeout: int) -> tuple[HTTPResponse, str]:
    """The answer and its body, by the proxy that the environment names; an error raises `HTTPError`."""
    answer: HTTPResponse
    with build_opener(_NoRedirects).open(request, timeout=timeout) as answer:
        return answer, answer.read(_LARGEST_ANSWER).decode("utf-8", "replace")


def _refused(response: SlackResponse) -> Refused:
    return Refused(response.get("error"), status=response.status_code, headers=response.headers)
