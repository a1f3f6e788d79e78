#!/usr/bin/env python3
"""Makes feeds that outlive their clients.

usage: http_feeds.py ADDRESS

Subscribes to 1,000 patterns and closes each connection immediately. Then subscribes to 200 more patterns, closes half of
the connections after an event, and publishes large messages. An honest client must be able to subscribe, and honest calls
must not wait.
"""

import sys
import time

from http_support import Honest, connect, publish, read_head, request

PATTERNS, ABANDONED, MESSAGES, SIZE = 1000, 200, 16, 1_000_000


def subscribe(address, pattern):
    connection = connect(address)
    connection.sendall(request(b"GET", b"/bus/subscribe?pattern=" + pattern))
    return connection


def honest_status(address):
    connection = subscribe(address, b"app://attack/news/honest")
    with connection:
        return read_head(connection)[0]


def main(address):
    with Honest(address) as honest:
        for number in range(PATTERNS):
            subscribe(address, b"app://attack/news/:a%d" % number).close()
        first = honest_status(address)
        start, status = time.monotonic(), first
        while status != 200 and time.monotonic() - start < 1:
            time.sleep(0.01)
            status = honest_status(address)
        waited = time.monotonic() - start if first != 200 else 0.0
        streams = []
        for number in range(ABANDONED):
            stream = subscribe(address, b"app://attack/news/:b%d" % number)
            read_head(stream)
            streams.append(stream)
        published = [publish(address, b"first")]
        for stream in streams[: ABANDONED // 2]:
            # A client that has the ID of an event can resume, so the server keeps its feed.
            stream.settimeout(0.2)
            try:
                stream.recv(65536)
            except TimeoutError:
                # The event has arrived together with the head.
                pass
            stream.close()
        end = time.monotonic() + 4
        while len(published) < MESSAGES and time.monotonic() < end:
            published.append(publish(address, b"x" * SIZE))
        again = honest_status(address)
        for stream in streams:
            stream.close()
    numbers = (
        f"{PATTERNS} patterns left at once, an honest client waited {waited * 1000:.0f} ms to subscribe; "
        f"{len(published)} messages of 1 MB for {ABANDONED} feeds, status {again} then"
    )
    honest.report("http_feeds", numbers, status == 200 and again == 200 and set(published) == {204})


main(sys.argv[1])
