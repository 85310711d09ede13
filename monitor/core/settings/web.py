"""Settings of the dashboard: where it listens, and how people sign in."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.settings.sections import Section, split

_ISSUER = (
    r"https://[^/\s?#]+[^\s?#]*$|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s?#]*)?$"  # or on this machine
)
_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)]


class OidcSettings(Section):
    """Sign-in by OpenID Connect: the authorization code flow with PKCE."""

    issuer: str | None = Field(None, description="its address; /.well-known/openid-configuration is read from it")
    client_id: str | None = None
    client_secret: SecretStr | None = None
    scopes: _Names = ("openid", "email", "profile")
    role_claim: str = Field("groups", description="of the ID token; may lead inwards, as realm_access.roles")
    viewers: _Names = Field((), description="values of the claim that make a viewer; * is everybody who signs in")
    operators: _Names = ()
    auditors: _Names = ()
    admins: _Names = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.issuer is not None and not re.match(_ISSUER, self.issuer):
            raise ValueError("issuer is no https address")
        if len({self.issuer is None, self.client_id is None}) > 1:
            raise ValueError("issuer and client_id go together")
        if self.issuer is not None and not any((self.viewers, self.operators, self.auditors, self.admins)):
            raise ValueError("say who may do what: viewers, operators, auditors or admins")
        return self


class WebSettings(Section):
    """The dashboard, `monitor serve`. Without a token or OIDC it answers on this machine only."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, lt=65_536)] = 8080
    session_hours: float = Field(12.0, gt=0, description="after which people sign in again")
    trusted_proxies: _Names = Field((), description="addresses whose X-Forwarded-… headers are believed")
    log_level: Literal["info", "warning"] = "warning"
    oidc: OidcSettings = OidcSettings()
