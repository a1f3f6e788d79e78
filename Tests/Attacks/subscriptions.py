"""Makes thousands of subscriptions to similar patterns. Unrelated publications and calls must not become slower."""
import sys
from attack import *

folder = sys.argv[1]
connections = []
publisher = connect(folder + "/rpc")
slowest = 0


def publish():
    global slowest
    for _ in range(200):
        began = time.monotonic()
        call(publisher, line(request("$/publish", url="app://attack/quiet/x")))
        slowest = max(slowest, time.monotonic() - began)


def body():
    if len(connections) < 300:
        connection = connect(folder + "/rpc")
        connections.append(connection)
        number = len(connections)
        for n in range(64):
            # These patterns have one shape, distinct shapes, and URLs that the server does not expose.
            for pattern in ["app://attack/news/:n%d_%d", "app://attack/news/x%d-%d-:y", "zz://a/:n%d_%d"][n % 3 : n % 3 + 1]:
                call(connection, line(request("$/subscribe", pattern=pattern % (number, n))))
    else:
        publish()


attack(folder + "/rpc", body)
print("slowest publication %.1f ms with %d connections" % (slowest * 1e3, len(connections)))
