"""Sends 1,000 calls with replies of 12 KB on each of 200 connections, and reads nothing."""
import sys
from attack import *

folder = sys.argv[1]
opened = []


def body():
    for method in ["app://attack/large", "app://attack/slow"]:
        calls = b"".join(line(request(method, id=n)) for n in range(1000))
        for _ in range(100):
            connection = connect(folder + "/rpc")
            connection.setblocking(False)
            opened.append(connection)
            try:
                connection.send(calls)
            except BlockingIOError:
                pass
    time.sleep(2)
    while len(opened) > 100:
        opened.pop(0).close()


attack(folder + "/rpc", body)
