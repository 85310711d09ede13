"""Settings of the dashboard: address, sign-in and sessions."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

from monitor.core.errors import WrongSettings
from monitor.core.installed.extras import require
from monitor.core.settings.sections import Port, Section, split

# http is allowed only on this machine
_ISSUER = r"https://[^/\s?#]+[^\s?#]*$|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(/[^\s?#]*)?$"
OIDC_CALLBACK = "/signin/oidc/callback"  # the path below MONITOR_PUBLIC_URL to which a provider sends people back
_Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split)]


class OidcSettings(Section):
    """Sign-in by OpenID Connect: the authorization code flow with PKCE."""

    issuer: str | None = Field(None, description="URL; /.well-known/openid-configuration is read below it")
    client_id: str | None = Field(None, description="goes with issuer")
    client_secret: SecretStr | None = Field(None, description="none for a public client")
    scopes: _Names = Field(("openid", "email", "profile"), description="the scopes to ask for")
    role_claim: str = Field("groups", description="claim of the ID token; may be nested, as realm_access.roles")
    viewers: _Names = Field((), description="values of the claim that make a viewer; *: everyone who signs in")
    operators: _Names = Field((), description="values that make an operator")
    auditors: _Names = Field((), description="values that make an auditor")
    admins: _Names = Field((), description="values that make an admin")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.issuer is not None and not re.match(_ISSUER, self.issuer):
            raise ValueError("issuer is not an https URL")
        if len({self.issuer is None, self.client_id is None}) > 1:
            raise ValueError("issuer and client_id go together")
        if self.issuer is not None and not any((self.viewers, self.operators, self.auditors, self.admins)):
            raise ValueError("set at least one of viewers, operators, auditors and admins")
        return self

    def redirect_uri(self, public_url: str | None) -> str | None:
        """The address to which the provider sends people back; None without a provider.

        Raises:
            WrongSettings: the package that this needs is not installed, or `public_url` is not set.
        """
        if self.issuer is None:
            return None
        require("oidc", "MONITOR_WEB__OIDC__ISSUER")
        if not public_url:
            raise WrongSettings(
                "MONITOR_WEB__OIDC__… needs MONITOR_PUBLIC_URL, the address under which people reach this dashboard: "
                f"the provider sends them back to {OIDC_CALLBACK} below it, so register that address as a redirect URI"
            )
        return f"{public_url.rstrip('/')}{OIDC_CALLBACK}"


class WebSettings(Section):
    """The dashboard, `monitor serve`. Without a token or OIDC it serves this machine only, by a printed link."""

    host: str = Field("127.0.0.1", description="the address to listen on; 0.0.0.0: all of this machine")
    port: Port = Field(8080, description="0: any free one")
    session_hours: float = Field(12.0, gt=0, description="hours before people must sign in again")
    trusted_proxies: _Names = Field((), description="addresses whose X-Forwarded-… headers are trusted")
    log_level: Literal["info", "warning"] = Field("warning", description="info logs each request")
    oidc: OidcSettings = OidcSettings()
