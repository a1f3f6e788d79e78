"""Serves methods with jsonrpcserver at a Unix socket, with a message on each line. The names of the methods are URLs."""
import socketserver, sys

from jsonrpcserver import Error, Result, Success, dispatch, method


@method(name="py://ping")
def ping(**_) -> Result:
    return Success("pong")


@method(name="py://sum")
def add(a, b, **_) -> Result:
    return Success(a + b)


@method(name="py://fails")
def fails(**_) -> Result:
    return Error(1, "there is no kettle")


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if response := dispatch(line.decode()):
                self.wfile.write(response.encode() + b"\n")


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


if __name__ == "__main__":
    Server(sys.argv[1], Lines).serve_forever()
