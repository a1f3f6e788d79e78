"""Tests the console of the web shop in Chromium while clients use the shop.

    console.py WEB-SHOP [--picture FILE]

The tests check the views and their delay, the diagram of a payment, rejected requests, a secret in messages, accessibility
with axe-core, the memory of the page, actions, and the nodes of a cluster. `shop` is a generated client, whose folder is in
PYTHONPATH. WAYBILL_SOAK=1 keeps the page open for an hour. `--picture` only writes the picture of the README, with Pillow.
"""
import asyncio, importlib.util, io, json, os, pathlib, re, signal, socket, subprocess, sys, tempfile, threading, time
import urllib.error, urllib.request

from chromium import Page
from shop import Options, PaymentAnswer, ShopClient

VIEWS = ["routes", "live", "deadletters", "statistics", "nodes"]
SECRET = "s3cr3t-8f2b61"
# How many seconds the page stays open: 20, an hour for WAYBILL_SOAK=1, or the value of WAYBILL_SOAK.
SOAK = {"": 20, "1": 3600}.get(soak := os.environ.get("WAYBILL_SOAK", "")) or int(soak)


class Shop:
    """A process of the web shop with its console, whose output is in a file."""

    def __init__(self, program, folder, *options):
        self.socket = f"{folder}/rpc"
        self.log = pathlib.Path(f"{folder}/log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen([program, "--http", "0", "--socket", self.socket, "--console", *options],
                                            stdout=log, stderr=log)
        end = time.monotonic() + 20
        while not (found := re.search(r"(http://\S+?)/?\?token=(\S+)", self.log.read_text())):
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text()
            time.sleep(0.02)
        self.link = found[0]
        self.address = found[1] + "/"
        self.origin = re.match("http://[^/]+", self.address)[0]
        self.cookie = None
        self.sign_in()

    def sign_in(self):
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        try:
            urllib.request.build_opener(Stay).open(self.link, timeout=10)
        except urllib.error.HTTPError as answer:
            assert answer.status == 303, answer.status
            fields = answer.headers["Set-Cookie"]
            assert "HttpOnly" in fields and "SameSite=Strict" in fields, fields
            self.cookie = fields.split(";")[0]

    def ask(self, path, body=None, cookie=True, **headers):
        """Sends a request to the console, and returns the status and the body of the response."""
        if cookie:
            headers["Cookie"] = self.cookie
        if body is not None:
            headers |= {"Content-Type": "application/json", "Origin": self.origin}
            body = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.status, answer.read().decode()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(timeout=10) == 0, self.process.returncode


async def pay(shop):
    """Signs in, orders a kettle and pays for it. The payment has a progress reply, an answer to it, and a return URL."""
    async with ShopClient(shop.socket, timeout=20) as client:
        session = (await client.accounts.sign_in(name="Lili")).token
        await client.cart.add(product="copper-kettle", session=session)
        order = await client.orders.place(session=session)
        options = Options(return_url="app://activity/receipt")
        payment = client.payments.pay(order=order.id, session=session, options=options)
        async for request in payment.progress():
            request.answer(PaymentAnswer.CONFIRM)
        await payment


async def look_around(shop):
    async with ShopClient(shop.socket, timeout=20) as client:
        await client.catalog.categories()
        await client.catalog.search(text="kettle")
        await client.catalog.product(id="copper-kettle")


class Customer:
    """A JSON-RPC connection to the shop, for load, for wrong URLs, and for values in URLs."""

    def __init__(self, shop):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(20)
        while self.connection.connect_ex(shop.socket):
            time.sleep(0.02)
        self.lines = self.connection.makefile("rw", encoding="utf-8")
        self.last = 0

    def send(self, method, params=None):
        self.last += 1
        self.lines.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}}) + "\n")

    def take(self):
        return json.loads(self.lines.readline())


class Load(threading.Thread):
    """Calls the shop at a rate per second until `stop` is called."""

    def __init__(self, shop, rate):
        super().__init__(daemon=True)
        self.customer = Customer(shop)
        self.rate = rate
        self.sent = 0
        self.isEnding = threading.Event()
        self.start()

    def run(self):
        urls = ["app://catalog/categories", "app://catalog/product?id=copper-kettle", "app://catalog/search?text=tea",
                "app://cart/show?name=Lili", "app://orders/mine"]
        begin = time.monotonic()
        while not self.isEnding.wait(0.02):
            # At most 200 messages fit into the buffers of the connection, so neither side blocks in a write.
            due = min(int((time.monotonic() - begin) * self.rate) - self.sent, 200)
            for number in range(due):
                self.customer.send(urls[(self.sent + number) % len(urls)])
            self.customer.lines.flush()
            for _ in range(due):
                self.customer.take()
            self.sent += due

    def stop(self):
        self.isEnding.set()
        self.join()
        self.customer.connection.close()


def view(page, name):
    page.run(f"location.hash = '{name}'")
    name = name.split("/")[0]
    page.until(f"!document.getElementById('view-{name}').hidden")


def write(page, field, text):
    """Writes a text into a field, as a person does, and submits the form of the field."""
    page.run("""((name, text) => {
        const field = document.querySelector(`#${name}, [name=${name}]`);
        field.value = text;
        field.dispatchEvent(new Event("input"));
        field.form?.requestSubmit();
    })(%s, %s)""" % (json.dumps(field), json.dumps(text)))


def filter_by(page, pattern):
    """Filters the messages by a pattern, and waits until the stream of these messages is open.

    The page shows its state later than it changes, so the state of the old stream is removed first.
    """
    page.run("document.getElementById('state').textContent = ''")
    write(page, "pattern", pattern)
    page.until("document.getElementById('state').textContent == 'live'")


def open_row(page, text):
    """Waits for a message whose URL contains a text, and clicks on it."""
    page.until("""(text => {
        const row = [...document.querySelectorAll('#messages tbody tr')].find(row => row.item.url.includes(text));
        row?.click();
        return row !== undefined;
    })(%s)""" % json.dumps(text))


def enter(page, shop):
    page.open(shop.link, arrives=shop.address)
    page.until("document.getElementById('state').textContent == 'live'")


def signing_in(page, shop):
    """Opens the console with a wrong token, and then signs in with the form."""
    page.open(shop.address + "?token=wrong")
    for theme in "light", "dark":
        page.show(1280, 800, theme)
        findings(page, ("sign in", theme))
    page.show(1280, 800, "light")
    assert "not the token" in page.run("document.getElementById('wrong').innerText")
    page.run("document.getElementById('token').value = %s" % json.dumps(shop.link.split("token=")[1]))
    page.run("document.forms[0].requestSubmit()")
    page.until("document.getElementById('state')?.textContent == 'live'")


def every_view(page, shop, customer):
    """Checks the contents of each view, and that keys open the views."""
    names = json.loads(shop.ask("api/routes")[1])["routes"]
    page.until(f"document.querySelectorAll('#routes tbody tr').length == {len(names)}")
    table = page.run("document.querySelector('#routes tbody').textContent")
    assert all(route["pattern"] in table for route in names), table
    assert "CatalogModule" in table and "Product.ID" in table, table
    page.until("[...document.querySelectorAll('#routes tbody tr')].some(row => "
               "row.cells[0].textContent == 'app://catalog/categories' && row.cells[3].textContent != '0' "
               "&& row.cells[7].textContent.endsWith('s'))")
    page.press("/")
    for letter in "receipt":
        page.press(letter)
    page.until("document.querySelectorAll('#routes tbody tr').length < 5")
    page.press("Escape")
    write(page, "search", "")
    page.until(f"document.querySelectorAll('#routes tbody tr').length == {len(names)}")
    page.press("j")
    page.press("j")
    focused = page.until("document.activeElement.cells?.[0].textContent")
    page.press("Enter")
    opened = page.until("document.querySelector('#route:not([hidden]) h3')?.textContent")
    assert opened == focused, (opened, focused)
    page.press("Escape")
    page.until("document.getElementById('route').hidden")
    page.press("e")
    page.until("document.activeElement.name == 'url'")
    for letter in "app://catalog/prodct":
        page.press(letter)
    page.press("Enter")
    page.until("document.querySelector('#route pre')?.textContent.includes('app://catalog/product')")

    page.press("Escape")
    page.press("2")
    page.until("document.querySelectorAll('#messages tbody tr').length > 5")
    page.press("j")
    page.until("document.getElementById('live-count').textContent.startsWith('held')")
    page.press("Enter")
    page.until("document.querySelectorAll('#flow:not([hidden]) .event').length >= 2")
    page.press("Escape")
    page.until("document.getElementById('flow').hidden")
    write(page, "pattern", "app://catalog/**")
    page.until("(urls => urls.length > 5 && urls.every(url => url.startsWith('app://catalog/')))"
               "([...document.querySelectorAll('#messages tbody td.url')].map(cell => cell.textContent))")
    write(page, "pattern", "app://<nope:x>")
    page.until("document.getElementById('filter-problem').textContent.includes('nope')")
    filter_by(page, "")

    customer.send("app://nowhere/to/go")
    customer.lines.flush()
    customer.take()
    page.press("3")
    page.press("4")
    page.until("document.getElementById('books').textContent.startsWith('The counts add up')")
    page.until("document.querySelectorAll('#histogram rect').length > 0")
    page.until("document.querySelector('#graph-sent polyline').points.length > 1")
    page.until("document.querySelectorAll('#busiest tbody tr').length > 0")
    page.until("document.querySelectorAll('#loops tbody tr').length > 0")
    page.press("5")
    page.until("document.getElementById('nodes').textContent.includes('has not joined a cluster')")
    page.press("?")
    page.until("document.getElementById('keys').open")
    page.press("Escape")
    page.until("!document.getElementById('keys').open")
    print(f"console: five views of {len(names)} routes, and the keys")


# A script that records the time at which each message appears on the screen, by the number in its URL.
SCREEN = """(() => {
    window.seen = {};
    const look = () => {
        for (const cell of document.querySelectorAll('#messages tbody td.url')) {
            const number = /detail.(\\d+)/.exec(cell.textContent)?.[1];
            if (number) seen[number] ??= Date.now();
        }
        requestAnimationFrame(look);
    };
    look();
})()"""


def soon(page, customer):
    """Measures the time from a call until its message is on the screen."""
    view(page, "live")
    page.run("document.activeElement.blur()")
    filter_by(page, "app://orders/detail/:id")
    page.run(SCREEN)
    sent = {}
    for number in range(1000, 1100):
        sent[str(number)] = time.time() * 1000
        # This call fails, because it has no session. Its message appears like any other.
        customer.send(f"app://orders/detail/{number}")
        customer.lines.flush()
        customer.take()
        time.sleep(0.02)
    page.until("Object.keys(seen).length >= 96")
    seen = page.run("seen")
    delays = sorted(seen.get(number, float("inf")) - at for number, at in sent.items())
    assert delays[95] <= 500, delays
    filter_by(page, "")
    print(f"console: a message is on the screen within {delays[95]:.0f} ms (p95)")


def payment(page, shop, folder):
    """Checks the diagram of a payment and the three files with its flow."""
    view(page, "live")
    page.run("document.activeElement.blur()")
    # Without a filter, the other messages of the load could push the payment off the screen before the click.
    filter_by(page, "app://payments/**")
    asyncio.run(pay(shop))
    try:
        open_row(page, "payments/pay")
    except AssertionError:
        print("console: the page shows no payment:", page.run("""JSON.stringify({
            hash: location.hash, pattern: document.getElementById('filter').elements.pattern.value,
            state: document.getElementById('state').textContent, count: document.getElementById('live-count').textContent,
            focus: document.activeElement.tagName, scrolled: document.getElementById('messages').parentElement.scrollTop,
            urls: [...document.querySelectorAll('#messages tbody tr')].map(row => row.item?.url),
        })"""))
        raise
    kinds = ["request", "progress", "answer", "return", "reply"]
    for kind in kinds:
        page.until(f"document.querySelector('#diagram .event.{kind} .line')")
    page.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    files = {}
    for kind, ending in ("mermaid", "mmd"), ("json", "json"), ("svg", "svg"):
        page.run(f"document.querySelector('[data-export={kind}]').click()")
        end = time.monotonic() + 10
        while not (found := list(folder.glob(f"flow-*.{ending}"))):
            assert time.monotonic() < end, f"no file .{ending}"
            time.sleep(0.02)
        files[ending] = found[0].read_text()
    flow = json.loads(files["json"])
    events = [event["kind"] for event in flow["events"]]
    assert all(kind in events for kind in kinds), events
    drawn = page.run("[...document.querySelectorAll('#diagram .event')].map(event => event.classList[1])")
    assert drawn == events, (drawn, events)
    text = page.run("[...document.querySelectorAll('#events li')].map(item => item.textContent)")
    assert len(text) == len(events), text
    lines = files["mmd"].splitlines()
    arrows = [line for line in lines if "->>" in line or "-)" in line or "-x" in line]
    assert lines[0] == "sequenceDiagram" and len(arrows) == len(events), files["mmd"]
    assert files["svg"].startswith("<svg") and "<style" in files["svg"] and "var(" not in files["svg"], files["svg"]
    wide = page.run("(() => { const scroll = document.getElementById('diagram');"
                    "return scroll.scrollWidth <= scroll.clientWidth + 1; })()")
    filter_by(page, "")
    print(f"console: a payment in {len(events)} events, as a diagram{'' if wide else ' that scrolls'} and three files")


def refusals(page, shop):
    """Checks that the console rejects requests without the cookie and, while it is read-only, actions."""
    paths = ["api/about", "api/routes", "api/explain?url=app://cart/show", "api/stream", "api/flows/1",
             "api/deadletters", "api/nodes"]
    acts = {"api/call": {"url": "app://catalog/categories", "parameters": {}, "timeout": 1000},
            "api/deadletters/replay": {"ids": ["1"]}}
    for path in paths:
        assert (status := shop.ask(path, cookie=False)[0]) == 401, (path, status)
    for path, body in acts.items():
        assert (status := shop.ask(path, body, cookie=False)[0]) == 401, (path, status)
        status, problem = shop.ask(path, body)
        assert status == 403 and "allowsActions" in problem, (path, status, problem)
    status, form = shop.ask("", cookie=False)
    assert status == 401 and "<form" in form and SECRET not in form, (status, form)
    status, form = shop.ask("?token=wrong", cookie=False)
    assert status == 401 and "<form" in form, (status, form)
    assert shop.ask("api/about", Host="evil.example")[0] == 421
    view(page, "routes/app%3A%2F%2Fcatalog%2Fproduct")
    page.until("document.querySelector('#route fieldset')?.disabled && !document.getElementById('call-reason').hidden")
    view(page, "deadletters")
    page.until("document.querySelectorAll('#groups tbody tr').length > 0")
    enabled = page.run("[...document.querySelectorAll('#groups button')].filter(button => !button.disabled).length")
    assert enabled == 0, enabled
    print("console: 401 without the cookie, 403 for what acts, and nothing to press")


def secrecy(page, shop, customer):
    """Sends a secret in 1,000 messages, some of which fail, and searches for it in everything that the console shows."""
    view(page, "live")
    # The list is held, because it was scrolled to the payment.
    page.press("Escape")
    for number in range(250):
        customer.send(f"app://catalog/search?text=tea&n={number}&password={SECRET}")
        customer.send("app://catalog/search", {"text": "tea", "password": SECRET, "n": number})
        customer.send(f"app://nowhere/{number}?api-key={SECRET}")
        customer.send("app://catalog/product", {"token": SECRET})
        customer.lines.flush()
        for _ in range(4):
            customer.take()
        # A snapshot has at most 200 messages, so the load pauses between messages.
        time.sleep(0.01)
    # A paused list does not change, so the last message must be in the list before.
    page.until("[...document.querySelectorAll('#messages tbody tr')].some(row => row.item.url.includes('nowhere/249'))")
    page.press("p")
    page.until("document.querySelectorAll('#messages tbody tr').length > 300")
    places = {}
    for name in VIEWS:
        view(page, name)
        time.sleep(0.3)
        places[name] = page.run("document.documentElement.outerHTML")
    rows = page.run("Object.fromEntries([...document.querySelectorAll('#messages tbody tr')]"
                    ".map(row => [row.item.id, row.item.url]))")
    assert any("password=" in url for url in rows.values()) and any("api-key=" in url for url in rows.values()), rows
    for id in list(rows)[:100]:
        places[f"flow {id}"] = shop.ask(f"api/flows/{id}")[1]
    for path in "api/deadletters", "api/routes", "api/nodes", "api/explain?url=app://nowhere/1%3Fpassword=" + SECRET:
        places[path] = shop.ask(path)[1]
    events = page.take("Network.eventSourceMessageReceived")
    # Each stream has its own limit, and the page opens another stream when its filter changes.
    streams = {}
    for event in events:
        if event["eventName"] == "snapshot":
            streams.setdefault(event["requestId"], []).append(json.loads(event["data"])["time"])
    busiest = max(sum(begin <= time < begin + 1 for time in times) for times in streams.values() for begin in times)
    assert busiest <= 22, busiest
    places["stream"] = "".join(event["data"] for event in events)
    assert "password=" in places["stream"]
    places["log"] = shop.log.read_text()
    view(page, "live")
    page.press("p")
    found = [place for place, text in places.items() if SECRET in text]
    assert not found, found
    print(f"console: a secret in 1,000 messages is in none of {len(places)} places; {busiest} updates a second at most")


def findings(page, when):
    """Fails if axe-core finds a serious or critical problem."""
    if not page.run("window.axe !== undefined"):
        folder = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
        page.run(pathlib.Path(folder, "axe.min.js").read_text() + "; 0")
    passed, found = page.run("""axe.run(document, { resultTypes: ['violations'] }).then(result => [result.passes.length,
        result.violations.filter(finding => ['serious', 'critical'].includes(finding.impact))
            .map(finding => [finding.id, finding.nodes.slice(0, 3).map(node => [node.html, node.failureSummary])])])""")
    assert passed > 10 and not found, (when, passed, found)


def accessibility(page, shop):
    """Checks every view and its panels with axe-core in both themes, and that no view is wider than a telephone."""
    # A few rows show the same problems as five hundred, and axe-core checks them sooner.
    write(page, "pattern", "app://payments/**")
    write(page, "letter-search", "nowhere/1")
    count = 0
    for theme in "light", "dark":
        page.show(1280, 800, theme)
        for name in [*VIEWS, "routes/app%3A%2F%2Fcatalog%2Fproduct"]:
            view(page, name)
            time.sleep(0.2)
            findings(page, (name, theme))
            count += 1
        view(page, "live")
        page.run("document.querySelector('#messages tbody tr').click()")
        page.until("document.querySelectorAll('#diagram .event').length > 0")
        findings(page, ("flow", theme))
        page.press("Escape")
        page.press("?")
        findings(page, ("keys", theme))
        page.press("Escape")
        count += 2
        page.show(390, 844, theme)
        for name in [*VIEWS, "routes/app%3A%2F%2Fcatalog%2Fproduct"]:
            view(page, name)
            time.sleep(0.1)
            width = page.run("document.documentElement.scrollWidth")
            assert width <= 390, (name, width)
    page.show(1280, 800, "light")
    print(f"console: axe-core finds nothing serious in {count} pages")


def steady(page, shop):
    """Checks that the memory of an open page, and of the shop, does not grow while many messages pass."""
    view(page, "live")
    load = Load(shop, 1000)
    begin = time.monotonic()
    sizes, resident = [], []
    for _ in range(8):
        time.sleep(SOAK / 8)
        page.ask("HeapProfiler.collectGarbage")
        sizes.append(page.ask("Runtime.getHeapUsage")["usedSize"] / 1e6)
        status = pathlib.Path(f"/proc/{shop.process.pid}/status").read_text()
        resident.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1e3)
    rate = load.sent / (time.monotonic() - begin)
    load.stop()
    growth, ofShop = (sum(list[-2:]) / sum(list[2:4]) - 1 for list in (sizes, resident))
    assert growth <= 0.02, sizes
    # The buffers of the console fill slowly, so the memory of the shop is checked only in a long run.
    assert SOAK < 600 or ofShop <= 0.02, resident
    assert rate >= 500, rate
    count = page.run("document.querySelectorAll('#messages tbody tr').length")
    assert count <= 500, count
    print(f"console: {rate:.0f} messages a second for {SOAK} s, a heap of {sizes[-1]:.1f} MB ({growth:+.1%}), "
          f"and a shop of {resident[-1]:.0f} MB ({ofShop:+.1%})")


def acting(page, shop):
    """Checks a console that allows actions: a call with the form of a route, and replayed dead letters."""
    enter(page, shop)
    view(page, "routes/app%3A%2F%2Fcatalog%2Fproduct")
    page.until("document.querySelector('#route fieldset') && !document.querySelector('#route fieldset').disabled")
    write(page, "id", "copper-kettle")
    page.until("document.querySelector('#route .outcome p')?.textContent.startsWith('replied')")
    # A parameter of the pattern goes into the URL, and a person writes an array as JSON.
    view(page, "routes/app%3A%2F%2Fcatalog%2Fcategory%2F%3Aname")
    page.until("document.querySelector('#route h3').textContent.includes(':name')")
    page.run("""(field => { field.value = 'kitchen/x'; field.dispatchEvent(new Event('input')); })
        (document.querySelector('#route input[name=name]'))""")
    assert page.run("document.querySelector('#route fieldset input').value") == "app://catalog/category/kitchen%2Fx"
    view(page, "routes/app%3A%2F%2Fcatalog%2Freserve")
    page.until("document.querySelector('#route textarea[name=lines]')")
    write(page, "lines", "[")
    page.until("document.querySelector('#route .outcome').textContent.includes('not JSON')")
    write(page, "lines", "[]")
    page.until("document.querySelector('#route .outcome p')?.textContent.startsWith('replied')")
    page.run("document.querySelector('#route .outcome a').click()")
    page.until("document.querySelectorAll('#diagram .event').length == 2")
    customer = Customer(shop)
    for number in range(3):
        customer.send(f"app://nowhere/{number}")
    customer.lines.flush()
    for _ in range(3):
        customer.take()
    view(page, "deadletters")
    page.until("document.querySelectorAll('#groups tbody tr').length >= 3")
    write(page, "letter-search", "nowhere/1")
    page.until("document.querySelectorAll('#groups tbody tr').length == 1")
    page.run("document.querySelector('#groups .bar button').click()")
    page.until("document.querySelector('#groups .bar button').textContent == 'Replay 1 message now?'")
    page.run("document.querySelector('#groups .bar button').click()")
    page.until("document.getElementById('replay-outcome').textContent.startsWith('1 message replayed, 1 failed')")
    page.until("document.querySelector('#groups td.replayed a')")
    log = shop.log.read_text()
    assert "app://catalog/product" in log and "app://nowhere/1" in log, log
    print("console: a call by its form, and dead letters that are replayed")


def nats_server(folder):
    """Starts a NATS server at a free port, and returns its process and its URL."""
    process = subprocess.Popen(["nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder],
                               stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while not (found := [re.search('nats://[^"]+', file.read_text()) for file in folder.glob("*.ports")]) or not found[0]:
        assert process.poll() is None and time.monotonic() < end, "nats-server does not start"
        time.sleep(0.02)
    return process, found[0][0]


def nodes(page, program, folder, url):
    """Checks the view of two nodes of a cluster, before and after one of them leaves."""
    other = Shop(program, folder, "--nats", url)
    try:
        view(page, "nodes")
        cards = "[...document.querySelectorAll('#nodes .card')].map(card => card.textContent)"
        page.until(f"{cards}.length == 2")
        texts = page.run(cards)
        assert "this node" in texts[0] and "this node" not in texts[1], texts
        assert all("app://orders/place" in text and "app://cart/take" not in text for text in texts), texts
        page.until("document.getElementById('nodes-count').textContent == 'shop · 2 nodes'")
        other.stop()
        page.until(f"{cards}.length == 1")
    finally:
        other.process.kill()
    print("console: two nodes of a cluster, and one that has left")


def ending(page, shop):
    """Checks that a hidden page closes its stream, and that the page shows the end of the server."""
    turn = """Object.defineProperty(document, 'hidden', { value: %s, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))"""
    for isHidden, state in ("true", "not watched"), ("false", "live"):
        page.run(turn % isHidden)
        page.until(f"document.getElementById('state').textContent == '{state}'")
    shop.stop()
    page.until("document.getElementById('state').textContent.startsWith('server away')")
    print("console: the page sees the server end")


def picture(page, shop, file):
    """Writes a picture of a payment, and of the calls before it, to a file."""
    asyncio.run(look_around(shop))
    asyncio.run(pay(shop))
    view(page, "live")
    open_row(page, "payments/pay")
    page.until("document.querySelectorAll('#diagram .event').length > 5")
    time.sleep(0.5)
    # A palette of the most frequent colours reduces the file to a third of its size.
    from PIL import Image
    image = Image.open(io.BytesIO(page.picture())).convert("RGB")
    colours = sorted(image.getcolors(image.width * image.height), reverse=True)[:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([channel for _, colour in colours for channel in colour])
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(file, optimize=True)
    assert os.path.getsize(file) < 150_000, os.path.getsize(file)


def main(program, file=None):
    # SIGTERM raises an exception, so the script also ends the processes that it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in "browser", "shop", "acting", "other", "nats", "files":
            (folder / part).mkdir()
        page = Page(folder / "browser", *(["--hide-scrollbars", "--disable-lcd-text"] if file else []))
        shops, server = [], None
        try:
            shop = Shop(program, folder / "shop")
            shops.append(shop)
            for domain in "Network", "Log", "Runtime":
                page.ask(f"{domain}.enable")
            page.show(1280, 800, "light")
            if file:
                enter(page, shop)
                return picture(page, shop, file)
            signing_in(page, shop)
            customer = Customer(shop)
            load = Load(shop, 100)
            every_view(page, shop, customer)
            soon(page, customer)
            payment(page, shop, folder / "files")
            refusals(page, shop)
            load.stop()
            secrecy(page, shop, customer)
            accessibility(page, shop)
            requests = [event["request"]["url"] for event in page.take("Network.requestWillBeSent")]
            page.ask("Network.disable")
            steady(page, shop)
            server, url = nats_server(folder / "nats")
            shops.append(Shop(program, folder / "acting", "--console-actions", "--nats", url))
            acting(page, shops[1])
            nodes(page, program, folder / "other", url)
            origins = tuple(shop.origin + "/" for shop in shops)
            outside = [url for url in requests if not url.startswith((*origins, "data:", "blob:"))]
            assert len(requests) > 20 and not outside, outside
            print(f"console: none of {len(requests)} requests left the page's origin")
            # Chromium itself logs the responses to the wrong token and to the rejected pattern.
            errors = page.take("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
            errors = [error for error in errors if "status of 40" not in error.get("entry", {}).get("text", "")]
            assert not errors, errors
            ending(page, shops[1])
            shop.stop()
        finally:
            page.close()
            if server:
                server.kill()
                server.wait()
            for shop in shops:
                if shop.process.poll() is None:
                    shop.process.kill()
    print(f"console: all of it in {time.monotonic() - begin:.0f} s")


main(sys.argv[1], *[sys.argv[index + 1] for index, word in enumerate(sys.argv) if word == "--picture"])
