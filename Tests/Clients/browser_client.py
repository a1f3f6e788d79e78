"""Tests a generated client in Chromium, over HTTP: browser_client.py PORT SHOP_JS.

The client runs in a script, and in the page that the shop serves.
"""
import base64, json, sys, tempfile, urllib.request

from chromium import Page

origin = f"http://localhost:{sys.argv[1]}"
module = base64.b64encode(open(sys.argv[2], "rb").read()).decode()

CALLS = """(async () => {
    const { ShopClient, WaybillError } = await import('data:text/javascript;base64,%s');
    const shop = window.shop = new ShopClient('%s/bus', { timeout: 10000 });
    const kettle = await shop.catalog.product({ id: 'copper-kettle' });
    const session = (await shop.accounts.signIn({ name: 'Lili' })).token;
    await shop.cart.add({ product: 'copper-kettle', quantity: 2n, session });
    const order = await shop.orders.place({ session });
    const steps = [];
    const payment = shop.payments.pay({ order: order.id, session });
    try {
        for await (const step of payment.progress()) steps.push(step.value);
    } catch (error) {
        steps.push(error instanceof WaybillError);
    }
    const receipt = await shop.payments.pay({ order: order.id, confirm: true, session });
    const missing = await shop.catalog.product({ id: 'nothing' }).then(() => '', (error) => error.code);
    const controller = new AbortController();
    controller.abort();
    const options = { signal: controller.signal };
    const stopped = await shop.catalog.categories(options).then(() => '', (error) => error.code);
    return [kettle.name, typeof kettle.price, steps.length, receipt.order === order.id, missing !== '', stopped];
})()"""

SUBSCRIBE = """(async () => {
    window.stars = [];
    (async () => {
        for await (const message of shop.subscribe('app://reviews/**')) stars.push(Number(message.parameters.stars));
    })();
    await new Promise((done) => setTimeout(done, 500));
    return true;
})()"""

SEEN = """new Promise((done) => {
    const look = () => (stars.length < 2 ? setTimeout(look, 5) : done(stars));
    look();
})"""


def publish(number):
    event = {"specversion": "1.0", "id": str(number), "source": "/python", "type": "shop.review", "data": {"stars": number}}
    headers = {"Content-Type": "application/cloudevents+json"}
    request = urllib.request.Request(f"{origin}/bus/app/reviews/kettle", json.dumps(event).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.status == 204, response.status


# Processes of the browser may still write to the folder while it is removed.
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    page = Page(folder)
    try:
        page.open(f"{origin}/search?text=kettle")
        found = page.run(CALLS % (module, origin))
        assert found == ["Copper Kettle 1.2 l", "bigint", 2, True, True, "cancelled"], found
        page.run(SUBSCRIBE)
        for number in (1, 2):
            publish(number)
        assert page.run(SEEN) == [1, 2]

        page.open(f"{origin}/")
        page.until("document.querySelector('#products li')?.textContent.startsWith('Copper Kettle')")
        page.run("document.querySelector('#products button').click()")
        page.until("/^Order \\d+: Copper Kettle.* is paid/.test(document.getElementById('order').textContent)")
        number = 2
        while not page.run("document.querySelector('#reviews li') !== null"):
            publish(number := number + 1)
        page.until("/^kettle: \\d+ stars$/.test(document.querySelector('#reviews li').textContent)")
    finally:
        page.close()
print("Chromium: a typed client of the shop")
