"""The groups of settings about who is told, and how the rest of the world watches us."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Section, split

Responders = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[UWS][A-Z0-9]{2,30}$")], ...], NoDecode, BeforeValidator(split)
]


class SlackSettings(Section):
    """Where alerts go: a bot token with a channel, or an incoming webhook."""

    bot_token: SecretStr | None = None
    channel: str | None = Field(None, description="its id, C…, so that what was posted can be looked up")
    app_token: SecretStr | None = Field(None, description="xapp-…: buttons under the messages, by Socket Mode")
    responders: Responders = Field(
        (), description="ids of people (U…) or user groups (S…) who may press them; none: who sees the channel"
    )
    webhook_url: SecretStr | None = None
    api_url: str = "https://slack.com/api/"


def _without_login(url: str) -> str:
    if "@" in url.split("/", 3)[2]:
        raise ValueError("holds a user's name: set username and password instead")
    return url


_HttpUrl = Annotated[str, Field(pattern=r"^https?://[^/\s<>|\"\\^`{}]+[^\s<>|\"\\^`{}]*$")]
_Address = Annotated[str, Field(pattern=r"^[^\s@<>,;:\"\\()\[\]]+@[^\s@<>,;:\"\\()\[\]]+$")]


class AlertmanagerSettings(Section):
    """Prometheus's Alertmanager, one or all of a cluster."""

    urls: Annotated[
        tuple[Annotated[_HttpUrl, AfterValidator(_without_login)], ...], NoDecode, BeforeValidator(split)
    ] = Field((), description="several of one cluster with commas between them")
    username: str | None = None
    password: SecretStr | None = None
    bearer_token: SecretStr | None = Field(None, description="instead of username and password")

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together")
        if self.username is not None and self.bearer_token is not None:
            raise ValueError("set either username and password, or bearer_token")
        return self


class PagerDutySettings(Section):
    """A service of PagerDuty, by its Events API v2."""

    routing_key: SecretStr | None = Field(None, description="the integration key of an Events API v2 integration")
    url: _HttpUrl = Field("https://events.pagerduty.com", description="https://events.eu.pagerduty.com in the EU")


class WebhookSettings(Section):
    """Any HTTP server, in the form that Alertmanager's webhooks have."""

    url: SecretStr | None = None
    secret: SecretStr | None = Field(None, description="signs what is sent")
    bearer_token: SecretStr | None = None


class EmailSettings(Section):
    """A mail server, and who gets mail."""

    host: str | None = None
    port: Annotated[int | None, Field(gt=0, lt=65_536)] = Field(None, description="587; tls: 465; none: 25")
    security: Literal["none", "starttls", "tls"] = "starttls"
    username: str | None = None
    password: SecretStr | None = None
    sender: _Address | None = None
    recipients: Annotated[tuple[_Address, ...], NoDecode, BeforeValidator(split)] = Field(
        (), description="several with commas between them"
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len({self.host is None, self.sender is None, not self.recipients}) > 1:
            raise ValueError("host, sender and recipients go together")
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together")
        if self.password is not None and self.security == "none":
            raise ValueError("a password is sent over starttls or tls only")
        return self


class MetricsSettings(Section):
    """Where Prometheus finds our metrics. Whoever reaches the port can read them."""

    host: str = "127.0.0.1"
    port: Annotated[int | None, Field(ge=0, lt=65_536)] = Field(None, description="none: off; 0: any that is free")


class NotifySettings(Section):
    """How long receivers are tried, and who is told instead of one that fails."""

    fallback: str | None = Field(None, description="a receiver that is told of what another one could not be told")
    fallback_after: float = Field(300.0, ge=0, description="seconds that a receiver may fail before that")
    deadline: float = Field(86_400.0, gt=0, description="seconds after which a notification is given up")
