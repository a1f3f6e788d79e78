"""Servers that break the protocol, for a generated client: hostile.py COMMAND...

The command gets the argument `hostile` and the ports of the servers, such as `blank=4000,page=4001`. The script also fails if a
client does not close a connection whose authentication fails, or keeps a subscription whose caller has not waited for its number.
"""
import asyncio, json, os, sys, time

problems = []
SIZE = 80 << 20


async def flood(writer, part, size=SIZE):
    """Sends a text repeatedly while the client reads, up to about `size` bytes."""
    for _ in range(-(-size // len(part))):
        writer.write(part)
        await writer.drain()


async def request(reader):
    """Reads a request; if the client closes the connection first, this raises IncompleteReadError."""
    return json.loads(await reader.readuntil(b"\n"))


def answers(text):
    async def serve(reader, writer):
        while await request(reader):
            writer.write(text)

    return serve


async def silent(reader, writer):
    await reader.read()


async def half(reader, writer):
    """Ends its half of the connection, and reads nothing more."""
    await reader.read(1)
    writer.write_eof()
    await asyncio.sleep(60)


async def endless(reader, writer):
    await request(reader)
    await flood(writer, b"x" * 65536)
    await reader.read()


async def large(reader, writer):
    number = (await request(reader))["id"]
    writer.write(b'{"jsonrpc":"2.0","id":%d,"result":"%s"}\n' % (number, b"x" * 30_000_000))
    await reader.read()


async def denied(reader, writer):
    number = (await request(reader))["id"]
    error = {"code": -32000, "message": "the token is wrong", "data": {"code": "refused"}}
    writer.write(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode() + b"\n")
    try:
        await asyncio.wait_for(reader.read(), 5)
    except TimeoutError:
        problems.append("the client does not close a connection whose authentication fails")
    except ConnectionError:
        pass


async def sluggish(reader, writer):
    """Authenticates a client late, and then expects requests that contain only the remaining time."""
    number = (await request(reader))["id"]
    await asyncio.sleep(1)
    writer.write(b'{"jsonrpc":"2.0","id":%d,"result":true}\n' % number)
    while sent := await request(reader):
        if sent["params"]["$waybill"]["timeLeft"] > 29_500:
            problems.append(f"the client does not subtract the time in which it has connected: {sent}")
        error = {"code": -32000, "message": "no", "data": {"code": "refused"}}
        writer.write(json.dumps({"jsonrpc": "2.0", "id": sent["id"], "error": error}).encode() + b"\n")


async def hurried(reader, writer):
    """Expects a request over HTTP that contains only the remaining time."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    timeouts = [line.partition(":")[2] for line in head.split("\r\n") if line.startswith("Waybill-Timeout:")]
    if len(timeouts) != 1 or int(timeouts[0]) > 29_500:
        problems.append(f"the client does not subtract the time in which it has connected: {timeouts}")
    writer.write(b'HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n{"code":"refused"}')
    writer.close()


MESSAGES = 3000


async def crowded(reader, writer):
    """Sends more messages at once than a client keeps, directly after the number of their subscription.

    The server has dropped messages before number 2500, and number 2600 cannot be sent.
    """
    subscribe = await request(reader)
    assert subscribe["method"] == "$/subscribe", subscribe
    frames = [{"id": subscribe["id"], "result": 7}]
    for number in range(MESSAGES):
        params = {"subscription": 7, "url": "app://news/x", "parameters": {"text": str(number)}}
        if number == 2500:
            params["missed"] = 3
        if number == 2600:
            params = {"subscription": 7, "error": {"code": -32011, "message": "no JSON"}}
        frames.append({"method": "$/message", "params": params})
    writer.write(b"".join(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n" for frame in frames))
    await expect_end(reader)


async def late(reader, writer):
    """Sends the number of a subscription after the caller has stopped waiting for it."""
    subscribe = await request(reader)
    assert subscribe["method"] == "$/subscribe", subscribe
    await asyncio.sleep(1)
    writer.write(json.dumps({"jsonrpc": "2.0", "id": subscribe["id"], "result": 7}).encode() + b"\n")
    await expect_end(reader)


async def renewed(reader, writer):
    """Ends a subscription, as a bus does that shuts down, and sends a message to the next one."""
    message = {"url": "app://news/x", "parameters": {}}
    for method, params in [("$/unsubscribe", {}), ("$/message", message)]:
        subscribe = await request(reader)
        event = {"method": method, "params": {"subscription": 7, **params}}
        for frame in [{"id": subscribe["id"], "result": 7}, event]:
            writer.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
    await expect_end(reader)


async def expect_end(reader):
    """Expects that the client ends its subscription."""
    try:
        frame = json.loads(await asyncio.wait_for(reader.readline(), 5) or "{}")
    except TimeoutError:
        frame = {}
    if (frame.get("method"), frame.get("params")) != ("$/unsubscribe", {"subscription": 7}):
        problems.append(f"the client keeps a subscription that nobody reads: {frame}")


async def anonymous(reader, writer):
    """Answers a request without its ID."""
    await request(reader)
    error = {"code": -32700, "message": "the line is malformed", "data": {"code": "refused"}}
    writer.write(json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode() + b"\n")
    await reader.read()


def stalled():
    """Reads nothing from the first connection until there is a second one, and then expects whole messages."""
    reading, stalls = asyncio.Event(), []

    async def serve(reader, writer):
        stalls.append(writer)
        if len(stalls) > 1:
            reading.set()
        await reading.wait()
        last = b""
        while part := await reader.read(1 << 20):
            last = part
        if not last.endswith(b"\n"):
            problems.append("the client drops the rest of a message that it has accepted")

    return serve


def web(head, body=b"", size=SIZE):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 " + head + b"\r\nConnection: close\r\n\r\n")
        if body:
            await flood(writer, body, size)
        writer.close()

    return serve


async def headers(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n")
    await flood(writer, b"X-Long: value\r\n" * 4096)


async def beating(reader, writer):
    """Sends heartbeats, and no reply."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    while True:
        writer.write(b": \n\n")
        await writer.drain()
        await asyncio.sleep(0.1)


async def separator(reader, writer):
    """Sends a message whose text has a line separator, with an interval of heartbeats that a timer cannot count."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nWaybill-Heartbeat: 4294967295\r\n\r\n")
    await asyncio.sleep(0.5)
    writer.write(b'event: message\ndata: {"url":"app://news/x","parameters":{"text":"a\xe2\x80\xa8b"}}\n\n')
    await reader.read()


connections = {}


def brief(serve):
    """Accepts a subscription and ends the connection at once, and counts how often the client connects."""

    async def body(reader, writer):
        connections.setdefault(serve, []).append(time.monotonic())
        await serve(reader, writer)

    return body


async def unread(reader, writer):
    number = (await request(reader))["id"]
    writer.write(b'{"jsonrpc":"2.0","id":%d,"result":1}\n' % number)
    await writer.drain()


def count_connections():
    """Finds clients that connect again and again without a pause."""
    for times in connections.values():
        seconds = times[-1] - times[0]
        if len(times) > 10 + 2 * seconds:
            problems.append(f"a client has connected {len(times)} times in {seconds} seconds")


async def flooding(reader, writer):
    """Sends progress replies without waiting for their answers."""
    number = (await request(reader))["id"]
    frame = {"jsonrpc": "2.0", "method": "$/progress", "params": {"id": number, "value": 1}}
    await flood(writer, (json.dumps(frame).encode() + b"\n") * 64)
    problems.append("the client keeps progress replies that it does not read")


async def garbled(reader, writer):
    """Sends an event that cannot be read, and after it the next message."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    writer.write(b"HTTP/1.1 " + EVENTS + b"\r\nConnection: close\r\n\r\n")
    message = b'event: message\ndata: {"url":"app://news/x","parameters":{}}\n\n'
    if b"last-event-id: e-2" in head:
        writer.write(b"id: e-3\n" + message)
        await reader.read()
    else:
        writer.write(b"id: e-1\n" + message + b"id: e-2\n" + message.replace(b"{}", b"1"))
        await writer.drain()


passing = [
    b"503 Service Unavailable\r\nContent-Type: text/html\r\n\r\n<p>Try again.</p>",
    b"429 Too Many Requests\r\n\r\n{}",
    b"502 Bad Gateway\r\n\r\n",
    b"504 Gateway Timeout\r\n\r\n[]",
    b'503 Service Unavailable\r\n\r\n{"code":"deadlineExceeded","detail":"the server is slow"}',
]


async def flaky(reader, writer):
    """Sends a message, fails in each way that passes, and begins again."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 ")
    if flaky.failures:
        writer.write(flaky.failures.pop())
    else:
        flaky.failures = list(passing)
        writer.write(EVENTS + b'\r\n\r\nevent: message\ndata: {"url":"app://news/x","parameters":{}}\n\n')
    await writer.drain()


flaky.failures = []


async def generous(reader, writer):
    """Sends many progress replies to a client that reads only the first of them."""
    try:
        await web(EVENTS, b"event: progress\ndata: 1\ndata: " + b" " * 65536 + b"\n\n")(reader, writer)
        problems.append("the client reads progress replies for which nobody has asked")
    except ConnectionError:
        pass


async def early(reader, writer):
    """Sends an informational response before the final one."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\n")
    writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"x"')
    await writer.drain()


EVENTS = b"200 OK\r\nContent-Type: text/event-stream"
SERVERS = {
    "blank": answers(b"\n"),
    "array": answers(b"[]\n"),
    "http": answers(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "silent": silent,
    "half": half,
    "endless": endless,
    "large": large,
    "denied": denied,
    "sluggish": sluggish,
    "hurried": hurried,
    "crowded": crowded,
    "late": late,
    "renewed": renewed,
    "anonymous": anonymous,
    "stalled": stalled(),
    "left": stalled(),
    "page": web(b"200 OK\r\nContent-Type: text/html"),
    "accepted": web(b"202 Accepted\r\nContent-Type: text/event-stream"),
    "line": web(EVENTS, b"x" * 65536),
    "event": web(EVENTS, (b"data: " + b"x" * 4000 + b"\n") * 16),
    "separator": separator,
    "headers": headers,
    "early": early,
    "cut": web(b"200 OK"),
    "flaky": flaky,
    "generous": generous,
    "brief": brief(unread),
    "ended": brief(web(EVENTS, b"event: end\ndata: {}\n\n", size=1)),
    "beating": beating,
    "flooding": flooding,
    "garbled": garbled,
    "moved": web(b"301 Moved Permanently\r\nLocation: /elsewhere\r\nContent-Length: 0"),
}


def tolerant(serve):
    """Lets a client close its connection at any time."""

    async def body(reader, writer):
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except Exception as error:
            problems.append(f"{serve.__qualname__}: {error!r}")
        finally:
            writer.close()

    return body


async def main():
    servers = {name: await asyncio.start_server(tolerant(serve), "127.0.0.1") for name, serve in SERVERS.items()}
    ports = ",".join(f"{name}={server.sockets[0].getsockname()[1]}" for name, server in servers.items())
    client = await asyncio.create_subprocess_exec(*sys.argv[1:], "hostile", ports)
    try:
        status = await asyncio.wait_for(client.wait(), 300)
    except TimeoutError:
        client.kill()
        status = 1
        problems.append("the client has not ended after 300 seconds")
    count_connections()
    for problem in problems:
        print(problem, file=sys.stderr, flush=True)
    # Some connections are still open: an orderly end of asyncio could print a warning for each of them.
    os._exit(status or bool(problems))


asyncio.run(main())
