"""Subscribes to patterns whose regular expressions need endless work. The server must not do this work."""
import sys
from attack import *

patterns = [
    "app://attack/:x((((((((){512}){512}){512}){512}){512}){512})|a)",
    "app://attack/:x(" + "(" * 20 + ")" + "{512})" * 19 + "|a)",
    "app://attack/:x(([a-z]{500}|[0-9]{500}){500})",
    "app://attack/" + "(/:a)(/:b)(/:c)(/:d)(/:e)(/:f)" * 20,
    "app://attack/" + "**/" * 120 + "x",
    "zz://" + "a" * 1000,
]
path = sys.argv[1] + "/rpc"
connection = connect(path)


def body():
    for pattern in patterns:
        answer = call(connection, line(request("$/subscribe", pattern=pattern)))
        if b'"subscription"' in answer or b'"result"' in answer:
            number = json.loads(answer)["result"]
            call(connection, line(request("$/unsubscribe", subscription=number)))
    # The server may accept the other patterns, which are cheap. It must reject the first three.
    for pattern in patterns[:3]:
        assert b"-32602" in call(connection, line(request("$/subscribe", pattern=pattern)))


attack(path, body)
