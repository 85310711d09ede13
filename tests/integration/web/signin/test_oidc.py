"""Sign-in by OpenID Connect against a scripted provider: who gets in as whom, and who does not."""

from __future__ import annotations

import hmac
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey

from monitor.core.errors import WrongSettings
from monitor.web.base.guard import MAX_SIGN_INS
from tests.servers.oidc import CLIENT, SECRET, by_hand, first_key, new_key, oidc_server
from tests.servers.webhook import BROKEN, HANG_UP, Answer

AT = "https://monitor.example.org"
CALLBACK = f"{AT}/signin/oidc/callback"


@pytest.fixture
def provider(moving):
    with oidc_server(CALLBACK, moving) as provider:
        yield provider


@pytest.fixture
def settings(provider):
    return {
        "PUBLIC_URL": AT,
        "WEB__OIDC__ISSUER": provider.issuer,
        "WEB__OIDC__CLIENT_ID": CLIENT,
        "WEB__OIDC__CLIENT_SECRET": SECRET,
        "WEB__OIDC__VIEWERS": "staff",
        "WEB__OIDC__OPERATORS": "on-call",
        "WEB__OIDC__ADMINS": "root",
    }


@pytest.fixture
def site(make_site, settings):
    return make_site(guard={"only_tokens": True, "public": AT}, **settings)


@pytest.fixture
def browser(site):
    return site.anonymous(at=AT)


def left(browser, after="/alerts"):
    """The provider's address that the browser is redirected to."""
    answer = browser.get("/signin/oidc", params={"next": after})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def came_back(browser, provider, after="/alerts"):
    return browser.get(provider.authorize(left(browser, after)))


def refused(answer, status=403):
    """Checks that the response is the sign-in page, without a session."""
    assert answer.status_code == status, answer.text
    assert "__Host-monitor=" not in answer.headers.get("set-cookie", "")
    assert 'action="/signin"' in answer.text
    return answer.text


def who(browser):
    return browser.get("/").text.partition("<footer>")[2]


def test_a_person_signs_in_by_the_name_and_role_that_the_provider_says(browser, provider):
    answer = came_back(browser, provider)
    assert (answer.status_code, answer.headers["location"]) == (303, "/alerts")
    assert "oidc:ada@example.org, operator" in who(browser)


def test_the_cookie_of_leaving_is_short_lived_and_out_of_reach_of_scripts_and_is_gone_afterwards(browser, provider):
    answer = browser.get("/signin/oidc")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-monitor-leaving=")
    for flag in ("HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"):
        assert flag in cookie
    answer = browser.get(provider.authorize(answer.headers["location"]))
    assert '__Host-monitor-leaving=""' in answer.headers["set-cookie"]


def test_keys_and_document_are_fetched_once(browser, provider):
    for _ in range(2):
        came_back(browser, provider)
    assert sorted(provider.asked) == ["/.well-known/openid-configuration", "/keys", "/token", "/token"]


def test_every_sign_in_has_a_state_nonce_and_challenge_of_its_own(browser):
    one, two = (parse_qs(urlsplit(left(browser)).query) for _ in range(2))
    for name in ("state", "nonce", "code_challenge"):
        assert one[name] != two[name]
        assert len(one[name][0]) >= 43


def test_a_provider_without_basic_is_given_the_secret_in_the_form(browser, provider):
    provider.document["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    assert came_back(browser, provider).status_code == 303


@pytest.mark.parametrize(
    ("person", "name"),
    [
        ({"email_verified": False}, "oidc:248289761001"),
        ({"email": "a\nb@example.org"}, "oidc:248289761001"),
        ({"email": None}, "oidc:248289761001"),
        ({"email_verified": None}, "oidc:248289761001"),
        ({"email_verified": "true"}, "oidc:248289761001"),
        ({"email_verified": None, "preferred_username": "boss@example.org"}, "oidc:boss@example.org/248289761001"),
        ({"email_verified": None, "preferred_username": "boss/1"}, "oidc:248289761001"),
        ({"email_verified": None, "preferred_username": "boss  x"}, "oidc:248289761001"),
        ({"email_verified": None, "preferred_username": "b\u202ess"}, "oidc:248289761001"),
        ({"email_verified": None, "preferred_username": "b" * 201}, "oidc:248289761001"),
        ({"email_verified": None, "preferred_username": ["boss"]}, "oidc:248289761001"),
        ({"email": f"{'b' * 190}@example.org", "preferred_username": "ada"}, "oidc:ada/248289761001"),
    ],
)
def test_an_address_that_is_not_known_to_be_theirs_does_not_name_anybody(browser, provider, person, name):
    provider.person |= person
    if provider.person["email_verified"] is None:
        del provider.person["email_verified"]
    came_back(browser, provider)
    assert f"{name}, operator" in who(browser)


def test_people_with_one_user_name_have_names_of_their_own(browser, provider):
    del provider.person["email_verified"]
    provider.person["preferred_username"] = "ada"
    for sub in ("1", "2"):
        provider.person["sub"] = sub
        came_back(browser, provider)
        assert f"oidc:ada/{sub}, operator" in who(browser)


def test_a_verified_address_comes_before_the_user_name(browser, provider):
    provider.person["preferred_username"] = "ada"
    came_back(browser, provider)
    assert "oidc:ada@example.org, operator" in who(browser)


@pytest.mark.parametrize(
    ("groups", "role"),
    [(["staff"], "viewer"), ("staff", "viewer"), (["root", "staff"], "admin"), (["on-call", 7], "operator")],
)
def test_the_highest_role_wins(browser, provider, groups, role):
    provider.person["groups"] = groups
    came_back(browser, provider)
    assert f"oidc:ada@example.org, {role}" in who(browser)


@pytest.mark.parametrize(("verified", "status"), [(True, 303), (False, 403), (None, 403), ("true", 403)])
def test_an_address_makes_a_role_only_where_it_is_known_to_be_theirs(make_site, settings, provider, verified, status):
    more = {"WEB__OIDC__ROLE_CLAIM": "email", "WEB__OIDC__ADMINS": "ada@example.org"}
    site = make_site(guard={"only_tokens": True, "public": AT}, **{**settings, **more})
    provider.person["email_verified"] = verified
    assert came_back(site.anonymous(at=AT), provider).status_code == status


@pytest.mark.parametrize("words", ["x" * 3_000, "語" * 900])
def test_an_address_too_long_for_a_cookie_is_not_gone_on_to(browser, provider, words):
    assert came_back(browser, provider, f"/interactions?words={words}").headers["location"] == "/"


def test_a_cookie_of_leaving_is_no_larger_than_browsers_keep(browser):
    left(browser, "/interactions?words=" + "語" * 326)
    assert 1_000 < len(browser.cookies["__Host-monitor-leaving"]) < 4_000


@pytest.mark.parametrize("groups", [["others"], [], None, {"staff": True}, "staff,root"])
def test_nobody_gets_in_without_a_group_that_makes_a_role(browser, provider, groups):
    provider.person["groups"] = groups
    assert "ask an administrator" in refused(came_back(browser, provider))


def test_a_star_lets_everybody_in_who_signs_in_there(make_site, settings, provider):
    site = make_site(guard={"only_tokens": True, "public": AT}, **{**settings, "WEB__OIDC__VIEWERS": "*"})
    browser = site.anonymous(at=AT)
    del provider.person["groups"]
    came_back(browser, provider)
    assert "oidc:ada@example.org, viewer" in who(browser)


def test_the_claim_may_lead_inwards(make_site, settings, provider):
    site = make_site(
        guard={"only_tokens": True, "public": AT}, **{**settings, "WEB__OIDC__ROLE_CLAIM": "realm_access.roles"}
    )
    browser = site.anonymous(at=AT)
    provider.person |= {"groups": [], "realm_access": {"roles": ["root"]}}
    came_back(browser, provider)
    assert "oidc:ada@example.org, admin" in who(browser)


def claim(**changed):
    def tamper(_, claims):
        claims |= {name: value(claims) if callable(value) else value for name, value in changed.items()}
        for name in [name for name, value in claims.items() if value is None]:
            del claims[name]

    return tamper


@pytest.mark.parametrize(
    "tamper",
    [
        claim(iss="https://elsewhere.example.org"),
        claim(iss=lambda claims: claims["iss"] + "/"),
        claim(iss=None),
        claim(aud="another-client"),
        claim(aud=None),
        claim(aud=[]),
        claim(aud=[CLIENT, "another-client"]),
        claim(aud=[CLIENT, "another-client"], azp="another-client"),
        claim(azp="another-client"),
        claim(nonce="another-nonce"),
        claim(nonce=None),
        claim(nonce=7),
        claim(exp=lambda claims: claims["iat"] - 100),
        claim(exp=None),
        claim(exp="never"),
        claim(iat=None),
        claim(iat=lambda claims: claims["iat"] + 3_600),
        claim(nbf=lambda claims: claims["iat"] + 3_600),
        claim(sub=None),
        claim(sub=7),
        claim(sub="7" * 256),
    ],
)
def test_a_token_that_is_not_fresh_ours_and_of_this_sign_in_is_refused(browser, provider, tamper):
    provider.tamper = tamper
    assert "could not be verified" in refused(came_back(browser, provider))


def test_a_token_for_several_that_was_made_for_us_is_taken(browser, provider):
    provider.tamper = claim(aud=[CLIENT, "another-client"], azp=CLIENT)
    assert came_back(browser, provider).status_code == 303


def unsigned(header, claims):
    return by_hand(header, claims, lambda _: b"")


def by_public_key(header, claims):
    """The classic: a MAC whose secret is the provider's public key."""
    public = first_key().as_pem(private=False)
    return by_hand({**header, "alg": "HS256"}, claims, lambda body: hmac.digest(public, body, "sha256"))


def critical(header, claims):
    """Correctly signed, with an unknown critical header."""
    key = first_key().private_key
    return by_hand(
        {**header, "crit": ["exp"], "exp": 1}, claims, lambda body: key.sign(body, padding.PKCS1v15(), hashes.SHA256())
    )


@pytest.mark.parametrize(
    "write",
    [
        lambda header, claims: unsigned({**header, "alg": "none"}, claims),
        unsigned,
        by_public_key,
        critical,
        lambda header, claims: jwt.encode(header, claims, new_key("first"), ["RS256"]),
        lambda header, claims: jwt.encode({**header, "kid": "other"}, claims, new_key("other"), ["RS256"]),
        lambda header, claims: jwt.encode({**header, "alg": "RS512"}, claims, first_key(), ["RS512"]),
        lambda *_: "three.little.words",
        lambda *_: "",
    ],
    ids=["none", "unsigned", "mac", "critical", "another-key", "unknown-kid", "another-algorithm", "words", "empty"],
)
def test_a_token_that_the_provider_has_not_signed_is_refused(browser, provider, write):
    provider.write = write
    refused(came_back(browser, provider))


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ECKey.generate_key("P-256", {"kid": "first"}), "ES256"),
        (OKPKey.generate_key("Ed25519", {"kid": "first"}), "Ed25519"),
    ],
)
def test_other_algorithms_of_ours_are_taken(browser, provider, key, algorithm):
    provider.key = key
    provider.tamper = lambda header, _: header.update(alg=algorithm)
    assert came_back(browser, provider).status_code == 303


def test_keys_are_fetched_again_when_the_provider_changes_them_but_not_all_the_time(browser, provider, moving):
    came_back(browser, provider)
    provider.key = new_key("second")
    refused(came_back(browser, provider))  # they were fetched a moment ago
    assert provider.asked.count("/keys") == 1
    moving.pass_by(timedelta(seconds=31))
    assert came_back(browser, provider).status_code == 303
    assert provider.asked.count("/keys") == 2


def test_a_code_is_good_for_once(browser, provider):
    back = provider.authorize(left(browser))
    leaving = browser.cookies["__Host-monitor-leaving"]
    assert browser.get(back).status_code == 303
    browser.cookies.clear()
    assert "was not started in this browser" in refused(
        browser.get(back)
    )  # and a browser that kept its cookie is refused there
    browser.cookies.set("__Host-monitor-leaving", leaving)
    assert "used before" in refused(browser.get(back))


def test_a_code_of_somebody_else_signs_nobody_in(site, browser, provider):
    """An attacker starts a sign-in, and has the victim's browser finish it."""
    attacker = site.anonymous(at=AT)
    back = provider.authorize(left(attacker))
    refused(browser.get(back))
    left(browser)
    assert "was not started in this browser" in refused(browser.get(back))


def test_a_code_that_was_slipped_into_another_sign_in_is_of_no_use(site, browser, provider):
    """PKCE: the code does not match the verifier; the nonce would not match either."""
    stolen = parse_qs(urlsplit(provider.authorize(left(site.anonymous(at=AT)))).query)["code"][0]
    own = parse_qs(urlsplit(provider.authorize(left(browser))).query)
    refused(browser.get("/signin/oidc/callback", params={"code": stolen, "state": own["state"][0]}))


def test_a_cookie_that_was_written_by_somebody_else_is_worth_nothing(browser, provider):
    back = provider.authorize(left(browser))
    body, _, seal = browser.cookies["__Host-monitor-leaving"].rpartition(".")
    browser.cookies.clear()
    browser.cookies.set("__Host-monitor-leaving", f"{body[:-4]}AAAA.{seal}")
    refused(browser.get(back))


def test_a_sign_in_has_to_end_within_ten_minutes(browser, provider, moving):
    back = provider.authorize(left(browser))
    moving.pass_by(timedelta(minutes=10))
    assert "took too long" in refused(browser.get(back))


def test_another_replica_takes_who_comes_back(make_site, settings, provider, browser):
    back = provider.authorize(left(browser))
    other = make_site(guard={"only_tokens": True, "public": AT}, **settings).anonymous(at=AT)
    other.cookies = browser.cookies
    assert other.get(back).status_code == 303


def test_an_error_of_the_provider_is_said_and_tried_again(browser):
    state = parse_qs(urlsplit(left(browser)).query)["state"][0]
    answer = browser.get("/signin/oidc/callback", params={"error": "access_denied<script>", "state": state})
    text = refused(answer)
    assert "declined" in text
    assert "<script>" not in text


@pytest.mark.parametrize("fault", [BROKEN, HANG_UP])
def test_a_provider_that_is_down_is_said_before_leaving(browser, provider, fault):
    provider.fails["/.well-known/openid-configuration"] = fault
    assert "provider does not answer" in refused(browser.get("/signin/oidc"), 503)
    provider.fails.clear()
    left(browser)


@pytest.mark.parametrize("path", ["/token", "/keys"])
def test_a_provider_that_goes_down_in_between_is_said(browser, provider, path):
    provider.fails[path] = BROKEN
    assert "provider does not answer" in refused(came_back(browser, provider), 503)


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://elsewhere.example.org"},
        {"issuer": None},
        {"token_endpoint": "ftp://elsewhere.example.org"},
        {"jwks_uri": None},
    ],
)
def test_a_provider_that_is_not_the_one_of_the_settings_is_refused(browser, provider, document):
    provider.document = document
    assert "set up wrongly" in refused(browser.get("/signin/oidc"), 503)


def test_a_page_that_is_no_document_at_all_is_said(browser, provider):
    provider.fails["/.well-known/openid-configuration"] = Answer(status=404, body="<html>")
    assert "set up wrongly" in refused(browser.get("/signin/oidc"), 503)


def test_keys_that_are_none_let_nobody_in(browser, provider):
    provider.fails["/keys"] = Answer(body='{"keys": "none"}')
    refused(came_back(browser, provider), 503)


def test_next_never_leads_off_the_site(browser, provider):
    for after in ("https://elsewhere.example.org", "//elsewhere.example.org", "/\\elsewhere.example.org"):
        assert came_back(browser, provider, after).headers["location"] == "/"


def test_without_a_public_url_it_does_not_start(make_site, settings):
    del settings["PUBLIC_URL"]
    with pytest.raises(WrongSettings, match="MONITOR_PUBLIC_URL"):
        make_site(**settings)


def test_without_oidc_the_way_there_is_none(make_site):
    refused(make_site(guard={"only_tokens": True}).anonymous().get("/signin/oidc"), 404)


@pytest.mark.parametrize("issuer", ["http://elsewhere.example.org", "ftp://x", "https://", "https://a?b"])
def test_a_provider_is_reached_by_https_only(make_site, settings, issuer):
    settings["WEB__OIDC__ISSUER"] = issuer
    with pytest.raises(WrongSettings, match="ISSUER"):
        make_site(**settings)


def test_a_sign_in_that_was_used_is_not_brought_to_the_provider_again(browser, provider):
    back = provider.authorize(left(browser))
    leaving = browser.cookies["__Host-monitor-leaving"]
    assert browser.get(back).status_code == 303
    provider.codes |= {parse_qs(urlsplit(back).query)["code"][0]: {}}  # a provider that would take it again
    browser.cookies.clear()
    browser.cookies.set("__Host-monitor-leaving", leaving)
    assert "used before" in refused(browser.get(back))
    assert provider.asked.count("/token") == 1


def test_returns_are_limited_by_address_as_sign_ins_are(browser, provider, moving):
    """Whether the provider was asked or not."""
    for _ in range(MAX_SIGN_INS):
        refused(browser.get(CALLBACK, params={"code": "guessed", "state": "guessed"}))
    assert browser.get(CALLBACK, params={"code": "guessed", "state": "guessed"}).status_code == 429
    moving.pass_by(timedelta(minutes=1))
    assert came_back(browser, provider).status_code == 303
