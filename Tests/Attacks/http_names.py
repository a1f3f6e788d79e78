#!/usr/bin/env python3
"""Sends texts with long runs of combining marks, which take quadratic time to compare as strings.

usage: http_names.py ADDRESS

The texts are names in JSON and in forms, and all other texts of a request. Honest calls must not wait.
"""

import sys
import time
import urllib.parse

from http_support import Honest, request, send


def marks(size):
    """Returns about `size` bytes of marks that normalization puts in another order."""
    return b"e" + "\u0301\u0316".encode() * (size // 4)


def requests():
    json, form = (b"Content-Type", b"application/json"), (b"Content-Type", b"application/x-www-form-urlencoded")
    post, honest = b"POST", b"/bus/app/attack/honest"
    long, short = marks(320_000), marks(12_000)
    escaped = urllib.parse.quote(marks(2_000)).encode()
    yield "JSON", request(post, honest, [json], b'{"' + long + b'":1}')
    yield "JSON, twice", request(post, honest, [json], b'{"' + long + b'":1,"' + long + b'":2}')
    yield "JSON, many", request(post, honest, [json], b'{"a":{"b":{"' + long + b'":1}}}')
    yield "form", request(post, honest, [form], long + b"=1")
    yield "form, escaped", request(post, honest, [form], urllib.parse.quote(long).encode() + b"=1")
    yield "form, many", request(post, honest, [form], b"&".join(marks(900) + b"%d=1" % n for n in range(1000)))
    yield "query", request(b"GET", b"/bus/subscribe?" + escaped + b"=1")
    yield "pattern", request(b"GET", b"/bus/subscribe?pattern=app://attack/news/" + escaped)
    yield "path", request(post, honest + b"/" + escaped)
    for name in [b"Content-Type", b"Accept", b"Origin", b"Last-Event-ID", b"Waybill-Timeout", b"Cookie", b"ce-specversion"]:
        yield name.decode(), request(post, honest, [(name, short)], b"{}")
    yield "Host", request(post, honest, [], b"", host=short)


def main(address):
    slowest, count = (0.0, ""), 0
    with Honest(address) as honest:
        end = time.monotonic() + 5
        while time.monotonic() < end:
            for name, data in requests():
                start = time.monotonic()
                send(address, data)
                slowest = max(slowest, (time.monotonic() - start, name))
                count += 1
                if time.monotonic() > end:
                    break
    numbers = f"{count} requests, the slowest ({slowest[1]}) took {slowest[0] * 1000:.0f} ms"
    honest.report("http_names", numbers, slowest[0] < 1)


main(sys.argv[1])
