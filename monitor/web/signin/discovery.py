"""The discovery document of an OpenID Connect provider (Discovery 1.0 §3 and §4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.core.errors import WrongSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The provider's discovery document: its name and endpoints."""

    issuer: str
    authorization: str
    token: str
    keys: str
    by_post: bool  # the client secret goes into the form: the provider does not accept Basic authentication


def parse_discovery(issuer: str, document: Mapping[str, Any]) -> Discovery:
    """Checks that the document is of the configured issuer, and that its addresses are as safe as the issuer's.

    Raises:
        WrongSettings: one of these does not hold.
    """
    if not isinstance(document.get("issuer"), str) or document["issuer"].rstrip("/") != issuer.rstrip("/"):
        raise WrongSettings(
            f"MONITOR_WEB__OIDC__ISSUER={issuer}: the provider calls itself {ascii(document.get('issuer'))[:200]}"
        )
    addresses = [document.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
    safe = "https://" if issuer.startswith("https://") else ("https://", "http://")
    if not all(isinstance(address, str) and address.startswith(safe) for address in addresses):
        raise WrongSettings(f"MONITOR_WEB__OIDC__ISSUER={issuer}: the provider's document names no safe addresses")
    authorization, token, keys = map(str, addresses)
    methods: Sequence[object] = document.get("token_endpoint_auth_methods_supported") or ("client_secret_basic",)
    by_post = "client_secret_basic" not in methods and "client_secret_post" in methods
    return Discovery(issuer=document["issuer"], authorization=authorization, token=token, keys=keys, by_post=by_post)
