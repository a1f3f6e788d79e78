"""Publishes 1,024 messages with each request or notification on 50 connections, and reads nothing."""
import sys
from attack import *

folder = sys.argv[1]
params = {"url": "app://attack/news/a", "messages": [{}] * 1024}
notification = {"jsonrpc": "2.0", "method": "$/publish", "params": params}
kinds = [line(notification) * 20, line({"id": 1, **notification}) * 20]
opened = [connect(folder + "/rpc") for _ in range(50)]
for connection in opened:
    connection.setblocking(False)


def body():
    for number, connection in enumerate(opened):
        try:
            connection.send(kinds[number % 2])
        except BlockingIOError:
            pass
    time.sleep(0.01)


attack(folder + "/rpc", body)
