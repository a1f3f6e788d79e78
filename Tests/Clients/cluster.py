"""Tests a Waybill node with nats-py: calls, the `$SRV` subjects of services, a service that Waybill calls, and events of
cloudevents in both directions.

    cluster.py SERVER WAYBILL [COUNT]
"""
import asyncio, json, random, subprocess, sys

import nats
from cloudevents.core.bindings import http
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from nats.micro.service import ServiceInfo, ServicePing, ServiceStats

from services import check

server, waybill = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 200
REALM = "waybill.test"


async def call(connection, url, subject, **params):
    request = {"jsonrpc": "2.0", "id": 1, "method": url, "params": params}
    answer = await connection.request(f"{REALM}.call.{subject}", json.dumps(request).encode(), timeout=5)
    return json.loads(answer.data)


async def caller(connection):
    item = await call(connection, "app://work/item/7", "app.work.item.%:")
    assert item["result"] == {"id": 7, "node": "far"}, item
    broken = await call(connection, "app://work/broken", "app.work.broken")
    assert broken["error"]["data"]["code"] == "handlerFailed", broken
    try:
        await call(connection, "app://nowhere", "app.nowhere")
        raise AssertionError("what no node shares is answered")
    except nats.errors.NoRespondersError:
        pass
    print("nats-py: a caller")


async def services(connection):
    """Reads the `$SRV` responses with the types of nats-py, and checks them against the JSON schemas in services.py."""
    for verb in ["PING", "INFO", "STATS"]:
        check(verb, json.loads((await connection.request(f"$SRV.{verb}", b"", timeout=5)).data))
    ping = ServicePing.from_dict(json.loads((await connection.request("$SRV.PING.far", b"", timeout=5)).data))
    assert ping.type == "io.nats.micro.v1.ping_response" and ping.name == "far", ping
    info = ServiceInfo.from_dict(
        json.loads((await connection.request(f"$SRV.INFO.far.{ping.id}", b"", timeout=5)).data)
    )
    assert info.id == ping.id and info.description, info
    subjects = {endpoint.metadata["pattern"]: endpoint.subject for endpoint in info.endpoints}
    assert subjects["app://work/item/:id"] == f"{REALM}.call.app.work.item.%:", subjects
    stats = ServiceStats.from_dict(json.loads((await connection.request("$SRV.STATS.far", b"", timeout=5)).data))
    counts = {endpoint.subject: (endpoint.num_requests, endpoint.num_errors) for endpoint in stats.endpoints}
    assert counts[f"{REALM}.call.app.work.item.%:"] == (1, 0), counts
    assert counts[f"{REALM}.call.app.work.broken"] == (1, 1), counts
    check("STATS", json.loads((await connection.request("$SRV.STATS.far", b"", timeout=5)).data))
    print(f"nats-py: $SRV, at a server of version {connection.connected_server_version}")


async def service(connection):
    """Acts as a node without Waybill: announces a route, sends heartbeats, and replies to a call."""
    node = {"node": "python1", "name": "python", "epoch": 1, "interval": 1000}

    async def announce(kind, subject=f"{REALM}.nodes"):
        routes = ["py://sum"] if kind in ("hello", "state") else []
        await connection.publish(subject, json.dumps({"kind": kind, "routes": routes} | node).encode())

    async def asked(message):
        said = json.loads(message.data)
        # A new node, or a node that asks, gets the routes of this node.
        if said["kind"] in ("hello", "ask"):
            await announce("state", f"{REALM}.nodes.{said['node']}")

    async def handle(message):
        request = json.loads(message.data)
        params = request["params"]
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": params["a"] + params["b"]}
        await connection.publish(message.reply, json.dumps(answer).encode())

    async def beat():
        while True:
            await announce("beat")
            await asyncio.sleep(1)

    await connection.subscribe(f"{REALM}.nodes", cb=asked)
    await connection.subscribe(f"{REALM}.nodes.python1", cb=asked)
    await connection.subscribe(f"{REALM}.call.py.sum", queue="waybill", cb=handle)
    await announce("hello")
    beating = asyncio.create_task(beat())
    program = await asyncio.create_subprocess_exec(
        waybill, "call", "py://sum", "--json", '{"a": 40, "b": 2}', "--nats", server, "--realm", "test",
        stdout=subprocess.PIPE,
    )
    output, _ = await program.communicate()
    assert program.returncode == 0 and output == b"42\n", (program.returncode, output)
    beating.cancel()
    await announce("bye")
    print("nats-py: a service that Waybill calls")


async def events(connection):
    """Sends calls as events of another library in both modes, and exchanges publications in both directions."""
    form, source = JSONFormat(), random.Random(1)
    modes = {"structured": http.to_structured, "binary": http.to_binary}
    texts = ["kettle", "50 % \"off\"", "Euro € 😀", "a/b?c=d&e#f", "~!*'();:@+$,[]\\", "İstanbul ß ñ", "x" * 500]
    spell = [str, str.upper, str.title]
    for number in range(count):
        kind, data = source.choice([
            ("application/json", {"percent": number, "text": source.choice(texts), "nested": [1.5, None, True, {}]}),
            ("application/vnd.shop+json", {"exact": [7.0, 2.5e-3], "": "€"}),
            ("text/plain", source.choice(texts)),
        ])
        event = CloudEvent({
            "id": f"{number}-{source.choice(texts)}", "source": "/python", "type": "ask", "subject": source.choice(texts),
            "datacontenttype": kind, "tenant": source.choice(texts),
        }, data)
        mode = source.choice(list(modes))
        message = modes[mode](event, form)
        case = source.choice(spell)
        headers = {case(name): value for name, value in message.headers.items()}
        if mode == "binary" and source.random() < 0.5:
            # The type of the data may also be in an attribute of the event.
            headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
            headers[case("ce-datacontenttype")] = kind
        reply = await connection.request(f"{REALM}.call.app.work.echo", message.body, headers=headers, timeout=5)
        assert all(name == name.lower() for name in reply.headers), reply.headers
        read = http.from_structured if mode == "structured" else http.from_binary
        answer = read(http.HTTPMessage(dict(reply.headers), reply.data), form)
        told = answer.get_attributes()
        assert (told["type"], told["subject"]) == ("app://work/echo", "app://work/echo"), told
        assert told["source"].startswith("/test/far/"), told
        assert answer.get_data() == data, (mode, event, reply)
    wrong = await connection.request(f"{REALM}.call.app.work.echo", b"{}", headers={"ce-specversion": "2.0"}, timeout=5)
    assert wrong.headers["Nats-Service-Error-Code"] == "400", wrong
    print(f"cloudevents: {count} calls in both modes over NATS")

    # This node receives publications. The subscribers of the Waybill node call its route app://caller/note.
    node = {"node": "python2", "name": "events", "epoch": 1, "interval": 60000}
    offer = {"routes": ["app://caller/note"], "topics": ["app://echo/**"]}
    notes, heard = asyncio.Queue(), asyncio.Queue()
    await connection.subscribe(f"{REALM}.call.app.caller.note", queue="waybill", cb=notes.put)
    await connection.subscribe(f"{REALM}.pub.app.echo.>", cb=heard.put)
    # Without this subscription, the Waybill node could not send its state, and would remove this node.
    await connection.subscribe(f"{REALM}.nodes.python2")
    await connection.publish(f"{REALM}.nodes", json.dumps({"kind": "hello"} | node | offer).encode())
    await call(connection, "app://work/item/1", "app.work.item.%:")
    for mode, write in modes.items():
        attributes = {"id": mode, "source": "/python", "type": "news", "datacontenttype": "application/json"}
        message = write(CloudEvent(attributes, {"text": mode}), form)
        await connection.publish(f"{REALM}.pub.app.work.news", message.body, headers=message.headers)
        note = json.loads((await asyncio.wait_for(notes.get(), 5)).data)
        assert note["params"]["text"] == f"news {mode}", note
    for text in texts:
        await call(connection, "app://work/say", "app.work.say", text=text)
        message = await asyncio.wait_for(heard.get(), 5)
        event = http.from_binary(http.HTTPMessage(dict(message.headers), message.data), form)
        told = event.get_attributes()
        assert (told["type"], told["subject"]) == ("app://echo/said", "app://echo/said"), told
        assert told["source"].startswith("/test/far/"), told
        assert told["datacontenttype"] == "application/json" and event.get_data() == {"text": text}, (message, event)
    await connection.publish(f"{REALM}.nodes", json.dumps({"kind": "bye"} | node).encode())
    print("cloudevents: publications both ways over NATS")


async def main():
    connection = await nats.connect(server)
    await caller(connection)
    await services(connection)
    await service(connection)
    await events(connection)
    await connection.close()


asyncio.run(main())
