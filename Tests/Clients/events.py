"""Tests httpx-sse with calls over HTTP whose progress replies and replies are server-sent events."""
import json, sys

import httpx
from httpx_sse import connect_sse

transport = httpx.HTTPTransport(uds=sys.argv[1])
with httpx.Client(transport=transport, base_url="http://localhost/bus/app", timeout=10) as client:
    session = client.post("/accounts/sign-in", json={"name": "Lili"}).json()["token"]
    client.post("/cart/add", json={"product": "copper-kettle", "session": session}).raise_for_status()
    order = client.post("/orders/place", json={"session": session}).json()["id"]
    ask = {"order": order, "session": session}

    with connect_sse(client, "POST", "/payments/pay", json=ask) as source:
        events = list(source.iter_sse())
    assert events[0].event == "progress" and len(events) == 2, events

    with connect_sse(client, "POST", "/payments/pay", json=ask | {"confirm": True}) as source:
        events = list(source.iter_sse())
    assert [event.event for event in events] == ["reply"], events
    assert events[0].json()["order"] == order, events

    problem = client.post("/cart/take")
    assert problem.status_code == 404 and problem.headers["content-type"] == "application/problem+json", problem
print("httpx-sse: progress, reply and problem")
