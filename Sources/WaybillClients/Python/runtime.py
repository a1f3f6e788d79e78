from __future__ import annotations

import asyncio
import base64
import json
import socket
import sys
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from math import inf
from random import uniform
from typing import Generic, Literal, Self, TypeAlias, TypeVar, cast, overload
from urllib.parse import SplitResult, quote, urlsplit
from uuid import UUID

Array: TypeAlias = "Sequence[JSON]"
Object: TypeAlias = "Mapping[str, JSON]"
JSON: TypeAlias = "None | bool | int | float | Decimal | str | Array | Object"
# {{ROUTES}}
# The rest of the file is the same for every document, apart from the tables at its end.

A = TypeVar("A", contravariant=True)
S = TypeVar("S", covariant=True)
T = TypeVar("T")
V = TypeVar("V")


class WaybillError(Exception):
    """A failure of a call, with the sentence of the server."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        suggestions: Iterable[str] = (),
        reference: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """The name of the bus's code, such as `noRoute`."""
        self.message = message
        self.suggestions = list(suggestions)
        """URLs that are similar to the URL of the call."""
        self.reference = reference
        """The text under which the server's log has the cause."""

    def __reduce__(self) -> tuple[object, ...]:
        # Without this method, a copy would be created from the message alone.
        return Exception.__new__, (type(self), *self.args), self.__dict__


class DeclaredError(WaybillError):
    """An error that a module declares for its callers."""

    def __init__(
        self, name: str, case: str, message: str, *, status: int, value: JSON
    ) -> None:
        super().__init__("handlerFailed", message)
        self.name = name
        self.case = case
        self.status = status
        self.value = value


class DecodingError(ValueError):
    """A value of the server that does not have the type of the client."""


@dataclass(frozen=True)
class Unknown:
    """An option of a union that a newer server has added."""

    value: JSON


@dataclass(frozen=True)
class Options:
    """The options of one call."""

    timeout: float | None = None
    """The seconds to wait for the reply."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Texts for the infrastructure of the server, such as `traceparent`."""
    return_url: str | None = None
    """A URL to which the server sends the value of the reply as well."""


@dataclass(frozen=True)
class Publication:
    """A message that was published to a subscribed pattern."""

    url: str
    parameters: Object
    payload: JSON
    headers: Mapping[str, str]
    is_after_gap: bool
    """Whether messages before this message may be missing."""


class Step(Generic[S, A]):
    """A progress reply of a call."""

    def __init__(self, value: S, send: Callable[[JSON], None]) -> None:
        self.value = value
        self._send: Callable[[JSON], None] | None = send

    def answer(self, value: A) -> None:
        """Answers the progress reply, for which its handler may wait.

        A progress reply without an answer is answered with None when the next one
        is read. Over HTTP, the server itself answers each progress reply.
        """
        self._answer(to_json(value))

    def _answer(self, value: JSON) -> None:
        if self._send is not None:
            self._send(value)
        self._send = None


class _Call(Generic[T]):
    """The parts that `Call` and `ProgressCall` have in common."""

    def __init__(
        self, client: _Client, request: _Request, decode: Callable[[JSON], T]
    ) -> None:
        self._client = client
        self._request = request
        self._decode = decode
        self._has_begun = False
        self._reply: _Reply | None = None
        self._failure: WaybillError | None = None

    def __await__(self) -> Generator[object, None, T]:
        return self._result().__await__()

    def _begin(self) -> float | None:
        """Begins the call, which is not repeated, and returns its deadline."""
        if self._failure is not None:
            raise self._failure
        if self._has_begun:
            raise RuntimeError("the call has begun already and has no reply")
        self._has_begun = True
        return self._client._deadline(self._request.options)

    async def _result(self) -> T:
        if self._reply is None:
            deadline = self._begin()
            reply = self._client._transport.call(self._request, deadline)
            try:
                self._reply = _Reply(await _by(deadline, reply))
            except WaybillError as error:
                self._failure = error
                raise
        return self._decode(self._reply.value)

    async def _steps(
        self, decode: Callable[[JSON], V]
    ) -> AsyncGenerator[Step[V, A], None]:
        deadline = self._begin()
        stream = self._client._transport.stream(self._request, deadline)
        async with aclosing(stream) as events:
            while True:
                try:
                    event = await _by(deadline, anext(events))
                except WaybillError as error:
                    self._failure = error
                    raise
                if isinstance(event, _Reply):
                    self._reply = event
                    return
                step: Step[V, A] = Step(decode(event.value), event._answer)
                yield step
                step._answer(None)


class Call(_Call[T]):
    """A call that begins when it is awaited or when its progress replies are read.

    Await it for the reply. Cancelling the awaiting task cancels the handler. To run
    calls at the same time, pass them to `asyncio.gather` or `asyncio.ensure_future`.
    """

    @overload
    def progress(self) -> AsyncGenerator[Step[JSON, object], None]: ...

    @overload
    def progress(self, of: type[V]) -> AsyncGenerator[Step[V, object], None]: ...

    def progress(
        self, of: type[object] | None = None
    ) -> AsyncGenerator[Step[object, object], None]:
        """Calls the URL and iterates over its progress replies.

        The iterator ends when the reply has arrived, which `await` then returns.

        Args:
            of: The type of the progress replies, which is one of this file's types,
                `str`, `int`, `float` or `bool`. Without it, they are JSON.
        """
        if of is None:
            return self._steps(_plain)
        return self._steps(_decoder(of))


class ProgressCall(_Call[T], Generic[T, S, A]):
    """A call like `Call`, whose progress replies and answers have types.

    The types are the reply, the progress replies, and the answers to them.
    """

    def __init__(
        self,
        client: _Client,
        request: _Request,
        decode: Callable[[JSON], T],
        decode_step: Callable[[JSON], S],
    ) -> None:
        super().__init__(client, request, decode)
        self._decode_step = decode_step

    def progress(self) -> AsyncGenerator[Step[S, A], None]:
        """Iterates over the progress replies like the function of `Call`."""
        return self._steps(self._decode_step)


def to_json(value: object) -> JSON:
    """Returns a value as JSON, for answers and publications."""
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, Unknown):
        return value.value
    encode = _ENCODERS.get(type(value))
    if encode is not None:
        return encode(value)
    if value is None or isinstance(value, (bool, int, float, str, Decimal)):
        return value
    raise TypeError(f"a {type(value).__name__} is not a value of the bus")


def from_json(kind: type[V], value: JSON) -> V:
    """Returns a value of one of this file's types from JSON.

    Raises:
        DecodingError: the value does not have the type.
    """
    return _decoder(kind)(value)


def _decoder(kind: type[V]) -> Callable[[JSON], V]:
    if kind not in _DECODERS:
        raise TypeError(f"{kind!r} is not a type of this client")
    return cast("Callable[[JSON], V]", _DECODERS[kind])


# Values as JSON.


def _mismatch(wanted: str, value: JSON) -> DecodingError:
    return DecodingError(f"the server sent {str(value)[:80]!r} in place of {wanted}")


def _plain(value: JSON) -> JSON:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _nothing(value: JSON) -> None:
    return None


def _boolean(value: JSON) -> bool:
    if isinstance(value, bool):
        return value
    raise _mismatch("a truth value", value)


def _text(value: JSON) -> str:
    if isinstance(value, str):
        return value
    raise _mismatch("a text", value)


def _integer(value: JSON) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, (float, Decimal)) and -(1 << 128) < value < 1 << 128:
        if value == int(value):
            return int(value)
    raise _mismatch("a whole number", value)


def _number(value: JSON) -> float:
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        # A larger number has no nearest `float`.
        limit = (1 << 1024) - (1 << 970)
        if -limit < value < limit:
            return float(value)
    raise _mismatch("a number", value)


def _decimal(value: JSON) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(str(value))
    raise _mismatch("a number", value)


def _parsed(wanted: str, parse: Callable[[str], V]) -> Callable[[JSON], V]:
    """Returns the decoder of a type whose values are texts in JSON."""

    def decode(value: JSON) -> V:
        try:
            return parse(_text(value))
        except ValueError:
            raise _mismatch(wanted, value) from None

    return decode


_date = _parsed("a date", datetime.fromisoformat)
_uuid = _parsed("a UUID", UUID)
_bytes = _parsed("Base64", lambda text: base64.b64decode(text, validate=True))


def _from_date(value: datetime) -> str:
    utc = value.astimezone(timezone.utc)
    unit = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return utc.isoformat(timespec=unit).replace("+00:00", "Z")


def _from_bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def _object(value: JSON) -> Object:
    if isinstance(value, dict):
        return value
    raise _mismatch("an object", value)


def _array(decode: Callable[[JSON], V]) -> Callable[[JSON], list[V]]:
    def elements(value: JSON) -> list[V]:
        if isinstance(value, list):
            return [decode(item) for item in value]
        raise _mismatch("an array", value)

    return elements


def _dictionary(decode: Callable[[JSON], V]) -> Callable[[JSON], dict[str, V]]:
    def members(value: JSON) -> dict[str, V]:
        return {key: decode(item) for key, item in _object(value).items()}

    return members


def _optional(decode: Callable[[JSON], V]) -> Callable[[JSON], V | None]:
    def value_or_none(value: JSON) -> V | None:
        return None if value is None else decode(value)

    return value_or_none


def _given(values: dict[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in values.items() if value is not None}


def _segment(name: str, value: JSON) -> str:
    """Returns the value of a parameter as a segment of a URL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    if not text:
        # The server would skip the empty segment, and could then call another route.
        rule = "must have at least one character in each segment of the URL"
        raise _failure("invalidParameter", f"the parameter {name} {rule}")
    return quote(text, safe="")


def _path(name: str, value: JSON) -> str:
    return "/".join(_segment(name, part) for part in str(value).split("/"))


def _dumps(value: JSON) -> str:
    if not _HAS_DECIMALS:
        # A publication or an answer may have a Decimal nevertheless.
        with suppress(TypeError):
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not a number of JSON")
        return str(value)
    if isinstance(value, Mapping):
        members = (f"{_dumps(key)}:{_dumps(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_dumps(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _loads(text: bytes) -> JSON:
    try:
        return cast("JSON", _JSON.decode(text.decode()))
    except ArithmeticError:
        reason = "the JSON has a number that `Decimal` cannot represent"
        raise ValueError(reason) from None


def _whole(digits: str) -> float:
    """Returns a whole number, with the sign of -0, which `int` would lose."""
    return -0.0 if digits == "-0" else int(digits)


def _failure(code: str, message: str, data: Object | None = None) -> WaybillError:
    data = data or {}
    declared, reference = data.get("error"), data.get("reference")
    if isinstance(declared, dict):
        name, status = str(declared.get("type")), declared.get("status")
        return _DECLARED.get(name, DeclaredError)(
            name,
            str(declared.get("code")),
            message,
            status=status if isinstance(status, int) else 500,
            value=_plain(declared.get("value")),
        )
    suggestions = data.get("suggestions")
    return _ERRORS.get(code, WaybillError)(
        code,
        message,
        suggestions=map(str, suggestions) if isinstance(suggestions, list) else (),
        reference=reference if isinstance(reference, str) else None,
    )


# Transports.


@dataclass(frozen=True)
class _Request:
    url: str
    values: dict[str, JSON]
    options: Options | None


@dataclass
class _Reply:
    value: JSON


# The seconds in which a connection is opened and the client is authenticated. A client
# that is closed has the same time to write what it has accepted.
_OPENING: float = 5
# The seconds that a stream of events may be silent, if the server sends no interval.
_SILENCE: float = 45
# The bytes of the longest line or body; a server sends replies of up to 32 MiB.
_LINE_LIMIT = 1 << 26
# The number of lines before the body of a response.
_HEADER_LIMIT = 128
# The number of unread messages of a subscription, of which the oldest are dropped.
_UNREAD_LIMIT = 1024
# The name of the headers and other data that are sent beside the values.
_RESERVED = "$waybill"
_STREAM = "text/event-stream"
# The codes of failures after which a subscription that has begun connects again.
_PASSING = ("unreachable", "shutDown", "deadlineExceeded", "mailboxFull")
# The codes of failures without a name, by the numbers of JSON-RPC and of HTTP.
_CODES = {
    "-32600": "invalidURL",
    "-32601": "noRoute",
    "-32602": "invalidParameter",
    "429": "mailboxFull",
    "502": "unreachable",
    "503": "unreachable",
    "504": "unreachable",
}


class _Lines:
    """Splits bytes that arrive in parts into lines."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def split(self, part: bytes) -> list[bytes]:
        """Returns the lines that a part completes."""
        first, *others = part.split(b"\n")
        self._rest += first
        if len(self._rest) > _LINE_LIMIT:
            raise _too_long()
        if not others:
            return []
        lines = [bytes(self._rest), *others[:-1]]
        self._rest = bytearray(others[-1])
        return lines


def _too_long() -> ConnectionError:
    return ConnectionError(f"the server has sent more than {_LINE_LIMIT} bytes at once")


def _ended() -> ConnectionError:
    return ConnectionError("the server has closed the connection")


def _closed() -> WaybillError:
    return _failure("unreachable", "the client is closed")


def _time_left(deadline: float) -> int:
    """Returns the milliseconds until a deadline, which may be infinite."""
    rest = deadline - asyncio.get_running_loop().time()
    return round(min(max(0, rest), 1e9) * 1000)


async def _by(deadline: float | None, part: Awaitable[V]) -> V:
    """Awaits a part of a call until the deadline of the call."""
    if deadline is None:
        return await part
    try:
        # The extra time lets the server's own error arrive.
        async with asyncio.timeout_at(deadline + 0.25):
            return await part
    except TimeoutError:
        message = "the server did not answer in time"
        raise _failure("deadlineExceeded", message) from None


def _has_failed(future: asyncio.Future[V]) -> bool:
    """Returns whether a future has failed, whose error its callers have received."""
    return future.cancelled() or future.exception() is not None


class _Feed(asyncio.Queue["Object | None"]):
    """The unread messages of a subscription over a socket, and None at the end."""

    has_gap = False

    def add(self, params: Object) -> None:
        if self.qsize() >= _UNREAD_LIMIT:
            self.get_nowait()
            self.has_gap = True
        self.put_nowait(params)


@dataclass
class _Pending:
    """A request without a response."""

    reply: asyncio.Future[JSON]
    steps: asyncio.Queue[Step[JSON, JSON] | None] | None
    """The progress replies that have not been read; None if nobody reads them."""
    feed: _Feed | None
    """The receiver of the messages if the request is a subscription."""


class _Subscription:
    """A subscription, which continues on one connection after another."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.last_event = ""
        """The ID of the last event that has arrived over HTTP."""
        self.is_after_gap = False
        """Whether messages before the next message may be missing."""
        self.has_begun = False
        self._longest_pause = 0.05
        self._start = inf

    def begin(self, *, is_resumed: bool) -> None:
        """Notes that a connection has begun, which repeats what was missed if resumed."""
        if self.has_begun and not is_resumed:
            self.is_after_gap = True
        self.has_begun = True
        self._start = asyncio.get_running_loop().time()

    def publication(self, params: Object, beside: Object) -> Publication:
        """Returns a message that has arrived."""
        headers = _object(beside.get("headers") or {})
        message = Publication(
            url=str(params.get("url")),
            parameters=_object(_plain(params.get("parameters") or {})),
            payload=_plain(beside.get("payload")),
            headers={name: str(text) for name, text in headers.items()},
            is_after_gap=self.is_after_gap,
        )
        self.is_after_gap = False
        self._longest_pause = 0.05
        return message

    async def pause(self) -> None:
        """Waits before the next connection, and longer each time.

        A short connection without a message counts as a failure: otherwise a server
        that closes each connection at once would be contacted without a pause.
        """
        if asyncio.get_running_loop().time() - self._start > 2:
            self._longest_pause = 0.05
        self._start = inf
        await asyncio.sleep(self._longest_pause * uniform(0.5, 1))
        self._longest_pause = min(self._longest_pause * 2, 2)


class _Connection(asyncio.Protocol):
    """A connection that sends and receives lines of JSON-RPC."""

    def __init__(self, request_size: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.is_open = True
        self.has_room = asyncio.Event()
        """Whether the unwritten bytes are few enough for another message."""
        self.pending: dict[int, _Pending] = {}
        self.feeds: dict[int, _Feed] = {}
        """The receivers of messages, by the numbers of their subscriptions."""
        self._request_size = request_size
        self._transport: asyncio.Transport | None = None
        self._lost = self.loop.create_future()
        self._problem = "the connection is lost"
        self._lines = _Lines()
        self._last = 0
        self._has_notified = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        channel = transport.get_extra_info("socket")
        # A subscription writes nothing, so only the system can find a lost server.
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if sys.platform == "linux" and channel.family != socket.AF_UNIX:
            channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
        self.resume_writing()

    def pause_writing(self) -> None:
        self.has_room.clear()

    def resume_writing(self) -> None:
        self.has_room.set()

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.split(data):
                self._take(_object(_loads(line)))
        except (ConnectionError, ValueError, RecursionError) as error:
            self._problem = f"the server has sent a malformed line: {error}"
            self.abort()

    def eof_received(self) -> None:
        # Otherwise, the connection would be open until the server reads again.
        self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._transport = None
        self._lost.set_result(None)
        self.has_room.set()
        for pending in self.pending.values():
            if not pending.reply.done():
                pending.reply.set_exception(_failure("unreachable", self._problem))
        self.pending.clear()
        for feed in self.feeds.values():
            feed.put_nowait(None)

    def begin(
        self,
        method: str,
        params: JSON,
        *,
        steps: asyncio.Queue[Step[JSON, JSON] | None] | None = None,
        feed: _Feed | None = None,
    ) -> tuple[int, asyncio.Future[JSON]]:
        """Sends a request, and returns its number and its future result."""
        number = self._last = self._last + 1
        self.write(method, params, number)
        reply: asyncio.Future[JSON] = self.loop.create_future()
        self.pending[number] = _Pending(reply, steps, feed)
        return number, reply

    async def ask(self, method: str, params: JSON) -> JSON:
        """Sends a request, and returns its result. A cancellation ends the request."""
        number, reply = self.begin(method, params)
        try:
            return await reply
        finally:
            self.cancel(number)

    def cancel(self, number: int) -> None:
        """Cancels a request that has no response yet."""
        if self.pending.pop(number, None) is not None and self.is_open:
            self.write("$/cancelRequest", {"id": number})

    def write(self, method: str, params: JSON, number: int | None = None) -> None:
        if not self.is_open or self._transport is None:
            raise _failure("unreachable", self._problem)
        frame: dict[str, JSON] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is None:
            self._has_notified = True
        else:
            frame["id"] = number
        line = _dumps(frame).encode()
        if len(line) > self._request_size:
            # The server would close the connection, which all calls share.
            excess = f"{len(line)} bytes, and the limit is {self._request_size}"
            remedy = "raise request_size of the client and frameSize of the server"
            raise _failure("notTransferable", f"the message has {excess}; {remedy}")
        self._transport.write(line + b"\n")

    async def close(self) -> None:
        """Ends the connection when what has been accepted is written, within a time."""
        if self.loop is not asyncio.get_running_loop():
            return self.drop()
        self.is_open = False
        if self._transport is None:
            return
        self._transport.close()
        try:
            await asyncio.wait({self._lost}, timeout=_OPENING)
        finally:
            self.abort()

    def abort(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def drop(self) -> None:
        """Ends the connection of another event loop, which may be closed."""
        self.is_open = False
        transport, self._transport = self._transport, None
        if transport is not None:
            # A transport cannot be closed without its loop, so only its socket ends.
            with suppress(OSError):
                transport.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def unsubscribe(self, number: int) -> None:
        if self.feeds.pop(number, None) is not None and self.is_open:
            self.write("$/unsubscribe", {"subscription": number})

    def _take(self, frame: Object) -> None:
        method = frame.get("method")
        if method is None:
            return self._finish(frame)
        params = _object(frame.get("params") or {})
        if method == "$/progress":
            self._progress(_integer(params.get("id")), params.get("value"))
        elif method == "$/message":
            feed = self.feeds.get(_integer(params.get("subscription")))
            if feed is not None:
                feed.add(params)
        elif method == "$/unsubscribe":
            feed = self.feeds.pop(_integer(params.get("subscription")), None)
            if feed is not None:
                feed.put_nowait(None)

    def _finish(self, frame: Object) -> None:
        number = frame.get("id")
        if number is None and "error" in frame:
            # The server has rejected a notification, which needs no answer.
            if self._has_notified:
                return
            # The server has not read the ID of a request, which would never end.
            self._problem = str(_object(frame["error"]).get("message"))
            return self.abort()
        pending = self.pending.get(number) if isinstance(number, int) else None
        if pending is None:
            return
        reply, result = pending.reply, frame.get("result")
        if "error" in frame:
            error = _object(frame["error"])
            data = _object(error.get("data") or {})
            known = _CODES.get(str(error.get("code")), "handlerFailed")
            code, message = data.get("code") or known, str(error.get("message"))
            if not reply.done():
                reply.set_exception(_failure(str(code), message, data))
        else:
            if pending.feed is not None:
                # The next bytes may already contain messages of the subscription.
                self.feeds[_integer(result)] = pending.feed
            if not reply.done():
                reply.set_result(result)
            elif pending.feed is not None:
                self.unsubscribe(_integer(result))
        self.pending.pop(_integer(number))

    def _progress(self, number: int, value: JSON) -> None:
        def answer(value: JSON) -> None:
            if self.is_open:
                self.write("$/answer", {"id": number, "value": value})

        pending = self.pending.get(number)
        if pending is None or pending.steps is None:
            answer(None)
        elif pending.steps.qsize() >= 64:
            # The tasks of a handler wait for the answers.
            raise ValueError("progress replies come too fast")
        else:
            pending.steps.put_nowait(Step(value, answer))


class _SocketTransport:
    """JSON-RPC over a Unix socket or TCP, on one connection that is opened again."""

    def __init__(self, address: str | tuple[str, int], client: _Client) -> None:
        self._address = address
        self._client = client
        self._connection: _Connection | None = None
        self._opening: asyncio.Task[_Connection] | None = None

    async def _open(self) -> _Connection:
        loop = asyncio.get_running_loop()
        connection, opening = self._connection, self._opening
        if connection is not None and connection.is_open:
            if connection.loop is loop:
                return connection
            connection.drop()
        if self._client._is_closed:
            raise _closed()
        if opening is None or opening.done() or opening.get_loop() is not loop:
            # Callers share the task, so that the end of one call does not end it.
            opening = self._opening = asyncio.create_task(self._connect())
            opening.add_done_callback(_has_failed)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            if opening.cancelled():
                raise _closed() from None
            raise

    async def _connect(self) -> _Connection:
        connection = _Connection(self._client._request_size)
        loop, address = asyncio.get_running_loop(), self._address
        try:
            async with asyncio.timeout(_OPENING):
                if isinstance(address, str):
                    await loop.create_unix_connection(lambda: connection, address)
                else:
                    await loop.create_connection(lambda: connection, *address)
                token = self._client.token
                if token is not None:
                    await connection.ask("$/authenticate", {"token": token})
        except OSError as error:
            connection.abort()
            reason = f"{address}: {str(error) or 'the server is silent'}"
            raise _failure("unreachable", reason) from None
        except BaseException:
            connection.abort()
            raise
        self._connection = connection
        return connection

    def _message(
        self, request: _Request, deadline: float | None, *, has_steps: bool = False
    ) -> tuple[str, JSON]:
        """Returns the method and the parameters of a request that is sent now."""
        if _RESERVED in request.values:
            # The server would read the value as the data that is sent beside the values.
            message = f"the parameter {_RESERVED} is reserved, and cannot be sent"
            raise _failure("notTransferable", message)
        options = self._client._options(request.options)
        url, beside = request.url, dict[str, JSON]()
        if options.return_url is not None:
            url = f"{url}#{options.return_url}"
        if options.headers:
            beside["headers"] = options.headers
        if deadline is not None:
            beside["timeLeft"] = _time_left(deadline)
        if has_steps:
            beside |= {"progress": True, "answers": True}
        return url, {**request.values, _RESERVED: beside} if beside else request.values

    async def call(self, request: _Request, deadline: float | None) -> JSON:
        connection = await self._open()
        return await connection.ask(*self._message(request, deadline))

    async def ask(self, method: str, params: JSON) -> JSON:
        return await (await self._open()).ask(method, params)

    async def send(self, request: _Request, deadline: float | None) -> None:
        connection = await self._open()
        # Another sender may use the room before this task resumes.
        while not connection.has_room.is_set():
            await connection.has_room.wait()
        connection.write(*self._message(request, deadline))

    async def stream(
        self, request: _Request, deadline: float | None
    ) -> AsyncGenerator[_Reply | Step[JSON, JSON], None]:
        connection = await self._open()
        steps: asyncio.Queue[Step[JSON, JSON] | None] = asyncio.Queue()
        message = self._message(request, deadline, has_steps=True)
        number, reply = connection.begin(*message, steps=steps)
        reply.add_done_callback(_has_failed)
        reply.add_done_callback(lambda _: steps.put_nowait(None))
        try:
            while (step := await steps.get()) is not None:
                yield step
            yield _Reply(reply.result())
        finally:
            connection.cancel(number)

    async def messages(
        self, subscription: _Subscription
    ) -> AsyncGenerator[Publication, None]:
        """Subscribes on one connection, and iterates over the messages until it ends."""
        connection = await self._open()
        feed, params = _Feed(), {"pattern": subscription.pattern}
        # If this task stops waiting for the number, the connection unsubscribes.
        number = _integer(await connection.begin("$/subscribe", params, feed=feed)[1])
        subscription.begin(is_resumed=False)
        try:
            while (message := await feed.get()) is not None:
                if feed.has_gap or message.get("missed"):
                    # The client or the server has dropped messages before this message.
                    subscription.is_after_gap = True
                    feed.has_gap = False
                if "error" in message:
                    # The server cannot send this message, which is missing before the next.
                    subscription.is_after_gap = True
                else:
                    beside = _object(message.get(_RESERVED) or {})
                    yield subscription.publication(message, beside)
        except ValueError as error:
            reason = f"the server has sent a malformed message: {error}"
            raise _failure("unreachable", reason) from None
        finally:
            connection.unsubscribe(number)

    async def close(self) -> None:
        opening = self._opening
        if opening is not None and not opening.get_loop().is_closed():
            opening.cancel()
        if self._connection is not None:
            await self._connection.close()


class _Response:
    """A response of HTTP, whose body is read in parts."""

    def __init__(self, reader: asyncio.StreamReader, silence: float | None) -> None:
        self._reader = reader
        self._silence = silence
        """The seconds without a byte after which the connection counts as lost."""
        self.status = 0
        self.headers: dict[str, str] = {}

    async def read_head(self) -> None:
        """Reads the head, which may follow a response such as 103 (Early Hints)."""
        for _ in range(_HEADER_LIMIT):
            line = (await self._line()).decode("latin-1").strip()
            name, _, text = line.partition(":")
            if self.status < 200 and line.startswith("HTTP/"):
                self.status, self.headers = int(line.partition(" ")[2][:3]), {}
            elif line:
                self.headers[name.lower()] = text.strip()
            elif self.status >= 200:
                return
        raise ConnectionError(f"the response has more than {_HEADER_LIMIT} headers")

    def check_stream(self) -> None:
        kind = self.headers.get("content-type", "")
        if self.status != 200 or kind.split(";")[0].strip().lower() != _STREAM:
            raise ConnectionError(f"the response {self.status} {kind!r} is no stream")

    async def _line(self) -> bytes:
        async with asyncio.timeout(self._silence):
            line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise _ended()
        return line

    async def _bytes(self, count: float) -> AsyncIterator[bytes]:
        while count > 0:
            async with asyncio.timeout(self._silence):
                part = await self._reader.read(int(min(count, 1 << 16)))
            if not part and count < inf:
                raise _ended()
            if not part:
                return
            count -= len(part)
            yield part

    async def parts(self) -> AsyncIterator[bytes]:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await self._line()).split(b";")[0], 16):
                async for part in self._bytes(size):
                    yield part
                await self._line()
        elif self.status != 204:
            length = float(self.headers.get("content-length", inf))
            async for part in self._bytes(length):
                yield part

    async def body(self) -> bytes:
        body = bytearray()
        async for part in self.parts():
            body += part
            if len(body) > _LINE_LIMIT:
                raise _too_long()
        has_size = self.headers.keys() & {"content-length", "transfer-encoding"}
        if not body and not has_size and self.status != 204:
            raise _ended()
        return bytes(body)

    async def events(self) -> AsyncIterator[tuple[str, str, bytes]]:
        """Iterates over the names, the IDs and the data of server-sent events.

        A stream in which three heartbeats are missing has ended.
        """
        heartbeat = self.headers.get("waybill-heartbeat", "")
        is_number = heartbeat.isascii() and heartbeat.isdigit()
        self._silence = 3 * int(heartbeat) / 1000 if is_number else _SILENCE
        lines, data, size = _Lines(), list[bytes](), 0
        name, number = "message", ""
        async for part in self.parts():
            for line in (line.rstrip(b"\r") for line in lines.split(part)):
                key, _, value = line.partition(b":")
                value = value.removeprefix(b" ")
                if not line and data:
                    yield name, number, b"\n".join(data)
                    name, data, size = "message", [], 0
                elif key == b"event":
                    name = value.decode()
                elif key == b"id":
                    number = value.decode()
                elif key == b"data":
                    data.append(value)
                    # An empty line of data takes memory as well.
                    size += len(line)
                    if size > _LINE_LIMIT:
                        raise _too_long()


class _WebTransport:
    """HTTP with server-sent events."""

    def __init__(self, address: SplitResult, client: _Client) -> None:
        self._address = address
        self._client = client
        self._writers: set[asyncio.StreamWriter] = set()

    def _head(self, start: str, headers: Mapping[str, str]) -> list[str]:
        """Returns the lines of a request before its body."""
        fields = {"Host": self._address.netloc, "Connection": "close"}
        if self._client.token is not None:
            fields["Authorization"] = f"Bearer {self._client.token}"
        lines = [start]
        for name, text in {**fields, **headers}.items():
            if not {"\r", "\n", "\0"}.isdisjoint(name + text):
                raise ValueError(f"the header {name!r} has several lines")
            lines.append(f"{name}: {text}")
        return lines

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        body: bytes = b"",
        deadline: float | None = None,
        silence: float | None = None,
    ) -> AsyncIterator[_Response]:
        """Sends a request, and ends its connection when its response has been read."""
        address, is_secure = self._address, self._address.scheme == "https"
        port = address.port or (443 if is_secure else 80)
        path = address.path.rstrip("/") + path
        head = self._head(f"{method} {path} HTTP/1.1", headers)
        if self._client._is_closed:
            raise _closed()
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(_OPENING):
                reader, writer = await asyncio.open_connection(
                    address.hostname, port, ssl=is_secure or None
                )
            self._writers.add(writer)
            if self._client._is_closed:
                raise _closed()
            if deadline is not None:
                head.append(f"Waybill-Timeout: {_time_left(deadline)}")
            writer.write("\r\n".join([*head, "", ""]).encode() + body)
            response = _Response(reader, silence)
            await response.read_head()
            if not 200 <= response.status < 300:
                raise self._error(await response.body(), response.status)
            if headers.get("Accept") == _STREAM:
                response.check_stream()
            yield response
        except (OSError, ValueError, RecursionError) as error:
            reason = f"{address.netloc}: {str(error) or 'the server is silent'}"
            raise _failure("unreachable", reason) from None
        finally:
            if writer is not None:
                self._writers.discard(writer)
                # `close` of the writer would wait until the server has read everything.
                writer.transport.abort()

    @asynccontextmanager
    async def _post(
        self, request: _Request, deadline: float | None, accept: str
    ) -> AsyncIterator[_Response]:
        if any(part in (".", "..") for part in request.url.split("/")):
            raise _failure("invalidURL", "HTTP has no segments `.` and `..`")
        options = self._client._options(request.options)
        body = _dumps(request.values).encode()
        headers = {"Content-Type": "application/json", "Accept": accept}
        # The server sends the head of a stream at once.
        silence = _SILENCE if accept == _STREAM else None
        headers |= {"Content-Length": str(len(body)), **options.headers}
        if options.return_url is not None:
            headers["Waybill-Return"] = options.return_url
        path = "/" + request.url.replace("://", "/", 1)
        opening = self._open(
            "POST", path, headers, body=body, deadline=deadline, silence=silence
        )
        async with opening as response:
            yield response

    def _error(self, body: bytes, status: int = 200) -> WaybillError:
        problem: Object = {}
        with suppress(ValueError):
            problem = _object(_loads(body))
        # A proxy whose server cannot be reached sends a status without a code.
        code = problem.get("code") or _CODES.get(str(status), "refused")
        message = problem.get("detail") or f"HTTP status {status}"
        data = {**problem, "reference": problem.get("id")}
        return _failure(str(code), str(message), data)

    async def call(self, request: _Request, deadline: float | None) -> JSON:
        async with self._post(request, deadline, "application/json") as response:
            body = await response.body()
            return _loads(body) if body else None

    async def send(self, request: _Request, deadline: float | None) -> None:
        raise _failure("refused", "HTTP has no messages without a reply")

    async def ask(self, method: str, params: JSON) -> JSON:
        if method != "$/fingerprint":
            raise _failure("refused", f"HTTP has no method {method}")
        headers = self._client._options(None).headers
        async with self._open("GET", "/fingerprint", headers) as response:
            return _loads(await response.body())

    async def stream(
        self, request: _Request, deadline: float | None
    ) -> AsyncGenerator[_Reply | Step[JSON, JSON], None]:
        async with self._post(request, deadline, _STREAM) as response:
            async for name, _, data in response.events():
                if name == "progress":
                    yield Step(_loads(data), lambda value: None)
                elif name == "reply":
                    yield _Reply(_loads(data))
                elif name == "failure":
                    raise self._error(data)
        raise _failure("unreachable", "the stream ended without a reply")

    async def messages(
        self, subscription: _Subscription
    ) -> AsyncGenerator[Publication, None]:
        """Subscribes on one connection, and iterates over the messages until it ends."""
        path = f"/subscribe?pattern={quote(subscription.pattern, safe='')}"
        headers = {"Accept": _STREAM, **self._client._options(None).headers}
        if subscription.last_event:
            headers["Last-Event-ID"] = subscription.last_event
        async with self._open("GET", path, headers, silence=_SILENCE) as response:
            # Messages before the first event cannot be requested again.
            subscription.begin(is_resumed=bool(subscription.last_event))
            async for name, number, data in response.events():
                subscription.last_event = number or subscription.last_event
                if name == "gap":
                    subscription.is_after_gap = True
                elif name == "message":
                    try:
                        params = _object(_loads(data))
                        message = subscription.publication(params, params)
                    except (ValueError, RecursionError):
                        # This message is missing before the next one.
                        subscription.is_after_gap = True
                        raise
                    yield message
                elif name == "end":
                    return

    async def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


class _Client:
    """The connection of a client, which its namespaces share."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        request_size: int = 1 << 20,
    ) -> None:
        self.token = token
        self._request_size = request_size
        self._defaults = Options(timeout=timeout, headers=dict(headers or {}))
        self._is_closed = False
        self._transport: _SocketTransport | _WebTransport
        if address.startswith(("http://", "https://")):
            url = urlsplit(address)
            if "@" in url.netloc:
                message = "the address has a user name: use `token` or a header instead"
                raise _failure("invalidURL", message)
            self._transport = _WebTransport(url, self)
        elif address.startswith("tcp:"):
            host, _, port = address.removeprefix("tcp:").rpartition(":")
            self._transport = _SocketTransport((host.strip("[]"), int(port)), self)
        else:
            self._transport = _SocketTransport(address.removeprefix("unix:"), self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the client. Calls in flight and later calls fail, and subscriptions end."""
        self._is_closed = True
        await self._transport.close()

    async def subscribe(self, pattern: str) -> AsyncGenerator[Publication, None]:
        """Iterates over the messages that are published to a pattern.

        The subscription connects again after the connection is lost. Over HTTP, the
        server then repeats the messages that were missed.
        """
        subscription = _Subscription(pattern)
        while True:
            opened = self._transport.messages(subscription)
            try:
                async with aclosing(opened) as messages:
                    async for message in messages:
                        yield message
            except WaybillError as error:
                is_passing = subscription.has_begun and error.code in _PASSING
                if not self._is_closed and not is_passing:
                    raise
            if self._is_closed:
                return
            await subscription.pause()

    async def publish(self, url: str, /, **parameters: object) -> int:
        """Publishes a message, and returns the number of subscribers that accept it."""
        params = {"url": url, "parameters": to_json(parameters)}
        return _integer(await self._ask("$/publish", params))

    async def is_current(self) -> bool:
        """Returns whether the server has exactly the routes of this client.

        A client of other routes still works unless `waybill diff` reports a change
        that breaks callers.
        """
        return await self._ask("$/fingerprint", {}) == _FINGERPRINT

    async def _ask(self, method: str, params: JSON) -> JSON:
        return await _by(self._deadline(None), self._transport.ask(method, params))

    async def _send(self, request: _Request) -> None:
        deadline = self._deadline(request.options)
        await _by(deadline, self._transport.send(request, deadline))

    def _options(self, options: Options | None) -> Options:
        """Returns the options of a call, with the client's own options as defaults."""
        defaults = self._defaults
        if options is None:
            return defaults
        timeout = defaults.timeout if options.timeout is None else options.timeout
        headers = {**defaults.headers, **options.headers}
        return Options(timeout, headers, options.return_url)

    def _deadline(self, options: Options | None) -> float | None:
        """Returns the time of the loop until which a call that begins now may take."""
        timeout = self._options(options).timeout
        return None if timeout is None else asyncio.get_running_loop().time() + timeout
