#!/usr/bin/env python3
"""Sends requests that are not allowed.

usage: http_requests.py ADDRESS

GET must not publish, and the server must reject the host of another server in every spelling. An unknown ID of an event
must not replay earlier messages.
"""

import sys
import time

from http_support import Honest, connect, publish, read_head, request, send

EVENT = [(b"ce-specversion", b"1.0"), (b"ce-id", b"1"), (b"ce-source", b"/attack"), (b"ce-type", b"news")]
NEWS, HONEST = b"/bus/app/attack/news/x", b"/bus/app/attack/honest"
HOSTS = [
    b"evil.example", b"[::1]evil.com", b"[::1].evil.com", b"localhost:18080@evil", b"localhost@evil", b"localhost:80a",
    b"localhost:1:2", b"[::1", b"[localhost]", b"localhost..", b"localhost/", b"localhost\\.evil", b"localhost%2eevil",
]


def expected():
    yield 405, request(b"GET", NEWS, EVENT)
    structured = [(b"Content-Type", b"application/cloudevents+json")]
    body = b'{"specversion":"1.0","id":"1","source":"/attack","type":"news"}'
    yield 405, request(b"GET", NEWS, structured, body)
    yield 405, request(b"PUT", NEWS, EVENT)
    for host in HOSTS:
        yield 421, request(b"POST", HONEST, host=host)
        yield 421, request(b"POST", HONEST, [(b"Origin", b"http://" + host)], host=host)


def events(connection, seconds):
    """Returns the data that arrives within a time."""
    connection.settimeout(0.1)
    data, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            part = connection.recv(65536)
        except TimeoutError:
            continue
        if not part:
            break
        data += part
    return data


def replays(address):
    """Returns the number of old messages that an unknown ID replays. The server keeps them for the first client."""
    subscription = b"/bus/subscribe?pattern=app://attack/news/*"
    with connect(address) as first:
        first.sendall(request(b"GET", subscription))
        assert read_head(first)[0] == 200
        for _ in range(5):
            publish(address, b"old")
        with connect(address) as second:
            second.sendall(request(b"GET", subscription, [(b"Last-Event-ID", b"deadbeef-1")]))
            status, _, rest = read_head(second)
            assert status == 200
            return (rest + events(second, 0.5)).count(b"event: message")


def main(address):
    wrong, count = [], 0
    with Honest(address) as honest:
        replayed = replays(address)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            for status, data in expected():
                found = send(address, data)
                count += 1
                # The server may also reject an invalid host before the gateway gets the request.
                if found != status and not (status == 421 and found in (0, 400)):
                    wrong.append((status, found, data[:80]))
    numbers = f"{count} requests, {len(wrong)} answered wrongly {wrong[:1] or ''}, {replayed} old messages replayed"
    honest.report("http_requests", numbers, not wrong and replayed == 0)


main(sys.argv[1])
