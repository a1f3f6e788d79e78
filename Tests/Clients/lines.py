"""Tests jsonrpcclient over a Unix socket, with a message on each line: requests, a notification, a batch and errors."""
import json, socket, sys

from jsonrpcclient import Error, Ok, notification, parse, request

connection = socket.socket(socket.AF_UNIX)
connection.settimeout(10)
connection.connect(sys.argv[1])
lines = connection.makefile("rw", encoding="utf-8")


def ask(message):
    lines.write(json.dumps(message) + "\n")
    lines.flush()
    return parse(json.loads(lines.readline()))


product = ask(request("app://catalog/product", params={"id": "copper-kettle"}))
assert isinstance(product, Ok) and product.result["name"].startswith("Copper Kettle"), product

# A notification has no response, so the next line is the response to the next request.
lines.write(json.dumps(notification("app://accounts/sign-out")) + "\n")
ping = ask(request("$/ping"))
assert isinstance(ping, Ok) and ping.result == "pong", ping

missing = ask(request("app://catalog/product"))
assert isinstance(missing, Error) and missing.code == -32602, missing
hidden = ask(request("app://cart/take"))
assert isinstance(hidden, Error) and hidden.code == -32601, hidden

answers = list(ask([request("$/ping", id="a"), notification("$/ping"), request("app://nowhere", id="b")]))
assert [type(answer) for answer in answers] == [Ok, Error] and answers[0].id == "a", answers
print("jsonrpcclient: requests, a notification, a batch and errors")
