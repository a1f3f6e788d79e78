"""A customer of the shop, with the client that `waybill client --python` generates: customer.py SOCKET NAME."""
import asyncio
import sys

from shop import PaymentAnswer, ShopClient, WaybillError


async def main(address: str, name: str) -> None:
    async with ShopClient(address, timeout=10) as shop:
        kettle = await shop.catalog.product(id="copper-kettle")
        print(f"{kettle.name}: {kettle.price / 100:.2f} €")

        session = (await shop.accounts.sign_in(name=name)).token
        await shop.cart.add(product=kettle.id, quantity=2, session=session)
        order = await shop.orders.place(session=session)

        # The shop asks for a confirmation in a progress reply, and the answer confirms.
        payment = shop.payments.pay(order=order.id, session=session)
        async for request in payment.progress():
            request.answer(PaymentAnswer.CONFIRM)
        print(f"paid order {(await payment).order}")

        try:
            await shop.catalog.product(id="no-such-thing")
        except WaybillError as error:
            print(f"{error.code}: {error}")


asyncio.run(main(sys.argv[1], sys.argv[2]))
