"""Sends long runs of combining marks in member names, IDs, values and URLs, to two sockets, one of which needs a token."""
import sys
from attack import *

marks = "\u0301\u0316" * 80_000
folder = sys.argv[1]
messages = [
    {"jsonrpc": "2.0", "id": 1, "a" + marks: 1, "method": "app://attack/honest"},
    {"jsonrpc": "2.0", "id": "a" + marks, "method": "app://attack/slow"},
    {"jsonrpc": "2.0", "id": 1, "method": "app://attack/echo", "params": {"text": marks}},
    {"jsonrpc": "2.0", "id": 1, "method": "app://attack/echo", "params": {"a" + marks: 1, "b" + marks: 1}},
    {"jsonrpc": "2.0", "id": 1, "method": "app://attack/a" + marks[:2000]},
    {"jsonrpc": "2.0", "id": 1, "method": "$/subscribe", "params": {"pattern": "app://attack/:a" + marks}},
    {"jsonrpc": "2.0", "id": 1, "method": "$/explain", "params": {"url": "app://attack/" + marks[:3000]}},
    {"jsonrpc": "2.0" + marks, "id": 1, "method": "app://attack/honest"},
]
lines = [line(message) for message in messages]
# These lines have the marks as escapes, which are ASCII.
lines += [json.dumps(message).encode() + b"\n" for message in messages[:4]]


def body():
    for message in lines:
        for name in ["rpc", "token"]:
            connection = connect(folder + "/" + name)
            try:
                answer = call(connection, message)
                assert b'"error"' in answer, (message[:80], answer[:200])
            except (BrokenPipeError, ConnectionResetError):
                assert name == "token" or len(message) > 1 << 20
            connection.close()


attack(folder + "/rpc", body)
