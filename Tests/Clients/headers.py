"""Tests python-lsp-jsonrpc, with the headers of language servers: concurrent requests, an error, and progress."""
import socket, sys, threading

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
reader = JsonRpcStreamReader(connection.makefile("rb"))
writer = JsonRpcStreamWriter(connection.makefile("wb"))
seen = []


def progress(params):
    seen.append(params["value"])
    endpoint.notify("$/answer", {"id": params["id"], "value": "confirm"})


endpoint = Endpoint({"$/progress": progress}, writer.write)
threading.Thread(target=reader.listen, args=(endpoint.consume,), daemon=True).start()


def call(url, params=None):
    return endpoint.request(url, params or {})


# These requests run concurrently, and each response has the ID of its request.
calls = [call("app://catalog/product", {"id": name}) for name in ["copper-kettle", "walnut-chopping-board"] * 20]
names = [one.result(timeout=10)["id"] for one in calls]
assert names == ["copper-kettle", "walnut-chopping-board"] * 20, names

try:
    call("app://catalog/product").result(timeout=10)
    raise SystemExit("a call without its parameter succeeds")
except JsonRpcException as error:
    assert error.code == -32602, error

session = call("app://accounts/sign-in", {"name": "Lili"}).result(timeout=10)["token"]
call("app://cart/add", {"product": "copper-kettle", "session": session}).result(timeout=10)
order = call("app://orders/place", {"session": session}).result(timeout=10)
beside = {"progress": True, "answers": True}
receipt = call("app://payments/pay", {"order": order["id"], "session": session, "$waybill": beside})
assert receipt.result(timeout=10)["order"] == order["id"], receipt.result()
assert len(seen) == 1, seen
print("python-lsp-jsonrpc: requests side by side, an error, progress and its answer")
