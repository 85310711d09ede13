"""Clients that do not go on with their request, against a real server on 127.0.0.1."""

from __future__ import annotations

import socket
import ssl
import time
from contextlib import ExitStack
from threading import Event, Thread

import httpx2
import pytest
import uvicorn
from starlette.concurrency import run_in_threadpool

from monitor.core.errors import WrongSettings
from monitor.web.audit.page import Download
from monitor.web.connections import LimitedConnection, authority, listening
from tests.rig.waiting import until
from tests.rig.web.certificate import made_certificate

HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"
HALF_A_BODY = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nhalf"
GOOD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LAST = GOOD.replace(b"Host", b"Connection: close\r\nHost")
LONG = b"." * 2**24 + b"ok"  # more than the system's buffers hold for a client that does not read


@pytest.fixture
def serving():
    """Starts servers with the limits of a class; gives the address of one, and its protocol's set of connections."""
    with ExitStack() as stack:

        def start(limits, app=None, **more):
            app = app or _answer_when_read
            config = uvicorn.Config(app, http=limits, ws="none", lifespan="off", log_level="error", **more)
            server = uvicorn.Server(config)
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1_000))
            thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
            thread.start()

            def stop():
                server.should_exit = True
                thread.join()

            stack.callback(stop)
            return listening.getsockname(), server.server_state.connections

        yield start


async def _answer_when_read(_, receive, send):
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _answer_at_length(_, __, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(LONG))]})
    await send({"type": "http.response.body", "body": LONG})


def limits(**values):
    return type("Limits", (LimitedConnection,), values)


def opened(stack, address, sent):
    connection = stack.enter_context(socket.create_connection(address))
    connection.sendall(sent)
    return connection


def answered(connection):
    """Whether the answer comes, all of it."""
    text = b""
    while not text.endswith(b"ok"):
        more = connection.recv(2**16)
        if not more:
            return False
        text += more
    return text.startswith(b"HTTP/1.1 200 ")


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD, HALF_A_BODY])
def test_400_half_sent_requests_keep_nobody_out_and_are_closed(serving, sent):
    address, connections = serving(limits(head_seconds=1.0, body_seconds=1.0))
    with ExitStack() as stack:
        half = [opened(stack, address, sent) for _ in range(400)]
        assert httpx2.get(f"http://{address[0]}:{address[1]}").text == "ok"
        assert all(map(is_closed, half))
    until("no connection is left", lambda: not connections)


def test_a_byte_now_and_then_gives_no_more_time(serving):
    address, _ = serving(limits(head_seconds=0.3))
    ended = Event()
    with ExitStack() as stack:
        half = opened(stack, address, HALF_A_HEAD)

        def drip():
            while not ended.wait(0.01):
                try:
                    half.sendall(b"a")
                except OSError:
                    return

        dripping = Thread(target=drip)
        dripping.start()
        assert is_closed(half)
        ended.set()
        dripping.join()


def test_a_second_request_has_its_own_time_and_may_not_be_half_sent_either(serving):
    address, _ = serving(limits(head_seconds=0.5))
    with ExitStack() as stack:
        connection = opened(stack, address, GOOD)
        assert answered(connection)
        connection.sendall(GOOD)
        assert answered(connection)
        connection.sendall(HALF_A_HEAD)
        assert is_closed(connection)


def test_at_the_limit_whoever_has_hesitated_longest_gives_way(serving):
    address, connections = serving(limits(head_seconds=1_000.0, most=20))
    with ExitStack() as stack:
        half = []
        for number in range(20):
            half.append(opened(stack, address, HALF_A_HEAD))
            until("it is accepted", lambda wanted=number + 1: len(connections) == wanted)
        assert httpx2.get(f"http://{address[0]}:{address[1]}").text == "ok"
        assert is_closed(half[0])
        half[-1].sendall(b"Last: yes\r\n\r\n")  # the newest is still served
        assert answered(half[-1])


def test_at_the_limit_with_nobody_hesitating_a_new_one_is_told_to_come_back(serving):
    begun, going_on = Event(), Event()

    async def waiting(scope, receive, send):
        begun.set()
        await run_in_threadpool(going_on.wait)
        await _answer_when_read(scope, receive, send)

    address, _ = serving(limits(most=1), waiting)
    with ExitStack() as stack:
        busy = opened(stack, address, GOOD)
        begun.wait()
        refused = opened(stack, address, b"").recv(2**16)
        going_on.set()
        assert answered(busy)
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 5" in refused


@pytest.mark.parametrize("sent", [GOOD, GOOD * 100, LAST])
def test_who_asks_and_reads_no_answer_gives_way_at_the_limit(serving, sent):
    address, connections = serving(limits(head_seconds=1_000.0, body_seconds=1_000.0, most=5), _answer_at_length)
    with ExitStack() as stack:
        for _ in range(5):
            opened(stack, address, sent)
        until("all five are answered", lambda: sum(each.flow.write_paused for each in list(connections)) == 5)
        for _ in range(2):
            assert answered(opened(stack, address, LAST))


@pytest.mark.parametrize("sent", [GOOD, GOOD * 100, LAST])
def test_who_asks_and_reads_no_answer_is_closed_in_time(serving, sent):
    address, connections = serving(limits(head_seconds=1_000.0, body_seconds=0.5), _answer_at_length)
    with ExitStack() as stack:
        opened(stack, address, sent)
        until("it is answered", lambda: any(each.flow.write_paused for each in list(connections)))
        until("no connection is left", lambda: not connections)


def test_half_a_body_that_came_with_the_request_before_has_a_time_too(serving):
    address, connections = serving(limits(head_seconds=1_000.0, body_seconds=0.5))
    with ExitStack() as stack:
        connection = opened(stack, address, GOOD + HALF_A_BODY)
        assert answered(connection)
        assert is_closed(connection)
    until("no connection is left", lambda: not connections)


def test_over_tls_the_same_holds(serving, tmp_path):
    certificate, key = made_certificate(tmp_path)
    short = limits(head_seconds=1_000.0, body_seconds=0.5)
    address, connections = serving(short, ssl_certfile=certificate, ssl_keyfile=key)
    context = ssl.create_default_context(cafile=certificate)
    with ExitStack() as stack:

        def begun(sent):
            connection = stack.enter_context(socket.create_connection(address))
            encrypted = stack.enter_context(context.wrap_socket(connection, server_hostname=address[0]))
            encrypted.sendall(sent)
            return encrypted

        for _ in range(20):  # head and body in records of their own, as most clients send them
            connection = begun(HALF_A_BODY.removesuffix(b"half"))
            connection.sendall(b"half and h")
            assert answered(connection)
        assert not any(each.flow.write_paused for each in list(connections))
        half = begun(HALF_A_BODY)
        assert is_closed(half)


def test_over_tls_who_asks_and_reads_no_answer_is_closed_in_time(serving, tmp_path):
    certificate, key = made_certificate(tmp_path)
    short = limits(head_seconds=1_000.0, body_seconds=0.5)
    address, connections = serving(short, _answer_at_length, ssl_certfile=certificate, ssl_keyfile=key)
    context = ssl.create_default_context(cafile=certificate)
    with (
        socket.create_connection(address) as connection,
        context.wrap_socket(connection, server_hostname=address[0]) as encrypted,
    ):
        encrypted.sendall(GOOD)
        until("it is answered", lambda: any(each.flow.write_paused for each in list(connections)))
        until("no connection is left", lambda: not connections)


def test_over_tls_who_does_not_answer_that_it_closes_is_closed_in_time(serving, tmp_path):
    certificate, key = made_certificate(tmp_path)
    address, connections = serving(limits(goodbye_seconds=0.2), ssl_certfile=certificate, ssl_keyfile=key)
    context = ssl.create_default_context(cafile=certificate)
    with (
        socket.create_connection(address) as connection,
        context.wrap_socket(connection, server_hostname=address[0]) as encrypted,
    ):
        encrypted.sendall(LAST)
        assert answered(encrypted)
        until("no connection is left", lambda: not connections, tries=200)  # asyncio alone would wait for 30 s


def test_over_tls_a_long_last_answer_is_not_cut_off(serving, tmp_path):
    certificate, key = made_certificate(tmp_path)
    short = limits(goodbye_seconds=0.1)
    address, connections = serving(short, _answer_at_length, ssl_certfile=certificate, ssl_keyfile=key)
    context = ssl.create_default_context(cafile=certificate)
    with (
        socket.create_connection(address) as connection,
        context.wrap_socket(connection, server_hostname=address[0]) as encrypted,
    ):
        encrypted.sendall(LAST)
        until("it is answered", lambda: any(each.transport.is_closing() for each in list(connections)))
        time.sleep(0.5)  # longer than a goodbye may take
        assert answered(encrypted)


def test_an_ipv6_address_stands_in_brackets():
    with pytest.raises(WrongSettings, match=r"^X: cannot listen at \[2001:db8::1\]:4318: "):
        listening("2001:db8::1", 4318, "X")
    assert authority("::1", 4318) == "[::1]:4318"
    assert authority("127.0.0.1", 4317) == "127.0.0.1:4317"


def test_the_dashboard_is_served_with_these_limits():
    assert LimitedConnection.most > 400
    assert LimitedConnection.head_seconds <= 10


def test_a_download_whose_client_has_gone_away_closes_its_source(serving):
    closed = Event()

    def chunks():
        try:
            while True:
                yield b"." * 2**16
        finally:
            closed.set()

    others = chunks()
    address, _ = serving(LimitedConnection, Download(next(others), others, {}))
    with socket.create_connection(address) as client:
        client.sendall(GOOD)
        assert client.recv(100).startswith(b"HTTP/1.1 200")
    assert closed.wait(30)
