"""The code that the attacks on the HTTP gateway share: connections, requests, and timed honest calls."""

import socket
import sys
import threading
import time

LIMIT = 0.050


def connect(address):
    """Connects to `unix:PATH` or `host:port`."""
    if address.startswith("unix:"):
        while True:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(8)
            try:
                connection.connect(address[len("unix:"):])
                return connection
            except BlockingIOError:
                # The backlog of the server is full.
                connection.close()
                time.sleep(0.001)
    host, port = address.rsplit(":", 1)
    connection = socket.create_connection((host.strip("[]"), int(port)), timeout=8)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def request(method, path, headers=(), body=b"", host=b"localhost"):
    """Returns the bytes of a request. The names and values of headers are bytes."""
    lines = [b"%s %s HTTP/1.1" % (method, path), b"Host: " + host]
    lines += [name + b": " + value for name, value in headers]
    if body or method == b"POST":
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def read_head(connection):
    """Reads the head of a response. Returns the status, the headers, and the data that has arrived after the head."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return 0, {}, b""
        data += part
    head, rest = data.split(b"\r\n\r\n", 1)
    lines = head.split(b"\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in lines[1:] if b": " in line)
    return int(lines[0].split(b" ")[1]), headers, rest


def send(address, data):
    """Sends a request on a new connection. Returns the status, or 0 if there is no response."""
    try:
        with connect(address) as connection:
            connection.sendall(data)
            return read_head(connection)[0]
    except OSError:
        return 0


def publish(address, text):
    """Publishes a text for the feeds, and returns the status."""
    headers = [
        (b"ce-specversion", b"1.0"), (b"ce-id", b"1"), (b"ce-source", b"/attack"), (b"ce-type", b"news"),
        (b"Content-Type", b"application/json"),
    ]
    body = b'{"text":"' + text + b'"}'
    return send(address, request(b"POST", b"/bus/app/attack/news/x", headers, body))


class Honest:
    """Calls the honest URL on one connection repeatedly, until the `with` block ends."""

    def __init__(self, address):
        self.address = address
        self.slowest, self.count, self.failures = 0.0, 0, []
        self.is_stopped = False
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.call(connect(self.address))
        self.slowest = 0.0
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_stopped = True
        self.thread.join(9)

    def call(self, connection):
        start = time.monotonic()
        connection.sendall(request(b"POST", b"/bus/app/attack/honest"))
        status, headers, body = read_head(connection)
        while len(body) < int(headers.get(b"content-length", b"0")):
            body += connection.recv(65536)
        self.slowest = max(self.slowest, time.monotonic() - start)
        self.count += 1
        if status != 200 or body != b'"ok"':
            self.failures.append((status, body[:100]))
        return headers.get(b"connection") != b"close"

    def run(self):
        try:
            connection = connect(self.address)
            while not self.is_stopped:
                if not self.call(connection):
                    connection = connect(self.address)
                time.sleep(0.005)
        except OSError as error:
            self.failures.append(error)

    def report(self, name, numbers, holds):
        """Prints the numbers and ends the program."""
        holds = holds and not self.failures and self.count > 0 and self.slowest <= LIMIT
        print(
            f"{name}: {'held' if holds else 'BROKEN'}: {numbers}; honest: {self.count} calls, the slowest took "
            f"{self.slowest * 1000:.1f} ms, {len(self.failures)} failed {self.failures[:1] or ''}"
        )
        sys.exit(0 if holds else 1)
