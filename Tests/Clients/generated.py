"""A generated client against the server of the tests: generated.py values|calls|loops|growth|subscribe|resume|hostile ADDRESS."""
import asyncio
import copy
import pickle
import socket
import sys
import time
import urllib.request
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import datetime, timezone
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import cast
from unittest.mock import patch
from uuid import UUID

import probe
from probe import Bid, DeclaredError, Everything, Options, OrderError, ProbeClient, Side, WaybillError


async def values(client: ProbeClient) -> None:
    for line in Path("values").read_text("utf-8").split("\n"):
        value = probe.from_json(Everything, probe._loads(line.encode()))
        assert await client.probe.echo(value=value) == value
        assert probe.from_json(Everything, probe.to_json(value)) == value


async def bargain(client: ProbeClient, moment: datetime, is_web: bool) -> None:
    call = client.probe.bargain(prices=[Decimal("1.10"), Decimal("2.5")])
    bids = iter([Bid(price=Decimal("0.9"), until=moment), Bid(price=Decimal(2))])
    offers = []
    try:
        async for step in call.progress():
            offers.append((step.value.price, step.value.side))
            step.answer(next(bids))
        assert not is_web and await call == [f"0.9 {moment.timestamp()}", "2 -"], await call
        assert offers == [(Decimal("1.1"), Side.RIGHT), (Decimal("2.5"), Side.RIGHT)], offers
    except probe.TypeMismatchError:
        # The gateway itself answers the first offer with null, which is not a bid.
        assert is_web and len(offers) == 1


async def paths(client: ProbeClient, is_web: bool) -> None:
    """Passes parameters in the path, of which some would become URLs of other routes."""
    assert await client.probe.files(path="a/b c/é") == "a/b c/é"
    twice = client.probe.twice(id="7")
    assert twice._request.url == "app://probe/twice/7/and/7" and await twice == "7"
    wild = client.probe.wild(any="a", any_2="b")
    assert wild._request.url == "app://probe/wild/b" and await wild == "a"
    for call in [
        lambda: client.probe.place(text="", number=1),
        *(lambda path=path: client.probe.files(path=path) for path in ["", "/a", "a//b", "a/"]),
    ]:
        try:
            call()
            raise AssertionError("no error")
        except probe.InvalidParameterError as error:
            assert "at least one character" in error.message, error
    for path in [".", "a/..", "../a"]:
        # Proxies would remove these segments, and a bus exposes no URL that has one.
        code = "invalidURL" if is_web else "noRoute"
        assert await failure(client.probe.files(path=path), 10) == code


async def calls(client: ProbeClient, is_web: bool) -> None:
    assert await client.probe.place(text="a/b c", number=-7) == "a/b c -7 left []"
    place = await client.probe.place(text="é", number=1, side=Side.RIGHT, sizes=[0.5])
    assert place == "é 1 right [0.5]", place
    moment = datetime(2026, 11, 21, 8, 30, 0, 125000, timezone.utc)
    name, digits = UUID("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), Decimal("12345678901234567890.125")
    captured = await client.probe.captured(data=b"\x00\xff\xfe\x07", date=moment, uuid=name, decimal=digits)
    assert captured == f"[0, 255, 254, 7] {moment.timestamp()} {str(name).upper()} {digits}", captured
    for trace in ["00-a", "größe →"]:
        assert await client.probe.trace(options=Options(headers={"traceparent": trace})) == trace
    await client.probe.note(text="")
    await paths(client, is_web)
    try:
        await client.probe.fail(id=9)
        raise AssertionError("no error")
    except OrderError as error:
        assert (error.case, error.status, str(error)) == ("unknown", 404, "there is no order 9")
        assert error.value == {"unknown": {"id": 9}} and isinstance(error, DeclaredError)
        for copied in [copy.copy(error), cast(OrderError, pickle.loads(pickle.dumps(error)))]:
            assert type(copied) is OrderError and copied.args == error.args, copied
            assert copied.__dict__ == error.__dict__, copied
    try:
        await probe.Call(client, probe._Request("app://probe/ecko", {}, None), probe._plain)
        raise AssertionError("no error")
    except probe.NoRouteError as error:
        assert error.suggestions[0] == "app://probe/echo", error.suggestions

    if not is_web:
        # The server rejects the marks of a message without a reply, and does not end the connection.
        await client.app.messages(text="x", options=Options(headers={"traceparent": "x" + "\u0301" * 40}))
        assert await client.probe.trace() == ""
        # The server's error for text that it does not parse has only a number.
        assert await failure(client.probe.note(text="x" + "\u0301" * 40), 10) == "handlerFailed"
        large = failure(client.probe.note(text="x" * (1 << 20)), 30)
        assert await asyncio.gather(large, client.probe.trace()._result()) == ["notTransferable", ""]
        reserved = probe._Request("app://probe/trace", {"$waybill": {"headers": {"traceparent": "00-b"}}}, None)
        try:
            await probe.Call(client, reserved, probe._plain)
            raise AssertionError("no error")
        except probe.NotTransferableError:
            pass

    call = client.probe.steps(count=3, is_answered=not is_web)
    seen = []
    async for step in call.progress(int):
        seen.append(step.value)
        step.answer(step.value * 10)
    assert seen == [1, 2, 3] and await call == (0 if is_web else 60)
    assert await client.probe.steps(count=2, is_answered=False) == 0
    count = client.probe.count(end=3)
    assert [number.value async for number in count.progress()] == [1, 2, 3] and await count == 3
    assert await client.probe.count(end=3) == 0
    await bargain(client, moment, is_web)
    # The server sends the value to the return URL as well, possibly after the reply.
    options = Options(return_url="app://probe/keep?note=größe→")
    assert await client.probe.place(text="r", number=2, options=options) == "r 2 left []"
    assert await client.is_current()
    if not is_web:
        assert await client.publish("app://news/x", text="hi", url="app://news/y") == 0

    # A caller that ends the iteration early cancels the call, which is not made again.
    begun = client.probe.steps(count=3, is_answered=False)
    async for step in begun.progress():
        break
    try:
        await begun
        raise AssertionError("no error")
    except RuntimeError:
        pass

    for value in [inf, nan, 0.5, Decimal("1e999999999")]:
        try:
            probe.from_json(int, value)
            raise AssertionError(f"{value} is no whole number of a reasonable size")
        except probe.DecodingError:
            pass

    with patch.object(probe, "_HAS_DECIMALS", False):
        assert probe._dumps({"prices": [1, Decimal("1.10")]}) == '{"prices":[1,1.10]}'

    many = [client.probe.place(text=str(number), number=number)._result() for number in range(50)]
    assert (await asyncio.gather(*many))[49] == "49 49 left []"

    assert await client.probe.trace(options=Options(timeout=inf)) == ""
    try:
        await client.probe.wait(options=Options(timeout=0.2))
        raise AssertionError("no error")
    except probe.DeadlineExceededError:
        pass
    task = asyncio.create_task(client.probe.wait()._result())
    await asyncio.sleep(0.2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    # The cancellation has to be sent before the connection ends.
    await asyncio.sleep(0.2)


async def closing(address: str) -> None:
    """Closes a client while a call is in flight and a subscription is read."""
    client = ProbeClient(address, token="secret")
    reading = asyncio.create_task(end(client.subscribe("app://news/*")))
    waiting = asyncio.create_task(failure(client.probe.wait(), 10))
    await client.probe.trace()
    await asyncio.sleep(1)
    await client.close()
    assert await asyncio.wait_for(waiting, 5) == "unreachable"
    await asyncio.wait_for(reading, 5)
    assert await failure(client.probe.trace(), 5) == "unreachable"


def loops(address: str) -> None:
    """Uses one client in several event loops, of which each is closed before the next one."""
    # Nobody has closed the transports of the first loops.
    warnings.simplefilter("ignore", ResourceWarning)
    client = ProbeClient(address, token="secret")

    async def trace() -> str:
        asyncio.get_running_loop().slow_callback_duration = 30
        return await client.probe.trace()

    for _ in range(3):
        assert asyncio.run(trace()) == ""
    # A loop can also end while the client connects, and without a cancellation of its tasks.
    loop = asyncio.new_event_loop()
    task = loop.create_task(trace())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert asyncio.run(trace()) == ""
    asyncio.run(client.close())
    assert not task.done()


async def growth(client: ProbeClient, count: int) -> None:
    """Calls a route many times, and checks the memory of the process after the first fifth of the calls."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    before = 0
    for number in range(count):
        if number == count // 5:
            before = resident()
        assert await client.probe.trace() == ""
    grown = resident() - before
    assert grown < 2 << 20, f"{grown} bytes"


async def subscribe(address: str) -> None:
    topics: list[str] = []
    async with ProbeClient(address, token="secret") as client:
        while not topics:
            try:
                async for message in client.subscribe("app://news/:topic"):
                    topic = str(message.parameters["topic"])
                    if topic not in topics:
                        topics.append(topic)
                        assert message.is_after_gap == (topic == "second"), message
                        await client.probe.note(text=f"{topic} {message.parameters['text']}")
                    if len(topics) == 2:
                        break
            except probe.UnreachableError:
                await asyncio.sleep(0.02)


async def resume(address: str, port: str) -> None:
    """Reads six messages through a proxy that cuts the connection after the second one."""

    async def publish(number: int) -> None:
        headers = {"Content-Type": "application/cloudevents+json"}
        event = f'{{"specversion":"1.0","id":"{number}","source":"/t","type":"t","data":{{"n":{number}}}}}'
        url = f"http://127.0.0.1:{port}/bus/app/news/x"
        request = urllib.request.Request(url, event.encode(), headers)
        await asyncio.to_thread(lambda: cast(object, urllib.request.urlopen(request).read()))

    client = ProbeClient(address)
    seen: list[object] = []

    async def read() -> None:
        async for message in client.subscribe("app://news/*"):
            assert not message.is_after_gap
            if message.parameters["n"] not in seen:
                seen.append(message.parameters["n"])
            if len(seen) == 6:
                return

    task = asyncio.create_task(read())
    await asyncio.sleep(0.5)
    for number in range(6):
        await publish(number)
    await asyncio.wait_for(task, 30)
    assert seen == [0, 1, 2, 3, 4, 5], seen


async def failure(task: Awaitable[object], limit: float) -> str:
    """Returns the code with which a task fails within a time."""
    start = time.monotonic()
    try:
        await asyncio.wait_for(task, limit)
    except WaybillError as error:
        return error.code
    except TimeoutError:
        raise AssertionError(f"no end after {time.monotonic() - start} s") from None
    raise AssertionError("no error")


async def end(iterator: AsyncIterator[object]) -> None:
    async for _ in iterator:
        pass


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.02)


async def send_much(client: ProbeClient) -> None:
    """Sends more bytes than a connection buffers."""
    for _ in range(64):
        await client.app.messages(text="x" * (1 << 20), options=Options(timeout=0.5))


async def crowd(address: str) -> None:
    """Reads messages so slowly that the client drops some of them, and expects a gap exactly there."""
    async with ProbeClient(address) as client:
        expected = gaps = 0
        messages = client.subscribe("app://news/*")
        async for message in messages:
            number = int(str(message.parameters["text"]))
            # The server has dropped messages before number 2500.
            assert message.is_after_gap == (number != expected or number == 2500), message
            gaps += message.is_after_gap
            if expected == 0:
                await asyncio.sleep(0.5)
            expected = number + 1
            if expected == 3000:
                break
        assert gaps > 0
        await messages.aclose()


async def hostile(ports: dict[str, str]) -> None:
    """Calls servers that break the protocol."""
    try:
        ProbeClient("http://user:secret@127.0.0.1/bus")
        raise AssertionError("no error")
    except probe.InvalidURLError as error:
        assert "token" in error.message and "secret" not in error.message, error
    for name in ["blank", "array", "http", "endless"]:
        async with ProbeClient(f"tcp:127.0.0.1:{ports[name]}") as client:
            for _ in range(2):
                assert await failure(client.probe.trace(), 30) == "unreachable", name
            assert await failure(end(client.subscribe("app://news/*")), 30) == "unreachable", name
    async with ProbeClient(f"tcp:127.0.0.1:{ports['half']}", request_size=2 << 20) as client:
        assert await failure(send_much(client), 60) == "unreachable"
        call = client.probe.trace()
        for _ in range(2):
            assert await failure(call, 30) == "unreachable"
        call = client.probe.count(end=1)
        assert await failure(end(call.progress()), 30) == "unreachable"
        assert await failure(call, 30) == "unreachable"
    async with ProbeClient(f"http://127.0.0.1:{ports['early']}") as client:
        assert not await client.is_current()
    async with ProbeClient(f"http://127.0.0.1:{ports['cut']}") as client:
        assert await failure(client.probe.trace(), 30) == "unreachable"
    async with ProbeClient(f"tcp:127.0.0.1:{ports['large']}") as client:
        assert len(await asyncio.wait_for(client.probe.trace()._result(), 30)) == 30_000_000
    silent = f"tcp:127.0.0.1:{ports['silent']}"
    async with ProbeClient(silent, token="x", timeout=0.2) as client:
        tasks = [failure(client.probe.trace(), 4), failure(client.publish("app://news/x"), 4)]
        tasks += [failure(client.is_current(), 4), failure(end(client.probe.count(end=1).progress()), 4)]
        assert await asyncio.gather(*tasks) == ["deadlineExceeded"] * 4
        assert await failure(client.probe.trace(), 4) == "deadlineExceeded"
    async with ProbeClient(silent, token="x") as client:
        assert await failure(client.probe.trace(), 8) == "unreachable"
    async with ProbeClient(f"tcp:127.0.0.1:{ports['denied']}", token="x") as client:
        assert await failure(client.probe.trace(), 4) == "refused"
    async with ProbeClient(f"tcp:127.0.0.1:{ports['sluggish']}", token="x", timeout=30) as client:
        tasks = [failure(client.probe.trace(), 20), failure(end(client.probe.count(end=1).progress()), 20)]
        assert await asyncio.gather(*tasks) == ["refused"] * 2
    connect = asyncio.open_connection

    async def connect_late(
        host: str, port: int, ssl: bool | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        await asyncio.sleep(1)
        return await connect(host, port, ssl=ssl)

    with patch("asyncio.open_connection", connect_late):
        async with ProbeClient(f"http://127.0.0.1:{ports['hurried']}", timeout=30) as client:
            assert await failure(client.probe.trace(), 20) == "refused"
    async with ProbeClient(f"tcp:127.0.0.1:{ports['late']}") as client:
        reading = asyncio.create_task(end(client.subscribe("app://news/*")))
        transport = cast(probe._SocketTransport, client._transport)
        await until(lambda: transport._connection is not None)
        connection = cast(probe._Connection, transport._connection)
        await until(lambda: bool(connection.pending))
        channel = cast(asyncio.Transport, connection._transport).get_extra_info("socket")
        assert channel.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        reading.cancel()
        await until(lambda: not connection.pending and not connection.feeds)
        await asyncio.wait_for(crowd(f"tcp:127.0.0.1:{ports['crowded']}"), 30)
    async with ProbeClient(f"tcp:127.0.0.1:{ports['renewed']}") as client:
        renewals = client.subscribe("app://news/*")
        assert (await asyncio.wait_for(anext(renewals), 30)).is_after_gap
        await renewals.aclose()
    async with ProbeClient(f"tcp:127.0.0.1:{ports['anonymous']}") as client:
        for _ in range(2):
            try:
                await asyncio.wait_for(client.probe.trace()._result(), 30)
                raise AssertionError("no error")
            except probe.UnreachableError as error:
                assert error.message == "the line is malformed", error
    stalled = f"tcp:127.0.0.1:{ports['stalled']}"
    async with ProbeClient(stalled, request_size=2 << 20) as client, ProbeClient(stalled) as other:
        assert await failure(send_much(client), 60) == "deadlineExceeded"
        await other.app.messages(text="a second connection")
        await asyncio.wait_for(client.app.messages(text="the server reads again"), 20)
    left = f"tcp:127.0.0.1:{ports['left']}"
    async with ProbeClient(left, request_size=2 << 20) as client, ProbeClient(left) as other:
        assert await failure(send_much(client), 60) == "deadlineExceeded"
        closing = asyncio.create_task(client.close())
        await other.app.messages(text="a second connection")
        await asyncio.wait_for(closing, 20)
    for name in ["page", "accepted", "line", "event", "headers"]:
        async with ProbeClient(f"http://127.0.0.1:{ports[name]}") as client:
            if name not in ["line", "event"]:  # A subscription that has begun connects again.
                assert await failure(end(client.subscribe("app://news/*")), 30) == "unreachable", name
            assert await failure(end(client.probe.count(end=1).progress()), 30) == "unreachable", name
    async with ProbeClient(f"http://127.0.0.1:{ports['generous']}") as client:
        async for _ in client.probe.count(end=1).progress():
            await asyncio.sleep(3)
            break
    async with ProbeClient(f"http://127.0.0.1:{ports['flaky']}") as client:
        messages = client.subscribe("app://news/*")
        for _ in range(2):
            await asyncio.wait_for(anext(messages), 30)
    for address in [f"tcp:127.0.0.1:{ports['brief']}", f"http://127.0.0.1:{ports['ended']}"]:
        async with ProbeClient(address) as client:
            with suppress(TimeoutError):
                await asyncio.wait_for(end(client.subscribe("app://news/*")), 3)
    async with ProbeClient(f"tcp:127.0.0.1:{ports['flooding']}") as client:
        steps = client.probe.count(end=1).progress()
        await asyncio.wait_for(anext(steps), 30)
        await asyncio.sleep(1)
        assert await failure(end(steps), 30) == "unreachable"
    async with ProbeClient(f"http://127.0.0.1:{ports['garbled']}") as client:
        async with aclosing(client.subscribe("app://news/*")) as messages:
            gaps = [(await asyncio.wait_for(anext(messages), 30)).is_after_gap for _ in range(2)]
            assert gaps == [False, True], gaps
    async with ProbeClient(f"http://127.0.0.1:{ports['moved']}") as client:
        assert await failure(client.probe.trace(), 30) == "refused"
    async with ProbeClient(f"http://127.0.0.1:{ports['beating']}", timeout=0.2) as client:
        assert await failure(end(client.probe.count(end=1).progress()), 4) == "deadlineExceeded"


async def main(mode: str, address: str) -> None:
    # The development mode would print calls that are slow on a busy machine.
    asyncio.get_running_loop().slow_callback_duration = 30
    if mode == "subscribe":
        return await subscribe(address)
    if mode == "hostile":
        return await hostile(dict(pair.split("=") for pair in address.split(",")))
    if mode == "resume":
        return await resume(address, sys.argv[3])
    async with ProbeClient(address, token="secret") as client:
        if mode == "values":
            await values(client)
        elif mode == "growth":
            await growth(client, int(sys.argv[3]))
        else:
            await calls(client, address.startswith("http"))
    if mode == "calls":
        await closing(address)


try:
    if sys.argv[1] == "loops":
        loops(sys.argv[2])
    else:
        asyncio.run(main(sys.argv[1], sys.argv[2]))
    print("ok")
except WaybillError as error:
    sys.exit(f"{error.code}: {error}")
