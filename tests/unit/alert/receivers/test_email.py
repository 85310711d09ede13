from __future__ import annotations

import logging
import socket
import ssl

import pytest

from monitor.alert.receivers.email import Email, Server
from monitor.core.errors import Fatal, Retriable
from tests.factories.alert.notifications import (
    a_course,
    a_notification,
    a_notified_alert,
    a_resolved_notification,
    an_example,
    at,
)
from tests.rig.ingest.kafka_cluster import make_certificates
from tests.servers.smtp import PASSWORD, USER, smtp_server

PICTURE = b"\x89PNG\r\n\x1a\nmade up"
SENDER, ADA, TEAM = "monitor@quillmere.example", "ada@quillmere.example", "team@quillmere.example"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    return folder


@pytest.fixture
def trusted(certificates, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    return certificates / "server.pem"


@pytest.fixture
def server():
    with smtp_server() as server:
        yield server


def email(server, **changes):
    known = {"sender": SENDER, "recipients": (ADA, TEAM)}
    return Email(server, **known | changes)


@pytest.fixture
def receiver(server):
    return email(server.server())


def body(mail, kind):
    return mail.message.get_body(preferencelist=(kind,)).get_content()


@pytest.mark.parametrize("security", ["none", "tls"])
def test_a_server_that_looks_a_mail_over_for_long_gets_it_once(trusted, monkeypatch, security):
    monkeypatch.setattr("monitor.alert.receivers.email.TIMEOUT", 0.5)
    with smtp_server(certificate=trusted, tls=security == "tls") as server:
        server.looks = 1.0
        email(server.server(security)).send(a_notification())
        assert len(server.mails) == 1


def test_text_and_html_say_the_same(server, receiver):
    receiver.send(a_notification(url="https://monitor.example/1?a=1&b=2"))
    (mail,) = server.mails
    assert mail.message["Subject"] == "[critical] Firing: negative-rate, support-bot"
    assert (mail.message["From"], mail.message["To"]) == (SENDER, f"{ADA}, {TEAM}")
    assert mail.message["Date"] == "Fri, 21 Nov 2025 12:02:00 +0000"
    assert mail.message["Auto-Submitted"] == "auto-generated"
    assert (mail.sender, mail.recipients) == (SENDER, (ADA, TEAM))
    for text in (body(mail, "plain"), body(mail, "html")):
        assert "28.5 % to 48.9 %" in text
        assert "How long does a refund take?" in text
    assert '<a href="https://monitor.example/1?a=1&amp;b=2">Open in monitor</a>' in body(mail, "html")
    assert '<a href="https://wiki.example/rag?a=1&amp;b=2">Runbook</a>' in body(mail, "html")


def test_an_episode_is_one_thread(server, receiver):
    receiver.send(a_notification())
    receiver.send(a_notification(number=1, news="acknowledged", by="ada"))
    receiver.send(a_resolved_notification(number=2))
    first, second, third = (mail.message for mail in server.mails)
    assert first["Message-ID"] == "<0123456789abcdef0123456789abcdef.0@quillmere.example>"
    assert "References" not in first
    for later in (second, third):
        assert later["In-Reply-To"] == later["References"] == first["Message-ID"]
    assert len({mail["Message-ID"] for mail in (first, second, third)}) == 3
    assert third["Subject"] == "[critical] Resolved: negative-rate, support-bot"
    assert "Acknowledged by ada" in body(server.mails[1], "plain")


def test_what_is_sent_again_is_the_same_mail(server, receiver):
    receiver.send(a_notification())
    receiver.send(a_notification(attempts=1, in_doubt=True))
    assert server.mails[0].message["Message-ID"] == server.mails[1].message["Message-ID"]


def test_the_chart_is_within_the_mail(server):
    email(server.server(), draw=lambda _: PICTURE).send(a_notification(course=a_course()))
    (mail,) = server.mails
    (image,) = [part for part in mail.message.walk() if part.get_content_type() == "image/png"]
    assert image.get_content() == PICTURE
    assert image.get_content_disposition() == "inline"
    assert f'src="cid:{image["Content-ID"].strip("<>")}"' in body(mail, "html")


def test_a_chart_that_fails_is_left_out(server, caplog):
    def fail(_):
        raise RuntimeError("no fonts")

    email(server.server(), draw=fail).send(a_notification(course=a_course()))
    assert "<img" not in body(server.mails[0], "html")
    assert "no fonts" in caplog.text


def test_foreign_text_is_text_in_html(server, receiver):
    evil = '<script>alert("1")</script>'
    receiver.send(a_notification(examples=(an_example(question=evil, answer=evil, url="javascript:alert(1)"),)))
    html = body(server.mails[0], "html")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "javascript:" not in html


def test_the_subject_says_that_somebody_is_called(server, receiver):
    for number, pages in ((0, True), (1, False), (2, True)):
        receiver.send(a_notification(number=number, news="repeated", pages=pages, at=at(60)))
    plain = "[critical] Firing: negative-rate, support-bot"
    assert [mail.message["Subject"] for mail in server.mails] == [plain, plain, f"{plain}: Still firing after 58m"]


def test_a_label_cannot_add_a_header(server, receiver):
    labels = {"app": "shop\r\nBcc: everybody@evil.example\r\n\r\nhello"}
    receiver.send(a_notification(alerts=(a_notified_alert(labels=labels),)))
    (mail,) = server.mails
    assert "Bcc" not in mail.message
    assert mail.message["Subject"].strip() == "[critical] Firing: negative-rate, shop Bcc: everybody@evil.example hello"
    assert mail.recipients == (ADA, TEAM)


def test_many_alerts_are_counted(server, receiver):
    receiver.send(
        a_notification(alerts=tuple(a_notified_alert(rule=f"r{n}") for n in range(25)), changes=("More refunds.",))
    )
    for kind in ("plain", "html"):
        text = body(server.mails[0], kind)
        assert "r19" in text
        assert "r20" not in text
        assert "5 more alerts not shown" in text
        assert "More refunds." in text


def test_starttls_and_login(trusted):
    with smtp_server(certificate=trusted, login=True) as server:
        known = email(server.server("starttls", username=USER, password=PASSWORD))
        assert known.check() == f"mail by localhost:{server.port} to {ADA}, {TEAM}"
        assert server.mails == []
        known.send(a_notification())
        (mail,) = server.mails
        assert (mail.encrypted, mail.logged_in) == (True, True)


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # aiosmtpd means STARTTLS
def test_tls_from_the_first_byte(trusted):
    with smtp_server(certificate=trusted, tls=True, login=True) as server:
        email(server.server("tls", username=USER, password=PASSWORD)).send(a_notification())
        assert server.mails[0].logged_in


def test_a_certificate_that_is_not_trusted_is_refused(certificates):
    with smtp_server(certificate=certificates / "server.pem") as server:
        with pytest.raises(Retriable, match="its certificate is not trusted"):
            email(server.server("starttls")).send(a_notification())
        assert server.mails == []


def test_nothing_is_sent_in_the_clear_where_starttls_is_asked_for(server):
    with pytest.raises(Fatal, match="MONITOR_EMAIL__SECURITY"):
        email(server.server("starttls", username=USER, password=PASSWORD)).send(a_notification())
    assert server.mails == []


def test_a_wrong_password_is_fatal_and_not_shown(trusted, caplog):
    caplog.set_level(logging.DEBUG)
    with smtp_server(certificate=trusted, login=True) as server:
        known = email(server.server("starttls", username=USER, password="TopSecretButWrong"))
        with pytest.raises(Fatal, match="MONITOR_EMAIL__PASSWORD") as caught:
            known.send(a_notification())
        assert "TopSecret" not in f"{caught.value} {vars(known)} {caplog.text}"
        with pytest.raises(Fatal, match="ASCII"):
            email(server.server("starttls", username=USER, password="pässword")).send(a_notification())


def test_a_login_that_fails_for_now_is_retriable(trusted):
    with smtp_server(certificate=trusted, login=True) as server:
        server.script["AUTH"] = "454 4.7.0 temporary failure"
        with pytest.raises(Retriable, match="454"):
            email(server.server("starttls", username=USER, password=PASSWORD)).send(a_notification())


def test_a_server_that_takes_no_login_is_fatal(server):
    with pytest.raises(Fatal, match="takes no login"):
        email(server.server("none", username=USER, password=PASSWORD)).send(a_notification())


@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize("answer", ["421 4.3.2 closing", "451 4.3.0 later", "452 4.2.2 mailbox full"])
def test_4xx_is_retriable(server, receiver, step, answer):
    server.script[step] = answer
    with pytest.raises(Retriable, match=answer):
        receiver.send(a_notification())


@pytest.mark.parametrize(
    ("step", "mend"),
    [("MAIL", "MONITOR_EMAIL__SENDER"), ("RCPT", "MONITOR_EMAIL__RECIPIENTS"), ("DATA", "other settings")],
)
def test_5xx_is_fatal_and_says_what_to_look_at(server, receiver, step, mend):
    server.script[step] = "550 5.7.1 go away"
    with pytest.raises(Fatal, match=f"550 5.7.1 go away: check .*{mend}"):
        receiver.send(a_notification())


def test_some_recipients_refused_is_delivered_with_a_warning(server, receiver, caplog):
    server.refused[TEAM] = "550 5.1.1 no such\x0b mailbox"
    receiver.send(a_notification())
    assert server.mails[0].recipients == (ADA,)
    assert f"refuses {TEAM}: 550 5.1.1 no such" in caplog.text


def test_all_recipients_refused_is_tried_again_if_one_may_be_taken_later(server, receiver):
    server.refused.update({ADA: "450 4.2.1 grey-listed", TEAM: "550 5.1.1 no such mailbox"})
    with pytest.raises(Retriable, match="450"):
        receiver.send(a_notification())
    server.refused[ADA] = "550 5.1.1 no such mailbox"
    with pytest.raises(Fatal, match="MONITOR_EMAIL__RECIPIENTS"):
        receiver.send(a_notification())


def test_a_server_that_is_not_there_is_retriable():
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(Retriable, match=f"127.0.0.1:{port}: out of reach: Connection refused"):
            email(Server(host="127.0.0.1", port=port)).send(a_notification())


def test_what_is_no_mail_server_is_retriable(certificates):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates / "server.pem")
    with smtp_server(certificate=certificates / "server.pem") as server, pytest.raises(Retriable):
        email(server.server("tls")).send(a_notification())  # it speaks SMTP, not TLS


def test_the_usual_port_goes_with_the_security():
    assert [Server(host="a", security=s).place for s in ("none", "starttls", "tls")] == ["a:25", "a:587", "a:465"]


def test_a_server_does_not_show_its_password():
    assert "TopSecret" not in repr(Server(host="a", username="u", password="TopSecret"))
