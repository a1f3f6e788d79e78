"""Random pairs of documents: clients of the first document call a server of the second one.

    pairs.py make SEED COUNT     writes COUNT pairs to pairs.json
    pairs.py keep WAYBILL COUNT  writes the first COUNT pairs between which `waybill diff` finds no breaking change to
                                 kept.json, and a document with the routes of their first documents to merged.json
    pairs.py calls               reads kept.json, and writes calls of each client in Python, TypeScript and Swift, and
                                 replies of the second document's server
    pairs.py run                 makes the calls in Python
    pairs.py serve SOCKET        replies to the calls of the client in Swift
    pairs.py check LANGUAGE      checks the sent calls against the second document

A client is a file client_K.py or client_K.ts for the routes of several pairs, which do not share a name. `PairTests`
chooses pairs as `keep` does, and `.ci/clients` builds the client in Swift.
"""
import asyncio
import base64
import copy
import importlib
import json
import random
import socket
import subprocess
import sys
import urllib.parse
import uuid
from datetime import datetime
from pathlib import Path

CALLS = 3
INT64 = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1, "format": "int64"}
REFERENCE = "#/components/schemas/"


def read(name):
    return json.loads(Path(name).read_text("utf-8"))


def write(name, value):
    Path(name).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


class Maker:
    """Makes the documents of one pair, in which each name begins with the number of the pair."""

    def __init__(self, seed, index):
        self.random = random.Random(f"{seed} {index}")
        self.index = index
        self.schemas = {}
        self.last = 0

    def chance(self, share):
        return self.random.random() < share

    def plain(self):
        return copy.deepcopy(self.random.choice([
            {"type": "boolean"}, {"type": "string"}, {"type": "string"}, {"type": "number", "format": "double"},
            {"type": "number"}, INT64, {"type": "integer", "minimum": 0, "maximum": 2**64 - 1},
            {"type": "integer", "minimum": -128, "maximum": 127}, {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
            {"type": "string", "format": "date-time"}, {"type": "string", "format": "uuid"},
            {"type": "string", "contentEncoding": "base64"}, {"x-waybill-opaque": "Thing"}, {"type": "object"},
        ]))

    def schema(self, depth=2):
        kind = self.random.randrange(9) if depth else 9
        if kind == 0:
            return {"type": "array", "items": self.schema(depth - 1)}
        if kind == 1:
            return {"type": "object", "additionalProperties": self.schema(depth - 1)}
        if kind == 2:
            return nullable(self.schema(depth - 1))
        if kind <= 5 and self.schemas:
            return {"$ref": REFERENCE + self.random.choice(sorted(self.schemas))}
        return self.plain()

    def named(self, schema):
        """Returns a reference to a new named schema."""
        self.last += 1
        name = f"S{self.index}x{self.last}"
        self.schemas[name] = schema
        return {"$ref": REFERENCE + name}

    def object(self, tag=None):
        names = self.random.sample(["p0", "p1", "p2", "p3", "p4", "p5"], self.random.randrange(1, 5))
        properties = {name: self.schema() for name in sorted(names)}
        required = [name for name in properties if self.chance(0.5)]
        if tag is not None:
            properties["kind"] = {"type": "string", "const": tag}
            required.append("kind")
        return {"type": "object", "properties": properties} | ({"required": required} if required else {})

    def declaration(self):
        kind = self.random.randrange(6)
        if kind == 0:
            return {"type": "string", "enum": self.random.sample(["a", "b", "c", "d e"], self.random.randrange(2, 4))}
        if kind == 1:
            return {"type": "integer", "enum": self.random.sample([1, 2, -3, 400], self.random.randrange(2, 4))}
        if kind == 2:
            options = [self.object(tag) for tag in self.random.sample(["one", "two", "three"], self.random.randrange(2, 4))]
            return {"oneOf": [self.named(option) if self.chance(0.5) else option for option in options]}
        return self.object()

    def parameter(self, name, required):
        return {"name": name, "type": "T", "required": required, "schema": self.schema()}

    def route(self, name):
        segments, parameters, placeholders = [f"m{self.index}", name], [], []
        for parameter in self.random.sample(["a", "b", "c", "d"], self.random.randrange(4)):
            parameters.append(self.parameter(parameter, self.chance(0.5)))
            if not parameters[-1]["required"] and self.chance(0.5):
                parameters[-1]["default"] = "a default"
        if self.chance(0.3):
            schema = self.random.choice([{"type": "string"}, dict(INT64)])
            parameters.append({"name": "place", "type": "T", "required": True, "schema": schema})
            placeholders.append({"name": "place", "type": "T", "captured": True, "schema": schema})
            segments.append("{place}")
        return {
            "pattern": "app://" + "/".join(segments), "module": f"M{self.index}", "action": name, "exposed": ["calls"],
            "parameters": parameters, "reply": "T", "replySchema": self.schema(3),
            "addresses": [{"scheme": "app", "exact": True, "segments": segments, "parameters": placeholders}],
        }

    def document(self):
        for _ in range(self.random.randrange(1, 5)):
            self.named(self.declaration())
        # A type may contain itself in a property that may be missing.
        for name, schema in self.schemas.items():
            if "properties" in schema and "kind" not in schema["properties"] and self.chance(0.3):
                schema["properties"]["self"] = {"$ref": REFERENCE + name}
        routes = [self.route(f"r{number}") for number in range(self.random.randrange(1, 4))]
        return {"waybill": 1, "title": "Pair", "version": "1.0.0", "routes": routes, "components": {"schemas": self.schemas}}

    def changed(self, old):
        """Returns the document after some changes."""
        new = copy.deepcopy(old)
        self.schemas = new["components"]["schemas"]
        for _ in range(self.random.randrange(1, 4)):
            if self.chance(0.3):
                self.change_route(new["routes"])
            else:
                holder, key = self.random.choice(list(places(new)))
                holder[key] = self.change(holder[key])
        for route in new["routes"]:
            # A placeholder has the schema of its parameter.
            for placeholder in route["addresses"][0]["parameters"]:
                placeholder["schema"] = next(p["schema"] for p in route["parameters"] if p["name"] == placeholder["name"])
        return new

    def change_route(self, routes):
        route = self.random.choice(routes)
        others = [parameter for parameter in route["parameters"] if parameter["name"] != "place"]
        kind = self.random.randrange(9)
        if kind == 0:
            routes.append(self.route("added"))
        elif kind == 1 and len(routes) > 1:
            routes.remove(route)
        elif kind in (2, 3, 4):
            route["parameters"].append(self.parameter(f"n{len(route['parameters'])}", kind == 4))
        elif kind in (5, 6) and others:
            parameter = self.random.choice(others)
            parameter["required"] = not parameter["required"]
        elif kind == 7 and others:
            route["parameters"].remove(self.random.choice(others))
        else:
            self.random.shuffle(route["parameters"])
            route["action"], route["module"] = "renamed", "Another"

    def change(self, schema):
        """Returns a schema that is wider, narrower, written in another way, or another schema."""
        schema = copy.deepcopy(schema)
        kind = self.random.randrange(12)
        if kind == 0:
            return nullable(schema)
        if kind == 1:
            return without_null(schema)
        if kind == 2:
            return {"allOf": [schema]}
        if kind == 3:
            return self.schema()
        if "$ref" in schema:
            target = self.schemas[schema["$ref"].removeprefix(REFERENCE)]
            return self.named(copy.deepcopy(target) if kind < 8 else self.change(target))
        if "oneOf" in schema:
            return self.change_union(schema, kind)
        if "enum" in schema:
            cases = ["a", "b", "c", "d e", "f"] if schema["type"] == "string" else [1, 2, -3, 400, 5]
            free = [case for case in cases if case not in schema["enum"]]
            if kind < 7 or len(schema["enum"]) == 1:
                schema["enum"].append(free[0])
            elif kind < 10:
                schema["enum"].pop()
            else:
                del schema["enum"]
            return schema
        if "properties" in schema:
            return self.change_object(schema, kind)
        if schema.get("type") == "integer":
            if kind < 7:
                bounds = self.random.choice([(-(2**63), 2**63 - 1), (-128, 127), (0, 2**32 - 1), (None, None)])
                schema = {"type": "integer"}
                return schema if bounds[0] is None else schema | {"minimum": bounds[0], "maximum": bounds[1]}
            return {"type": "number", "format": "double"} if kind < 10 else {"type": "string"}
        if schema.get("type") == "number":
            return dict(INT64) if kind < 6 else {"type": "number"} | ({} if "format" in schema else {"format": "double"})
        if schema.get("type") == "string":
            choices = [{}, {"format": "date-time"}, {"format": "uuid"}, {"contentEncoding": "base64"}, {"enum": ["a", "b"]},
                       {"maxLength": 4}]
            return {"type": "string"} | self.random.choice(choices)
        if schema.get("type") == "object":
            return self.random.choice([self.object(), {"type": "object"}, {"type": "object", "additionalProperties": self.plain()}])
        if schema.get("type") == "array":
            return {"type": "array"} | self.random.choice([{}, {"items": self.plain()}, {"items": schema.get("items", {})}])
        return self.schema()

    def change_object(self, schema, kind):
        properties, required = schema["properties"], schema.setdefault("required", [])
        name = self.random.choice(sorted(properties) or ["none"])
        if kind < 8 or not properties:
            properties["added"] = self.schema()
            required += ["added"] if kind == 4 else []
        elif name != "kind" and kind < 10:
            required.remove(name) if name in required else required.append(name)
        elif name != "kind":
            del properties[name]
            schema["required"] = [other for other in required if other != name]
        return schema

    def change_union(self, schema, kind):
        options = schema["oneOf"]
        if kind < 6:
            options.append(self.object("four"))
        elif kind < 8 and len(options) > 2:
            options.pop()
        elif kind < 10:
            number = self.random.randrange(len(options))
            options[number] = self.change(options[number])
        else:
            self.random.shuffle(options)
        return schema


def nullable(schema):
    if isinstance(schema.get("type"), str):
        return schema | {"type": [schema["type"], "null"]} | ({"enum": schema["enum"] + [None]} if "enum" in schema else {})
    isNullable = schema.keys() & {"type", "anyOf", "x-waybill-opaque"}
    return schema if isNullable else {"anyOf": [schema, {"type": "null"}]}


def is_only_itself(name, schemas):
    """Returns whether a declaration permits its own values and nothing else but null, as no type of a program does."""
    waiting, seen = [schemas[name]], set()
    while waiting:
        schema = waiting.pop()
        waiting += schema.get("allOf", []) + schema.get("anyOf", []) + schema.get("oneOf", [])
        target = schema.get("$ref", "").removeprefix(REFERENCE)
        if target == name:
            return True
        if target and target not in seen:
            seen.add(target)
            waiting.append(schemas[target])
    return False


def without_null(schema):
    """Returns a schema that does not permit null itself."""
    if isinstance(schema.get("type"), list):
        schema = schema | {"type": schema["type"][0]}
        return schema | {"enum": [case for case in schema["enum"] if case is not None]} if "enum" in schema else schema
    return schema["anyOf"][0] if "anyOf" in schema else schema


def places(document):
    """Yields each place of a schema, as its container and its key."""

    def inner(schema):
        for name in "items", "additionalProperties":
            if name in schema:
                yield schema, name
                yield from inner(schema[name])
        for name, value in schema.get("properties", {}).items():
            if "const" not in value:
                yield schema["properties"], name
                yield from inner(value)
        for word in "anyOf", "oneOf":
            for option in schema.get(word, []):
                yield from inner(option)

    for route in document["routes"]:
        for holder, key in [(parameter, "schema") for parameter in route["parameters"]] + [(route, "replySchema")]:
            if holder.get("name") != "place":
                yield holder, key
                yield from inner(holder[key])
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        if "const" not in schema.get("properties", {}).get("kind", {}):
            yield schemas, name
        yield from inner(schema)


class Values:
    """Random values of the schemas of a document."""

    def __init__(self, document, seed):
        self.schemas = document["components"]["schemas"]
        self.random = random.Random(seed)

    def value(self, schema, depth=0):
        pick = self.random.choice
        if "$ref" in schema:
            return self.value(self.schemas[schema["$ref"].removeprefix(REFERENCE)], depth)
        for word in "allOf", "anyOf", "oneOf":
            if word in schema:
                return self.value(pick(schema[word]), depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return pick(schema["enum"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self.value(schema | {"type": pick(kind)}, depth)
        if kind == "array":
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(pick([0, 1, 2]) if depth < 5 else 0)]
        if kind == "object":
            return self.object(schema, depth)
        if kind == "integer":
            low, high = schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1)
            return pick([low, high, max(low, min(high, 7))])
        if kind == "string":
            return self.text(schema)
        others = {"null": [None], "boolean": [True, False], "number": [0.5, -2.25, 3, 1e9]}
        return pick(others.get(kind, [None, 1, "x", [1, "y"], {"a": None, "b": [0.5]}]))

    def argument(self, parameter):
        # In a document of a bus, a required parameter is never null.
        value = self.value(without_null(parameter["schema"]) if parameter["required"] else parameter["schema"])
        # A segment of a URL is never empty.
        return "1" if parameter["name"] == "place" and value == "" else value

    def text(self, schema):
        if schema.get("format") == "date-time":
            return self.random.choice(["2026-11-21T08:30:00.125Z", "1969-12-31T23:59:59.000Z"])
        if schema.get("format") == "uuid":
            return str(uuid.UUID(int=self.random.getrandbits(128))).upper()
        if "contentEncoding" in schema:
            return base64.b64encode(self.random.randbytes(self.random.randrange(5))).decode()
        return self.random.choice(["", "a b/c", "größe 😀", "1"])[: schema.get("maxLength", 100)]

    def object(self, schema, depth):
        required, found = schema.get("required", []), {}
        for name, value in schema.get("properties", {}).items():
            if name in required or depth < 5 and self.random.random() < 0.6:
                # A server may send null for a property that may be missing.
                isNull = name not in required and self.random.random() < 0.2
                found[name] = None if isNull else self.value(value, depth + 1)
        if "properties" not in schema and depth < 5:
            found = {name: self.value(schema.get("additionalProperties", {}), depth + 1) for name in "xy"}
        return found


class Calls:
    """Writes the source code of calls with a generated client."""

    def __init__(self, schemas, quote):
        self.schemas = schemas
        self.quote = quote

    def isDeclared(self, schema):
        return "properties" in schema or "enum" in schema or "oneOf" in schema

    def expression(self, schema, value):
        if not schema.keys() & {"type", "$ref", "allOf", "anyOf"}:
            return self.opaque(value)
        if value is None:
            return self.null
        if "allOf" in schema or "anyOf" in schema:
            return self.expression((schema.get("allOf") or schema["anyOf"])[0], value)
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(REFERENCE)
            if self.isDeclared(self.schemas[name]):
                return self.declared(name, value)
            return self.expression(self.schemas[name], value)
        kind = schema.get("type")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "array":
            return f"[{', '.join(self.expression(schema['items'], item) for item in value)}]"
        if kind == "object" and "additionalProperties" in schema:
            return self.dictionary({name: self.expression(schema["additionalProperties"], item) for name, item in value.items()})
        if kind == "string" and schema.keys() & {"format", "contentEncoding"}:
            return self.text(schema.get("format"), value)
        if kind == "number" and "format" not in schema:
            return self.decimal(value)
        if kind == "integer":
            return self.integer(schema, value)
        return self.json(value)

    def opaque(self, value):
        return self.json(value)

    def dictionary(self, items):
        return "{" + ", ".join(f"{self.quote(name)}: {item}" for name, item in items.items()) + "}"


class PythonCalls(Calls):
    null = "None"

    def declared(self, name, value):
        return f"client._decode_{name}(client._loads({json.dumps(value).encode()!r}))"

    def text(self, kind, value):
        return f"client.{ {'date-time': '_date', 'uuid': '_uuid'}.get(kind, '_bytes')}({value!r})"

    def decimal(self, value):
        return f"Decimal('{value}')"

    def integer(self, schema, value):
        return repr(value)

    def json(self, value):
        return repr(value)

    def call(self, number, module, action, arguments):
        given = ", ".join(f"{name}={text}" for name, text in arguments.items())
        return f"async def call_{number}(it: client.PairsClient) -> object:\n    return await it.{module}.{action}({given})\n"


class ScriptCalls(Calls):
    null = "null"

    def declared(self, name, value):
        return f"client.{name}.decode(client.parseJSON({json.dumps(json.dumps(value))}))"

    def text(self, kind, value):
        value = json.dumps(value)
        return {"date-time": f"new Date({value})", "uuid": value}.get(kind, f"bytes({value})")

    def decimal(self, value):
        return f"'{value}'"

    def integer(self, schema, value):
        isLong = schema.get("maximum", 2**63) >= 2**32
        return f"{value}n" if isLong else str(value)

    def json(self, value):
        return json.dumps(value)

    def call(self, number, module, action, arguments):
        given = ", ".join(f"{name}: {text}" for name, text in arguments.items() if text != "null" or name in self.required)
        return f"export const call_{number} = async (it: client.PairsClient): Promise<unknown> => it.{module}.{action}({{ {given} }});\n"


class SwiftCalls(Calls):
    null = "nil"

    def quoted(self, value):
        return f'##"{json.dumps(value)}"##'

    def declared(self, name, value):
        return f"decode(PairsClient.{name}.self, {self.quoted(value)})"

    def text(self, kind, value):
        types = {"date-time": "Date", "uuid": "UUID"}
        return f"decode({types.get(kind, 'Data')}.self, {self.quoted(value)})"

    def decimal(self, value):
        return f"decode(Decimal.self, {self.quoted(value)})"

    def integer(self, schema, value):
        return str(value)

    def json(self, value):
        if isinstance(value, (list, dict)):
            types = {list: "[PairsClient.JSONValue]", dict: "[String: PairsClient.JSONValue]"}
            return f"decode({types[type(value)]}.self, {self.quoted(value)})"
        return json.dumps(value, ensure_ascii=False)

    def dictionary(self, items):
        return f"[{', '.join(f'{self.quote(name)}: {item}' for name, item in items.items()) or ':'}]"

    def opaque(self, value):
        return f"decode(PairsClient.JSONValue.self, {self.quoted(value)})"

    def call(self, number, module, action, arguments):
        given = ", ".join(f"{name}: {text}" for name, text in arguments.items())
        return f"func call_{number}(_ it: PairsClient) async throws {{ _ = try await it.{module}.{action}({given}) }}"


SWIFT_HEAD = """import Foundation
import Waybill
import WaybillServe

func decode<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
        let text = try decoder.singleValueContainer().decode(String.self)
        return try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    }
    return try decoder.decode(type, from: Data(json.utf8))
}

"""

SWIFT_TAIL = """
let it = try PairsClient(RPCConnector(.unix(CommandLine.arguments[1])))
for (number, call) in calls.enumerated() {
    do { try await call(it) } catch { print("\\(number) \\(error)") }
}
"""

SCRIPT_HEAD = """const bytes = (text: string): Uint8Array => Uint8Array.from(atob(text), (item) => item.charCodeAt(0));
void bytes;
"""


def calls():
    """Writes the calls of each client, and cases.json with the replies that the new server sends."""
    pairs, cases, texts = read("pairs.json"), [], {}
    for client, index in read("kept.json"):
        old, new = pairs[index]
        values, replies = Values(old, f"{index} old"), Values(new, f"{index} new")
        schemas = old["components"]["schemas"]
        python, script = PythonCalls(schemas, repr), ScriptCalls(schemas, json.dumps)
        swift = SwiftCalls(schemas, json.dumps)
        for number, route in enumerate(old["routes"]):
            now = next(r for r in new["routes"] if r["addresses"][0]["segments"] == route["addresses"][0]["segments"])
            for _ in range(CALLS):
                arguments = [
                    (parameter, values.argument(parameter))
                    for parameter in route["parameters"] if parameter["required"] or values.random.random() < 0.7
                ]
                script.required = [parameter["name"] for parameter, _ in arguments if parameter["required"]]
                heads = {"py": f"from decimal import Decimal\n\nimport client_{client} as client\n\n", "swift": SWIFT_HEAD,
                         "ts": f'import * as client from "./client_{client}.js";\n{SCRIPT_HEAD}'}
                arguments.sort(key=lambda argument: not argument[0]["required"])
                for calls, ending in (python, "py"), (script, "ts"), (swift, "swift"):
                    text = {p["name"]: calls.expression(p["schema"], value) for p, value in arguments}
                    head = heads[ending]
                    texts.setdefault(f"calls_{client}.{ending}", [head]).append(
                        calls.call(len(cases), f"m{index}", route["action"], text))
                cases.append({"client": client, "pair": index, "route": number, "reply": json.dumps(replies.value(now["replySchema"]))})
    for name, lines in texts.items():
        if name.endswith(".swift"):
            own = [number for number, case in enumerate(cases) if name == f"calls_{case['client']}.swift"]
            functions = ", ".join(f"call_{number}" for number in own)
            lines += [f"let calls: [(PairsClient) async throws -> Void] = [{functions}]", SWIFT_TAIL]
        Path(name).write_text("\n".join(lines), "utf-8")
    write("cases.json", cases)


async def run():
    """Makes the calls in Python, and writes the sent values to sent_python.json."""
    sent = []

    class Transport:
        def __init__(self, reply):
            self.reply = reply

        async def call(self, request, deadline):
            sent[-1] |= {"url": request.url, "values": json.loads(module._dumps(request.values))}
            return module._loads(self.reply.encode())

    for number, case in enumerate(read("cases.json")):
        module = importlib.import_module(f"client_{case['client']}")
        calls = importlib.import_module(f"calls_{case['client']}")
        client = module.PairsClient("nowhere")
        client._transport = Transport(case["reply"])
        sent.append({})
        try:
            await getattr(calls, f"call_{number}")(client)
        except Exception as error:
            sent[-1]["error"] = f"{type(error).__name__}: {error}"
    write("sent_python.json", sent)


def has_required_null(schema):
    """Returns whether a schema has a required property that may be null.

    No document of a bus has such a property, and the client in Swift omits a property that is nil.
    """
    options = schema.get("oneOf", [schema])
    return any(
        option["properties"][name] != without_null(option["properties"][name])
        for option in options for name in option.get("required", [])
    )


def keep(waybill, count):
    """Keeps pairs as one client, with the command `waybill diff`."""
    pairs, kept, merged = read("pairs.json"), [], None
    for index, (old, new) in enumerate(pairs):
        if any(has_required_null(schema) for schema in old["components"]["schemas"].values()):
            continue
        write("old.json", old)
        write("new.json", new)
        status = subprocess.run([waybill, "diff", "old.json", "new.json"], stdout=subprocess.DEVNULL).returncode
        assert status in (0, 1), status
        if status == 0:
            kept.append([0, index])
            merged = merged or {**old, "routes": [], "components": {"schemas": {}}}
            merged["routes"] += old["routes"]
            merged["components"]["schemas"] |= old["components"]["schemas"]
        if len(kept) == count:
            break
    assert len(kept) == count, len(kept)
    write("kept.json", kept)
    write("merged.json", merged)


def serve(path):
    """Replies to one client in the order of the calls, and writes the sent values to sent_swift.json."""
    cases = read("cases.json")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        connection, _ = server.accept()
    sent = []
    with connection, connection.makefile("rw", encoding="utf-8") as lines:
        while line := lines.readline():
            frame = json.loads(line)
            sent.append({"url": frame["method"], "values": frame.get("params", {})})
            sent[-1]["values"].pop("$waybill", None)
            lines.write(f'{{"jsonrpc": "2.0", "id": {frame["id"]}, "result": {cases[len(sent) - 1]["reply"]}}}\n')
            lines.flush()
    write("sent_swift.json", sent)


def accepted(schema, value, schemas):
    """Returns a value without the nulls of optional properties, because such a null means a missing property."""
    if "$ref" in schema:
        return accepted(schemas[schema["$ref"].removeprefix(REFERENCE)], value, schemas)
    for option in schema.get("allOf", []) + schema.get("anyOf", []):
        value = accepted(option, value, schemas)
    if "oneOf" in schema and isinstance(value, dict):
        for option in schema["oneOf"]:
            plain = option
            while "$ref" in plain or "allOf" in plain:
                plain = schemas[plain["$ref"].removeprefix(REFERENCE)] if "$ref" in plain else plain["allOf"][0]
            if plain["properties"]["kind"]["const"] == value.get("kind"):
                value = accepted(plain, value, schemas)
    if isinstance(value, list) and "items" in schema:
        return [accepted(schema["items"], item, schemas) for item in value]
    if isinstance(value, dict):
        known, required = schema.get("properties", {}), schema.get("required", [])
        value = {name: item for name, item in value.items() if item is not None or name in required or name not in known}
        rest = schema.get("additionalProperties", {})
        return {name: accepted(known.get(name, rest), item, schemas) for name, item in value.items()}
    return value


def check(name):
    import jsonschema

    formats = jsonschema.FormatChecker(formats=[])
    formats.checks("date-time", ValueError)(lambda value: not isinstance(value, str) or bool(datetime.fromisoformat(value)))
    formats.checks("uuid", ValueError)(lambda value: not isinstance(value, str) or bool(uuid.UUID(value)))
    pairs, problems = read("pairs.json"), []
    cases, sent = read("cases.json"), read(f"sent_{name}.json")
    assert len(sent) == len(cases), (len(sent), len(cases))
    if name == "swift":
        for line in Path("errors_swift").read_text("utf-8").splitlines():
            number, _, error = line.partition(" ")
            sent[int(number)]["error"] = error
    for case, result in zip(cases, sent):
        old, new = pairs[case["pair"]]
        before = old["routes"][case["route"]]
        now = next(r for r in new["routes"] if r["addresses"][0]["segments"] == before["addresses"][0]["segments"])
        schemas = new["components"]["schemas"]
        try:
            assert "error" not in result, f"{result.get('error')} for the reply {case['reply']}"
            values = dict(result["values"])
            path = urllib.parse.urlsplit(result["url"]).path.split("/")[1:]
            for segment, text in zip(now["addresses"][0]["segments"][1:], path, strict=True):
                if segment.startswith("{"):
                    isText = now["addresses"][0]["parameters"][0]["schema"]["type"] == "string"
                    values[segment[1:-1]] = urllib.parse.unquote(text) if isText else int(text)
                else:
                    assert segment == text, result["url"]
            for parameter in now["parameters"]:
                value = values.pop(parameter["name"], None) if not parameter["required"] else values.pop(parameter["name"])
                if value is None and not parameter["required"]:
                    continue
                value = accepted(parameter["schema"], value, schemas)
                schema = {**parameter["schema"], "components": {"schemas": schemas}}
                jsonschema.Draft202012Validator(schema, format_checker=formats).validate(value)
            assert not values, f"unknown parameters: {values}"
        except Exception as error:
            text = error.message if isinstance(error, jsonschema.ValidationError) else f"{type(error).__name__}: {error}"
            problems.append(f"pair {case['pair']}, {before['pattern']}: {text}")
    for problem in problems[:20]:
        print(problem)
    print(f"{len(cases)} calls, {len(problems)} problems")
    return not problems


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    if mode == "make":
        made = []
        for index in range(int(rest[1])):
            maker = Maker(rest[0], index)
            old = maker.document()
            made.append([copy.deepcopy(old), maker.changed(old)])
            schemas = made[-1][1]["components"]["schemas"]
            if any(is_only_itself(name, schemas) for name in schemas):
                made[-1][1] = made[-1][0]
            try:
                values = Values(made[-1][1], index)
                for schema in [*values.schemas.values(), *(route["replySchema"] for route in made[-1][1]["routes"])] * 20:
                    values.value(schema)
            except RecursionError:
                # A required property now contains its own type, so the type has no finite values, or few of them.
                made[-1][1] = made[-1][0]
        write("pairs.json", made)
    elif mode == "keep":
        keep(rest[0], int(rest[1]))
    elif mode == "serve":
        serve(rest[0])
    elif mode == "calls":
        calls()
    elif mode == "run":
        asyncio.run(run())
    else:
        sys.exit(not check(rest[0]))
