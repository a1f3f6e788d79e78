"""A customer of the shop with a generated client: customer.py SOCKET."""
import asyncio
import sys

from shop import PaymentAnswer, Publication, ShopClient, WaybillError


async def main(address: str) -> None:
    async with ShopClient(address, timeout=10) as shop:
        assert await shop.is_current(), "the server has other routes than the client"
        kettle = await shop.catalog.product(id="copper-kettle")
        assert (kettle.name, kettle.price) == ("Copper Kettle 1.2 l", 5490), kettle
        token = (await shop.accounts.sign_in(name="Lili")).token
        await shop.cart.add(product="copper-kettle", quantity=2, session=token)
        order = await shop.orders.place(session=token)
        assert [line.quantity for line in order.lines] == [2], order

        # The shop asks for a confirmation in a progress reply, and the answer confirms.
        payment = shop.payments.pay(order=order.id, session=token)
        async for request in payment.progress():
            assert request.value.order == order.id, request.value
            request.answer(PaymentAnswer.CONFIRM)
        assert (await payment).order == order.id

        async def review() -> Publication:
            async for message in shop.subscribe("app://reviews/:product"):
                return message
            raise AssertionError("the subscription has ended")

        reading = asyncio.create_task(review())
        while not reading.done():
            await shop.publish("app://reviews/kettle", stars=5)
            await asyncio.sleep(0.02)
        assert (await reading).parameters == {"product": "kettle", "stars": 5}, await reading

        try:
            await shop.catalog.product(id="no-such-thing")
        except WaybillError as error:
            assert "no-such-thing" in str(error), error
        else:
            raise AssertionError("a product that the shop does not have is found")


asyncio.run(main(sys.argv[1]))
print("Python: a typed client of the shop")
