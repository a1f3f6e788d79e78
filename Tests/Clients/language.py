"""Tests pygls, a library for language servers: concurrent requests, an error, and progress with its answer."""
import asyncio, sys

from pygls.client import JsonRPCClient
from pygls.exceptions import JsonRpcException

# pygls connects only over TCP. This function opens a Unix socket instead, which has the same streams.
asyncio.open_connection = lambda path, _: asyncio.open_unix_connection(path)
client = JsonRPCClient()
seen = []


@client.feature("$/progress")
def progress(params):
    seen.append(params.value)
    client.protocol.notify("$/answer", {"id": params.id, "value": "confirm"})


async def call(url, params=None):
    return await asyncio.wait_for(client.protocol.send_request_async(url, params or {}), 10)


async def main():
    await client.start_tcp(sys.argv[1], 0)
    names = ["copper-kettle", "walnut-chopping-board"] * 20
    products = await asyncio.gather(*[call("app://catalog/product", {"id": name}) for name in names])
    assert [product.id for product in products] == names, products

    try:
        await call("app://catalog/product")
        raise SystemExit("a call without its parameter succeeds")
    except JsonRpcException as error:
        assert error.code == -32602, error

    session = (await call("app://accounts/sign-in", {"name": "Lili"})).token
    await call("app://cart/add", {"product": "copper-kettle", "session": session})
    order = (await call("app://orders/place", {"session": session})).id
    beside = {"progress": True, "answers": True}
    receipt = await call("app://payments/pay", {"order": order, "session": session, "$waybill": beside})
    assert receipt.order == order and len(seen) == 1, (receipt, seen)


asyncio.run(main())
print("pygls: requests side by side, an error, progress and its answer")
