"""Tests the HTTP gateway with the package cloudevents, in the structured and the binary mode.

Replies to calls are events, and subscribers receive the events that were published.

    cloud_events.py SOCKET [COUNT]
"""
import datetime, random, sys

import httpx
from cloudevents.core.bindings import http
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from httpx_sse import connect_sse

count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
form, source = JSONFormat(), random.Random(1)
modes = {"structured": http.to_structured, "binary": http.to_binary}
texts = ["kettle", "50 % \"off\"", "Euro € 😀", "a/b?c=d&e#f", "~!*'();:@+$,[]\\", "İstanbul ß ñ", "x" * 500]


def made(number):
    kind, data = source.choice([
        ("application/json", {"percent": number, "text": source.choice(texts), "nested": [1.5, None, True, {}]}),
        # There is no array, because the binary mode of this version writes Python's text of an array instead of JSON.
        ("application/vnd.shop+json", {"large": 12345678901234567890, "exact": [7.0, 2.5e-3], "": "€"}),
        ("text/plain", source.choice(texts)),
        ("image/png", bytes([0xFF, number % 256, 0, 0x80])),
        (None, None),
    ])
    attributes = {
        "id": f"{number}-{source.choice(texts)}", "source": "/python", "type": "shop.review", "subject": source.choice(texts),
        "time": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=number),
        "tenant": source.choice(texts),
    }
    if kind:
        attributes["datacontenttype"] = kind
    return CloudEvent(attributes, data)


def parts(event):
    # A text becomes bytes, because the wire format does not distinguish texts and bytes.
    data = event.get_data()
    return event.get_attributes(), data.encode() if isinstance(data, str) else data


transport = httpx.HTTPTransport(uds=sys.argv[1])
with httpx.Client(transport=transport, base_url="http://localhost/bus", timeout=20) as client:
    with connect_sse(client, "GET", "/subscribe?pattern=app://reviews/**&format=cloudevents") as stream:
        # httpx-sse returns the comment of a heartbeat as an event without data.
        received = (event for event in stream.iter_sse() if event.data)
        for number in range(count):
            event = made(number)
            mode = source.choice(list(modes))
            message = modes[mode](event, form)
            response = client.post("/app/reviews/kettle", headers=message.headers, content=message.body)
            assert response.status_code == 204, (mode, message, response.text)
            same = form.read(None, next(received).data)
            assert parts(same) == parts(event), (mode, parts(event), parts(same))

    for number in range(count):
        mode = source.choice(list(modes))
        asked = CloudEvent({"type": "ask", "source": "/python", "datacontenttype": "application/json"}, {"id": "copper-kettle"})
        message = modes[mode](asked, form)
        response = client.post("/app/catalog/product", headers=message.headers, content=message.body)
        answer = http.HTTPMessage(dict(response.headers), response.content)
        reply = (http.from_structured if mode == "structured" else http.from_binary)(answer, form)
        assert reply.get_data()["name"].startswith("Copper Kettle"), reply.get_data()
        assert reply.get_type() == "app://catalog/product" == reply.get_subject(), reply.get_attributes()
        assert reply.get_source() == "//localhost" and reply.get_id(), reply.get_attributes()

    bad = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/", "ce-type": "t", "ce-subject": "%C0%A0"}
    assert client.post("/app/reviews/kettle", headers=bad).status_code == 400
print(f"cloudevents: {count} events to subscribers and {count} calls, in both modes")
