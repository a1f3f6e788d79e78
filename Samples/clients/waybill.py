"""A complete client of a Waybill server: python3 waybill.py /run/shop.sock app://user/7 '{"name": "Lili"}'"""
import json, socket, sys


class WaybillError(Exception):
    """The failure of a call: its number, its sentence, and the other data that the server sends."""
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.data = error["code"], error.get("data", {})


class Waybill:
    def __init__(self, address, token=None):
        """Connects to the path of a Unix socket, or to a pair of host and port."""
        kind = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(kind)
        self.socket.connect(address)
        self.lines, self.last, self.messages = self.socket.makefile("r", encoding="utf-8"), 0, []
        if token is not None:
            self.call("$/authenticate", {"token": token})

    def write(self, method, params={}, **members):
        frame = {"jsonrpc": "2.0", "method": method, "params": params, **members}
        self.socket.sendall((json.dumps(frame) + "\n").encode())

    def read(self):
        if line := self.lines.readline():
            return json.loads(line)
        raise ConnectionError("the server has closed the connection")

    send = write  # send(url, parameters) does not get a response

    def call(self, url, params={}, progress=None, **beside):
        """Calls a URL and returns its value. `progress` receives each progress reply, and its result is the answer.
        Other arguments: timeLeft (milliseconds), headers (a dictionary of texts)."""
        self.last = call = self.last + 1
        beside |= {"progress": True, "answers": True} if progress else {}
        self.write(url, {**params, **({"$waybill": beside} if beside else {})}, id=call)
        while True:
            frame = self.read()
            if frame.get("method") == "$/progress" and frame["params"]["id"] == call:
                self.write("$/answer", {"id": call, "value": progress(frame["params"]["value"])})
            elif frame.get("id") == call:
                if "error" in frame: raise WaybillError(frame["error"])
                return frame["result"]
            elif "method" in frame:
                self.messages.append(frame)

    def next(self):
        """Returns the next message of a subscription, which call("$/subscribe", {"pattern": ...}) begins."""
        return self.messages.pop(0) if self.messages else self.read()


if __name__ == "__main__":
    values = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    try:
        print(json.dumps(Waybill(sys.argv[1]).call(sys.argv[2], values, progress=print), ensure_ascii=False))
    except (WaybillError, OSError) as error:
        sys.exit(f"{sys.argv[2]}: {error}")
