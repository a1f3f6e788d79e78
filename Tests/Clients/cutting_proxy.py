"""Runs a command with the address of a proxy for an HTTP server: cutting_proxy.py cut|silence PORT COMMAND...

After the second event of the first stream of events, the proxy closes the connection, or forwards nothing more.
"""
import asyncio
import os
import re
import sys

EVENT = re.compile(rb"event: (message|progress)\n.*?\n\n", re.DOTALL)

cut = False


async def forward(client_reader, client_writer):
    """Forwards one connection, and ends the first one after its second event."""
    server_reader, server_writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))

    async def send():
        while data := await client_reader.read(1 << 16):
            server_writer.write(data)

    async def receive():
        global cut
        count = 0
        while data := await server_reader.read(1 << 16):
            events = [found.end() for found in EVENT.finditer(data)]
            count += len(events)
            if count >= 2 and not cut:
                cut = True
                # Later events may have arrived in the same data, and are not forwarded.
                client_writer.write(data[: events[len(events) - count + 1]])
                await client_writer.drain()
                if sys.argv[1] == "silence":
                    await asyncio.Event().wait()
                return
            client_writer.write(data)

    tasks = [asyncio.ensure_future(send()), asyncio.ensure_future(receive())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    client_writer.close()
    server_writer.close()


async def main():
    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    command = await asyncio.create_subprocess_exec(*sys.argv[3:], f"http://127.0.0.1:{port}/bus", sys.argv[2])
    status = await asyncio.wait_for(command.wait(), 60)
    # Some connections are still open: an orderly end of asyncio could print a warning for each of them.
    os._exit(status or (0 if cut else 3))


asyncio.run(main())
