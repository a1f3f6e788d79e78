"""The code that all attacks share: connections, and timed honest calls during an attack."""
import json, multiprocessing, socket, sys, time

SECONDS = 10
# The maximum time of an honest call in seconds. The slowest 0.5 % of the calls may take longer.
BOUND = 0.05


def connect(path, timeout=60):
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        try:
            connection.connect(path)
            return connection
        except BlockingIOError:
            # The backlog of the server is full.
            connection.close()
            time.sleep(0.001)


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


def call_honestly(path, first, isOver, results):
    """Calls `app://attack/honest` every few milliseconds until the attack is over, and reports the times."""
    connection = connect(path)
    if first:
        call(connection, first)
    message = line(request("app://attack/honest"))
    times = []
    try:
        while not isOver.is_set():
            began = time.monotonic()
            answer = call(connection, message)
            times.append(time.monotonic() - began)
            if b'"result":"ok"' not in answer:
                raise ValueError(answer)
            time.sleep(0.003)
        results.put(times)
    except Exception as error:
        results.put("an honest call failed: %r" % error)


class HonestCalls:
    """Makes honest calls during an attack, in a separate process, so that the attack delays only the server."""

    def __init__(self, path, first=None):
        self.isOver = multiprocessing.Event()
        self.results = multiprocessing.Queue()
        arguments = (path, first, self.isOver, self.results)
        self.process = multiprocessing.Process(target=call_honestly, args=arguments, daemon=True)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        time.sleep(0.2)
        self.isOver.set()
        times = self.results.get(timeout=30)
        if isinstance(times, str):
            print(times)
            sys.exit(1)
        times.sort()
        # Python and the system may delay a few of thousands of calls.
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
