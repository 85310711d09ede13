"""Groups of settings for receivers, notifications and our own metrics."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Port, Section, split

Responders = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[UWS][A-Z0-9]{2,30}$")], ...], NoDecode, BeforeValidator(split)
]
_YEAR = 365 * 86_400  # seconds


class SlackSettings(Section):
    """Where alerts go: a bot token with a channel, or an incoming webhook."""

    bot_token: SecretStr | None = Field(None, description="xoxb-…; needs channel")
    channel: str | None = Field(None, description="the channel's id, C…; an id lets posted messages be looked up")
    app_token: SecretStr | None = Field(None, description="xapp-…; adds buttons to messages, through Socket Mode")
    responders: Responders = Field(
        (), description="ids of people (U…) or user groups (S…) who may press buttons; none: everyone in the channel"
    )
    webhook_url: SecretStr | None = Field(
        None, description="an incoming webhook instead of a bot; without threads and buttons"
    )
    api_url: str = Field("https://slack.com/api/", description="another address of Slack's API, such as a proxy's")


def _without_login(url: str) -> str:
    if "@" in url.split("/", 3)[2]:
        raise ValueError("contains a user name: set username and password instead")
    return url


HttpUrl = Annotated[str, Field(pattern=r"^https?://[^/\s<>|\"\\^`{}]+[^\s<>|\"\\^`{}]*$")]
_Address = Annotated[str, Field(pattern=r"^[^\s@<>,;:\"\\()\[\]]+@[^\s@<>,;:\"\\()\[\]]+$")]


class AlertmanagerSettings(Section):
    """Prometheus's Alertmanager: one, or all of a cluster."""

    urls: Annotated[
        tuple[Annotated[HttpUrl, AfterValidator(_without_login)], ...], NoDecode, BeforeValidator(split)
    ] = Field((), description="all members of one cluster, separated by commas")
    username: str | None = Field(None, description="goes with password")
    password: SecretStr | None = Field(None, description="goes with username")
    bearer_token: SecretStr | None = Field(None, description="instead of username and password")

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together")
        if self.username is not None and self.bearer_token is not None:
            raise ValueError("set either username and password, or bearer_token")
        return self


class PagerDutySettings(Section):
    """A PagerDuty service, through the Events API v2."""

    routing_key: SecretStr | None = Field(None, description="the integration key of an Events API v2 integration")
    url: HttpUrl = Field("https://events.pagerduty.com", description="https://events.eu.pagerduty.com in the EU")


class WebhookSettings(Section):
    """Any HTTP server; the body has the form of Alertmanager's webhooks."""

    url: SecretStr | None = Field(None, description="where alerts are posted")
    secret: SecretStr | None = Field(None, description="signs each request")
    bearer_token: SecretStr | None = Field(None, description="sent in the header Authorization")


class TeamsSettings(Section):
    """A channel or chat of Microsoft Teams, through a workflow with a webhook."""

    url: SecretStr | None = Field(None, description="of the trigger 'When a Teams webhook request is received'")


class EmailSettings(Section):
    """A mail server, the sender and the recipients."""

    host: str | None = Field(None, description="the mail server")
    port: Annotated[int | None, Field(gt=0, lt=65_536)] = Field(
        None, description="default: 587; with tls: 465; with none: 25"
    )
    security: Literal["none", "starttls", "tls"] = Field(
        "starttls", description="none sends in clear, and takes no password"
    )
    username: str | None = Field(None, description="goes with password")
    password: SecretStr | None = Field(None, description="goes with username")
    sender: _Address | None = Field(None, description="the address that mails come from")
    recipients: Annotated[tuple[_Address, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="separated by commas"
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len({self.host is None, self.sender is None, not self.recipients}) > 1:
            raise ValueError("host, sender and recipients go together")
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together")
        if self.password is not None and self.security == "none":
            raise ValueError("a password needs security starttls or tls")
        return self


class MetricsSettings(Section):
    """The pages for Prometheus. Anyone who reaches the port can read the metrics."""

    host: str = Field("127.0.0.1", description="the address to listen on; 0.0.0.0: all of this machine")
    port: Port | None = Field(None, description="default: no endpoint; 0: any free port")


class NotifySettings(Section):
    """How long receivers are retried, and the fallback for one that fails."""

    fallback: str | None = Field(
        None, description="a receiver that gets the notifications that another receiver cannot deliver"
    )
    fallback_after: float = Field(
        300.0, ge=0, le=_YEAR, description="seconds that a receiver may fail before the fallback is notified"
    )
    deadline: float = Field(86_400.0, gt=0, le=_YEAR, description="seconds after which a notification is given up")
