"""Sends large batches and reads no responses. The server must not use much memory, and honest calls must not wait."""
import sys, time
from attack import *

folder = sys.argv[1]
many = b"[" + b",".join([b"1"] * 500_000) + b"]\n"
calls = b"[" + b",".join([line(request("app://attack/large", id=n)).strip() for n in range(1000)]) + b"]\n"
allowed = b"[" + b",".join([line(request("app://attack/large", id=n)).strip() for n in range(128)]) + b"]\n"
opened = []


def body():
    for message in [many, calls, allowed * 20]:
        for name in ["rpc", "token"]:
            connection = connect(folder + "/" + name, timeout=0.2)
            opened.append(connection)
            try:
                connection.sendall(message)
            except (BrokenPipeError, ConnectionResetError, TimeoutError):
                pass
    while len(opened) > 80:
        opened.pop(0).close()


attack(folder + "/rpc", body)
