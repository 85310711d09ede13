"""A provider that answers slowly, or not at all, holds up nobody else."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event, Semaphore, Thread

import pytest

from monitor.core.errors import Retriable
from monitor.core.settings.web import OidcSettings
from monitor.web.signin.oidc import Provider
from tests.servers.oidc import CLIENT

KEY = b"k" * 32
CALLBACK = "https://monitor.example.org/signin/oidc/callback"


def dripping(head):
    """A server that sends `head` and then a byte at a time for ever; its address.

    Its sleep is the pace of a slow provider, shorter than any time-out between two bytes; the test waits for nothing.
    """
    listening = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listening.accept()
        with listening, connection, suppress(OSError):
            connection.recv(2**16)
            connection.sendall(head)
            while True:
                connection.sendall(b" ")
                time.sleep(0.01)

    Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n"])
def test_a_provider_that_answers_a_byte_at_a_time_is_given_up(moving, head):
    settings = OidcSettings(issuer=dripping(head), client_id=CLIENT, viewers=("*",))
    with pytest.raises(Retriable, match="does not answer"):
        Provider(settings, CALLBACK, moving, cookie_key=KEY, deadline=0.1).begin("/")


def test_sign_ins_that_wait_for_the_provider_leave_threads_for_the_pages(moving, monkeypatch):
    answering, asked = Event(), Semaphore(0)

    def waiting(*_):
        asked.release()
        answering.wait()
        raise Retriable("down")

    its = Provider(
        OidcSettings(issuer="http://127.0.0.1:9", client_id=CLIENT, viewers=("*",)), CALLBACK, moving, cookie_key=KEY
    )
    monkeypatch.setattr(its, "_request", waiting)
    with ThreadPoolExecutor(8) as pool:
        others = [pool.submit(its.begin, "/") for _ in range(8)]
        for _ in others:
            asked.acquire()
        with pytest.raises(Retriable, match="8 sign-ins wait"):
            its.begin("/")
        answering.set()
    with pytest.raises(Retriable, match="down"):
        its.begin("/")
