"""What all attacks share: connections, and honest calls that are timed while an attack goes on."""
import json, socket, sys, threading, time

SECONDS = 10
# How long the slowest honest call may take, in seconds.
BOUND = 0.05


def connect(path, timeout=60):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout)
    connection.connect(path)
    return connection


def line(message):
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def request(method, id=1, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def call(connection, message):
    """Sends a line and reads the answer, which is one line."""
    connection.sendall(message)
    answer = b""
    while not answer.endswith(b"\n"):
        part = connection.recv(65536)
        if not part:
            raise ConnectionError("the server has closed the connection")
        answer += part
    return answer


class HonestCalls:
    """Calls `app://attack/honest` every few milliseconds, over a connection of its own, while an attack goes on."""

    def __init__(self, path, first=None):
        self.connection = connect(path)
        if first:
            call(self.connection, first)
        self.times = []
        self.failure = None
        self.isOver = False
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        message = line(request("app://attack/honest"))
        try:
            while not self.isOver:
                began = time.monotonic()
                answer = call(self.connection, message)
                self.times.append(time.monotonic() - began)
                if b'"result":"ok"' not in answer:
                    raise ValueError(answer)
                time.sleep(0.003)
        except Exception as error:
            self.failure = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        time.sleep(0.2)
        self.isOver = True
        self.thread.join(30)
        if self.failure:
            print("an honest call failed: %r" % self.failure)
            sys.exit(1)
        times = sorted(self.times)
        # Python itself, and the system, may delay a few of thousands.
        slowest = times[-max(1, len(times) // 200)]
        print(
            "%d honest calls: median %.1f ms, slowest but 0.5 %% %.1f ms, slowest %.1f ms"
            % (len(times), times[len(times) // 2] * 1e3, slowest * 1e3, times[-1] * 1e3)
        )
        if slowest > BOUND or len(times) < 50:
            print("honest calls took more than %d ms" % (BOUND * 1e3))
            sys.exit(1)


def attack(path, body, first=None):
    """Runs rounds of an attack until its time is over."""
    with HonestCalls(path, first):
        end = time.monotonic() + SECONDS
        rounds = 0
        while time.monotonic() < end:
            body()
            rounds += 1
    print("%d rounds" % rounds)
