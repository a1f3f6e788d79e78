import asyncio
import sys

from cafe import CafeClient, RefusedError


async def main() -> None:
    async with CafeClient(sys.argv[1]) as cafe:
        print("tea:", await cafe.menu.price(drink="tea"))
        try:
            await cafe.menu.price(drink="milk")
        except RefusedError as error:
            print(error)


asyncio.run(main())
