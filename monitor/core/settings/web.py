"""Settings of the dashboard: address, sign-in and sessions."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Port, Section, split

# http is allowed only on this machine
_ISSUER = r"https://[^/\s?#]+[^\s?#]*$|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s?#]*)?$"
_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)]


class OidcSettings(Section):
    """Sign-in by OpenID Connect: the authorization code flow with PKCE."""

    issuer: str | None = Field(None, description="URL; /.well-known/openid-configuration is read below it")
    client_id: str | None = None
    client_secret: SecretStr | None = None
    scopes: _Names = ("openid", "email", "profile")
    role_claim: str = Field("groups", description="claim of the ID token; may be nested, as realm_access.roles")
    viewers: _Names = Field((), description="values of the claim that make a viewer; *: everyone who signs in")
    operators: _Names = ()
    auditors: _Names = ()
    admins: _Names = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.issuer is not None and not re.match(_ISSUER, self.issuer):
            raise ValueError("issuer is not an https URL")
        if len({self.issuer is None, self.client_id is None}) > 1:
            raise ValueError("issuer and client_id go together")
        if self.issuer is not None and not any((self.viewers, self.operators, self.auditors, self.admins)):
            raise ValueError("set at least one of viewers, operators, auditors and admins")
        return self


class WebSettings(Section):
    """The dashboard, `monitor serve`. Without a token or OIDC it serves this machine only, by a printed link."""

    host: str = "127.0.0.1"
    port: Port = 8080
    session_hours: float = Field(12.0, gt=0, description="hours before people must sign in again")
    trusted_proxies: _Names = Field((), description="addresses whose X-Forwarded-… headers are trusted")
    log_level: Literal["info", "warning"] = "warning"
    oidc: OidcSettings = OidcSettings()
