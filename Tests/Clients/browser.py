"""Tests Chromium's EventSource with the shop: calls as events, a subscription, and a page of another origin, which the
gateway rejects.

    browser.py PORT
"""
import json, sys, tempfile, urllib.request

from chromium import Page

origin = f"http://localhost:{sys.argv[1]}"

# Returns the type and the data of the first event, or `error` if there is none.
FIRST = """new Promise(done => {
    const source = new EventSource('%s');
    const end = event => { source.close(); done([event.type, event.data]); };
    for (const name of ['progress', 'reply', 'failure', 'message']) source.addEventListener(name, end);
    source.onerror = () => done(['error', String(source.readyState)]);
})"""

# Opens a subscription, whose events are added to `window.seen`.
SUBSCRIBE = """new Promise((opened, failed) => {
    window.seen = [];
    window.source = new EventSource('/bus/subscribe?pattern=app://reviews/**&format=cloudevents');
    source.addEventListener('message', event => seen.push([JSON.parse(event.data), event.lastEventId]));
    source.onopen = () => opened(true);
    source.onerror = failed;
})"""

# Returns the events in `window.seen` as soon as there are enough of them.
SEEN = """new Promise(done => {
    const look = () => seen.length < %d ? setTimeout(look, 5) : done(seen);
    look();
})"""


def publish(number):
    headers = {"Content-Type": "application/json", "ce-specversion": "1.0", "ce-id": str(number), "ce-source": "/python",
               "ce-type": "shop.review", "Host": f"localhost:{sys.argv[1]}"}
    request = urllib.request.Request(f"{origin}/bus/app/reviews/kettle", json.dumps({"stars": number}).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.status == 204, response.status


# Processes of the browser may still write to the folder while it is removed.
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    page = Page(folder)
    try:
        page.open(f"{origin}/search?text=kettle")
        kind, data = page.run(FIRST % "/bus/app/catalog/product?id=copper-kettle")
        assert kind == "reply" and json.loads(data)["name"].startswith("Copper Kettle"), (kind, data)
        kind, data = page.run(FIRST % "/bus/app/catalog/product")
        assert kind == "failure" and json.loads(data)["code"] == "missingParameter", (kind, data)

        # The subscription is open when this line returns, so it receives all events.
        page.run(SUBSCRIBE)
        for number in (1, 2):
            publish(number)
        (first, one), (second, two) = page.run(SEEN % 2)
        assert first["id"] == "1" and first["source"] == "/python" and first["data"] == {"stars": 1}, first
        assert second["id"] == "2" and one != two, (second, one, two)
        page.run("source.close()")

        page.open("data:text/html,elsewhere")
        kind, state = page.run(FIRST % f"{origin}/bus/app/catalog/product?id=copper-kettle")
        assert (kind, state) == ("error", "2"), (kind, state)
    finally:
        page.close()
print("Chromium's EventSource: a reply, a failure, a subscription, and another origin")
