"""nats-py against a Waybill node: a caller, `$SRV` as its own services answer it, and a service that the node's bus calls."""
import asyncio, json, subprocess, sys

import nats
from nats.micro.service import ServiceInfo, ServicePing, ServiceStats

server, waybill = sys.argv[1:3]
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
    """Read by nats-py's own types, which know the published fields."""
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
    print("nats-py: $SRV")


async def service(connection):
    """A node that is no Waybill program: it says what it has, says that it lives, and answers."""
    node = {"node": "python1", "name": "python", "epoch": 1, "interval": 1000}

    async def announce(kind, subject=f"{REALM}.nodes"):
        routes = ["py://sum"] if kind in ("hello", "state") else []
        await connection.publish(subject, json.dumps({"kind": kind, "routes": routes} | node).encode())

    async def asked(message):
        said = json.loads(message.data)
        # A node that is new, or wants to know again, is told.
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


async def main():
    connection = await nats.connect(server)
    await caller(connection)
    await services(connection)
    await service(connection)
    await connection.close()


asyncio.run(main())
