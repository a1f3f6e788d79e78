"""A generated client of an older version against a newer server: next_version.py ADDRESS."""
import asyncio
import sys

from probe import Item, ProbeClient


async def main(address: str) -> None:
    async with ProbeClient(address, token="secret") as client:
        assert await client.items.find(id=7) == Item(id=7, name="kettle")
        assert await client.items.shelf(name="a b") == [Item(id=9, name="a b")]
        assert not await client.is_current()


asyncio.run(main(sys.argv[1]))
print("ok")
