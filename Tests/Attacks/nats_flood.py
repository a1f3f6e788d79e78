#!/usr/bin/env python3
"""Sends requests with distinct reply subjects, and announcements in the name of a node.

usage: nats_flood.py HOST:PORT [REALM]

HOST:PORT is the address of the NATS server, and the default realm is `attack`. The script uses the protocol of NATS over a
raw socket. Honest calls must not wait, and a node must correct each forged announcement in its name.
"""

import json
import socket
import sys
import threading
import time

LIMIT = 0.050
REQUESTS_PER_SECOND = 20_000


class Client:
    """A connection to a NATS server."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = b""
        self.line()
        self.write(b'CONNECT {"verbose":false,"pedantic":false,"lang":"python","version":"1"}\r\nPING\r\n')
        while self.line() != b"PONG":
            pass

    def write(self, data):
        self.socket.sendall(data)

    def fill(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise OSError("the server has closed the connection")
        self.data += part

    def line(self):
        while b"\r\n" not in self.data:
            self.fill()
        line, self.data = self.data.split(b"\r\n", 1)
        return line

    def message(self):
        """Reads the next message, and returns its subject and its payload."""
        while True:
            words = self.line().split(b" ")
            if words[0] == b"PING":
                self.write(b"PONG\r\n")
            elif words[0] == b"MSG":
                size = int(words[-1])
                while len(self.data) < size + 2:
                    self.fill()
                payload, self.data = self.data[:size], self.data[size + 2:]
                return words[1], payload

    def subscribe(self, subject):
        self.write(b"SUB %s 1\r\n" % subject)


def publication(subject, payload, reply=b""):
    return b"PUB %s %s%d\r\n%s\r\n" % (subject, reply + b" " if reply else b"", len(payload), payload)


def call(number):
    return b'{"jsonrpc":"2.0","id":%d,"method":"app://attack/honest"}' % number


class Honest(threading.Thread):
    """Calls the honest URL repeatedly."""

    def __init__(self, address, subject):
        super().__init__(daemon=True)
        self.client, self.subject = Client(address), subject
        self.slowest, self.count, self.failures = 0.0, 0, []
        self.is_stopped = False
        self.client.subscribe(b"_INBOX.honest.*")
        self.call()
        self.slowest = 0.0

    def call(self):
        self.count += 1
        start = time.monotonic()
        reply = b"_INBOX.honest.%d" % self.count
        self.client.write(publication(self.subject, call(self.count), reply))
        _, payload = self.client.message()
        self.slowest = max(self.slowest, time.monotonic() - start)
        if json.loads(payload).get("result") != "ok":
            self.failures.append(payload[:200])

    def run(self):
        try:
            while not self.is_stopped:
                self.call()
                time.sleep(0.002)
        except (OSError, ValueError) as error:
            self.failures.append(error)


def flood(address, realm, subject, seconds):
    """Sends requests with distinct reply subjects. Half of the subjects are of nodes that do not exist."""
    client, sent, start = Client(address), 0, time.monotonic()
    while time.monotonic() - start < seconds:
        batch = []
        for _ in range(200):
            reply = b"_INBOX.flood.%d" if sent % 2 else b"waybill.%s.inbox.flood%%d.1" % realm
            batch.append(publication(subject, call(sent), reply % sent))
            sent += 1
        client.write(b"".join(batch))
        time.sleep(max(0.0, start + sent / REQUESTS_PER_SECOND - time.monotonic()))
    return sent


class Nodes:
    """Receives the announcements of nodes, and sends forged announcements."""

    def __init__(self, address, realm):
        self.subject = b"waybill.%s.nodes" % realm
        self.listener, self.forger = Client(address), Client(address)
        self.listener.subscribe(self.subject)

    def announcement(self, is_wanted, seconds):
        """Returns the next announcement that `is_wanted` accepts, or None if none arrives in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.listener.socket.settimeout(max(0.01, end - time.monotonic()))
            try:
                announcement = json.loads(self.listener.message()[1])
            except TimeoutError:
                return None
            if is_wanted(announcement):
                return announcement
        return None

    def forge(self, kind, node, epoch):
        forged = {"kind": kind, "node": node, "name": "forged", "epoch": epoch, "interval": 1000}
        self.forger.write(publication(self.subject, json.dumps(forged).encode()))


def contest(nodes):
    """Forges announcements of a node, and returns the kinds of announcements that the node does not correct."""
    known = nodes.announcement(lambda one: one["kind"] == "beat", 3)
    if known is None:
        return ["there is no node"]
    node, silent = known["node"], []
    for kind in ["hello", "state", "bye"]:
        epoch = known["epoch"] + 1
        nodes.forge(kind, node, epoch)
        known_again = nodes.announcement(
            lambda one: one["kind"] == "state" and one["node"] == node and one["name"] != "forged"
            and one["epoch"] > epoch,
            1,
        )
        if known_again is None:
            silent.append(kind)
        else:
            known = known_again
    # The node must not adopt an epoch that it cannot have reached.
    for _ in range(1000):
        nodes.forge("hello", node, 1 << 52)
    is_beat = lambda one: one["kind"] == "beat" and one["node"] == node and one["name"] != "forged"
    beat = nodes.announcement(is_beat, 2)
    if beat is None or beat["epoch"] > known["epoch"] + 10_000:
        silent.append(f"an epoch that is far ahead: {beat}")
    return silent


def main(address, realm):
    subject = b"waybill.%s.call.app.attack.honest" % realm
    nodes, honest = Nodes(address, realm), Honest(address, subject)
    honest.start()
    silent = contest(nodes)
    sent = flood(address, realm, subject, 3)
    time.sleep(0.2)
    honest.is_stopped = True
    honest.join(2)
    holds = not silent and not honest.failures and honest.slowest <= LIMIT
    print(
        f"nats_flood: {'held' if holds else 'BROKEN'}: {sent} requests with distinct reply subjects; forged "
        f"announcements without an answer: {silent or 'none'}; honest: {honest.count} calls, the slowest took "
        f"{honest.slowest * 1000:.1f} ms, {len(honest.failures)} failed {honest.failures[:1] or ''}"
    )
    sys.exit(0 if holds else 1)


main(sys.argv[1], (sys.argv[2] if len(sys.argv) > 2 else "attack").encode())
