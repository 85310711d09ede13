"""A scripted OpenID provider on 127.0.0.1, with real RSA keys, that checks its client as a strict one does.

`tamper` is given the claims and header of each ID token before it is signed; `fails` holds what paths answer instead.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tests.servers.webhook import Answer, HttpServer, Request, http_server

CLIENT, SECRET = "monitor", "client/secret with: signs+"
ADA = {"sub": "248289761001", "email": "ada@example.org", "email_verified": True, "groups": ["staff", "on-call"]}


def new_key(kid: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


@cache
def first_key() -> RSAKey:
    """The provider's own; making one takes a while."""
    return new_key("first")


def by_hand(header: Mapping[str, Any], claims: Mapping[str, Any], sign: Callable[[bytes], bytes]) -> str:
    """A token that no library would write; `sign` may well give no signature at all."""
    body = b".".join(_word(json.dumps(part).encode()) for part in (header, claims))
    return b".".join((body, _word(sign(body)))).decode()


def _word(value: bytes) -> bytes:
    return base64.urlsafe_b64encode(value).rstrip(b"=")


@dataclass
class OidcProvider:
    """What the provider knows. `write` makes the ID token of header and claims."""

    redirect_uri: str
    now: Callable[[], datetime]
    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: dict(ADA))
    key: RSAKey | ECKey | OKPKey = field(default_factory=first_key)
    tamper: Callable[[dict[str, Any], dict[str, Any]], None] = lambda header, claims: None  # noqa: ARG005
    write: Callable[[dict[str, Any], dict[str, Any]], str] | None = None
    document: dict[str, Any] = field(default_factory=dict)
    fails: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def authorize(self, address: str) -> str:
        """What a browser that is sent to `address` is sent back to, once its user has agreed."""
        at = urlsplit(address)
        sent = {name: values[0] for name, values in parse_qs(at.query).items()}
        assert f"{at.scheme}://{at.netloc}{at.path}" == f"{self.issuer}/authorize"
        assert sent["client_id"] == CLIENT
        assert sent["redirect_uri"] == self.redirect_uri
        assert sent["response_type"] == "code"
        assert sent["code_challenge_method"] == "S256"
        assert "openid" in sent["scope"].split()
        code = f"code-{len(self.codes)}"
        self.codes[code] = sent
        return f"{self.redirect_uri}?{urlencode({'code': code, 'state': sent['state']})}"

    def respond(self, request: Request) -> Answer:
        self.asked.append(request.path)
        if request.path in self.fails:
            return self.fails[request.path]
        match request.path:
            case "/.well-known/openid-configuration":
                return _json({**self._document(), **self.document})
            case "/keys":
                return _json({"keys": [self.key.as_dict(private=False)]})
            case "/token":
                return self._token(request)
        return Answer(status=404)

    def _document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    def _token(self, request: Request) -> Answer:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        if not self._client(request, form):
            return _json({"error": "invalid_client"}, 401)
        begun = self.codes.pop(form.get("code", ""), None)  # a code is good for once
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        good = begun is not None and form.get("redirect_uri") == begun["redirect_uri"]
        if not good or begun["code_challenge"] != challenge or form.get("grant_type") != "authorization_code":
            return _json({"error": "invalid_grant"}, 400)
        return _json({"access_token": "x", "token_type": "Bearer", "id_token": self._id_token(begun["nonce"])})

    def _client(self, request: Request, form: Mapping[str, str]) -> bool:
        if form.get("client_secret"):
            return form.get("client_id") == CLIENT and form["client_secret"] == SECRET
        basic = request.headers.get("authorization", "").removeprefix("Basic ")
        user, _, password = base64.b64decode(basic).decode().partition(":")
        decoded = parse_qs(f"user={user}&password={password}")
        return decoded == {"user": [CLIENT], "password": [SECRET]}

    def _id_token(self, nonce: str) -> str:
        now = int(self.now().timestamp())
        header: dict[str, Any] = {"alg": "RS256", "kid": self.key.kid}
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce, **self.person}
        self.tamper(header, claims)
        if self.write is not None:
            return self.write(header, claims)
        return jwt.encode(header, claims, self.key, [header["alg"]])


@contextmanager
def oidc_server(redirect_uri: str, now: Callable[[], datetime]) -> Iterator[OidcProvider]:
    """Runs a provider for the block."""
    provider = OidcProvider(redirect_uri=redirect_uri, now=now)
    server: HttpServer
    with http_server(provider.respond) as server:
        provider.issuer = server.url
        yield provider


def _json(value: Mapping[str, Any], status: int = 200) -> Answer:
    return Answer(status=status, body=json.dumps(value), headers={"Content-Type": "application/json"})
