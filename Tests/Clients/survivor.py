"""A customer of the shop that stays while the shop is killed and started again: survivor.py ADDRESS.

Each line of the input is a command. `call` calls a route, and prints the product's name or the code of the error. `calls`
repeats the call until it fails. Messages of a subscription are printed as they arrive.
"""
import asyncio
import sys

from shop import ShopClient, WaybillError


async def call(shop: ShopClient, repeats: bool) -> None:
    try:
        product = await shop.catalog.product(id="copper-kettle")
        while repeats:
            product = await shop.catalog.product(id="copper-kettle")
        print(f"reply {product.name}", flush=True)
    except WaybillError as error:
        print(f"error {error.code}", flush=True)


async def subscribe(shop: ShopClient) -> None:
    async for message in shop.subscribe("app://reviews/:product"):
        print("gap" if message.is_after_gap else "message", message.parameters["stars"], flush=True)
    print("the subscription has ended", flush=True)


async def main(address: str) -> None:
    shop = ShopClient(address, timeout=20)
    reading = asyncio.create_task(subscribe(shop))
    while command := (await asyncio.to_thread(sys.stdin.readline)).strip():
        await call(shop, command == "calls")
    reading.cancel()
    await shop.close()


asyncio.run(main(sys.argv[1]))
