"""Whoever asks for a page, and does not take it, keeps nobody else out for long."""

from __future__ import annotations

import socket
import urllib.request
from http.client import RemoteDisconnected
from urllib.error import HTTPError

import pytest

from monitor.app.metrics.server import LimitedServer, serving
from tests.rig.waiting import until


def page(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


class Strict(LimitedServer):
    most = 2
    seconds = 1.0


class Patient(LimitedServer):
    most = 2


def ask(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return answer.read()


def ask_or_none(port):
    try:
        return ask(port)
    except (RemoteDisconnected, ConnectionResetError):
        return None


def silent(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    client.sendall(b"GET /metrics HTTP/1.1\r\n")
    return client


def test_connections_that_say_no_more_are_closed_and_free_their_places():
    with serving(page, "127.0.0.1", 0, Strict) as port:
        for client in [silent(port), silent(port)]:
            with client:
                assert client.recv(1) == b""
        until("a place is free", lambda: ask_or_none(port) == b"/metrics")


def test_one_too_many_is_closed_at_once_and_the_others_go_on():
    with serving(page, "127.0.0.1", 0, Patient) as port, silent(port) as first, silent(port):
        with pytest.raises((RemoteDisconnected, ConnectionResetError)):
            ask(port)
        first.sendall(b"Host: here\r\n\r\n")
        assert first.recv(1_000).startswith(b"HTTP/1.0 200")
        until("its place is free", lambda: ask_or_none(port) == b"/metrics")


def test_a_page_that_fails_is_logged_without_the_words_of_the_error(caplog, capsys):
    def failing(*_):
        raise ValueError("what a chatbot said")

    with serving(failing, "127.0.0.1", 0) as port, pytest.raises(HTTPError) as refused:
        ask(port)
    with refused.value as answer:
        assert (answer.code, answer.read()) == (500, b"this is a defect; the log has the details\n")
    assert [record.getMessage() for record in caplog.records] == ["/metrics failed"]
    assert capsys.readouterr().err == ""


def test_it_listens_at_an_address_of_the_newer_family_too():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with serving(page, "::1", 0) as port, urllib.request.urlopen(f"http://[::1]:{port}/", timeout=30) as answer:
        assert answer.read() == b"/"
