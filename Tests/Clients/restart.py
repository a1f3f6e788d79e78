"""Kills the shop with SIGKILL while generated clients use it, and starts it again at the same addresses.

    restart.py WEB-SHOP NAME=TRANSPORT,COMMAND...

TRANSPORT is `socket` or `http`. The command, whose words are separated by commas, gets the address as its next argument after
the first two words. survivor.py describes its input and output. In each round, each client has a call in flight when the
shop is killed. The call must fail with `unreachable`, the next call must succeed, and the subscription must go on by itself,
with a mark that messages may be missing. WAYBILL_SOAK=1 runs forty rounds.
"""
import json, os, random, re, signal, socket, subprocess, sys, tempfile, threading, time
import urllib.request

ROUNDS = 40 if os.environ.get("WAYBILL_SOAK") else 2


def is_listening(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


def until(condition, problem, seconds=20):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, problem() if callable(problem) else problem
        time.sleep(0.02)
    return value


class Shop:
    def __init__(self, program, folder):
        self.socket = f"{folder}/rpc"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = [program, "--http", str(self.port), "--socket", self.socket]
        self.log = open(f"{folder}/log", "w")
        self.published = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        until(lambda: is_listening(socket.AF_UNIX, self.socket), "the shop does not listen at its socket")
        until(lambda: is_listening(socket.AF_INET, ("127.0.0.1", self.port)), "the shop does not listen at its port")

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        # The signal takes effect later.
        os.waitpid(self.process.pid, os.WUNTRACED)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def publish(self):
        self.published += 1
        data = {"specversion": "1.0", "id": str(self.published), "source": "/t", "type": "t", "data": {"stars": self.published}}
        headers = {"Content-Type": "application/cloudevents+json"}
        url = f"http://127.0.0.1:{self.port}/bus/app/reviews/kettle"
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(data).encode(), headers), timeout=10).close()


class Client(threading.Thread):
    """A client process, whose output lines are in `lines`."""

    def __init__(self, name, command):
        super().__init__(daemon=True)
        self.title = name
        self.lines = []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.start()

    def run(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def send(self, command):
        self.lines.clear()
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def find(self, pattern):
        return next((line for line in list(self.lines) if re.match(pattern, line)), None)

    def expect(self, wanted):
        """Waits for a reply or an error, and checks which one has arrived."""
        found = until(lambda: self.find("reply|error|untyped"), lambda: f"{self.title} hangs: {self.lines[-5:]}", 30)
        assert found == wanted, f"{self.title}: {found}, not {wanted}"


def await_messages(shop, clients, pattern):
    """Publishes until each client has received a message that matches a pattern."""

    def has_arrived():
        shop.publish()
        return all(client.find(pattern) for client in clients)

    until(has_arrived, lambda: [(client.title, client.lines[-5:]) for client in clients if not client.find(pattern)])


with tempfile.TemporaryDirectory() as folder:
    shop = Shop(sys.argv[1], folder)
    clients = []
    try:
        for argument in sys.argv[2:]:
            name, _, words = argument.partition("=")
            transport, *command = words.split(",")
            address = shop.socket if transport == "socket" else f"http://127.0.0.1:{shop.port}/bus"
            clients.append(Client(name, command[:2] + [address] + command[2:]))
        await_messages(shop, clients, "message")
        for number in range(ROUNDS):
            if number % 2 == 0:
                # A shop that is stopped does not reply, so the call is in flight.
                shop.stop()
                for client in clients:
                    client.send("call")
                time.sleep(0.3)
            else:
                for client in clients:
                    client.send("calls")
                time.sleep(random.uniform(0.1, 0.4))
            shop.kill()
            for client in clients:
                client.expect("error unreachable")
            time.sleep(random.uniform(0, 0.3))
            shop.start()
            for client in clients:
                client.send("call")
            for client in clients:
                client.expect("reply Copper Kettle 1.2 l")
            await_messages(shop, clients, "gap")
            for client in clients:
                client.lines.clear()
            await_messages(shop, clients, "message")
            for client in clients:
                assert not client.find("gap"), f"{client.title}: a message is marked without a reason"
        for client in clients:
            client.process.stdin.close()
            client.process.wait(timeout=10)
    finally:
        for client in clients:
            client.process.kill()
        shop.kill()
print(f"restart: {ROUNDS} kills, survived by {', '.join(client.title for client in clients)}")
