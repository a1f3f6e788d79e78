"""Checks the documents of a program's routes.

    formats.py FOLDER [ASYNCAPI-SCHEMA]

AsyncAPI is checked with its published schema, and OpenAPI with openapi-spec-validator. Each reference must lead to a value,
each schema must be valid, and each document must contain exactly the routes of the program. The folder holds routes.json
(`routes --json`), document.json, asyncapi.json, openapi-3.1.json and openapi-3.2.json.
"""
import json
import sys

import jsonschema
from openapi_spec_validator import validate

folder, schema = sys.argv[1], (sys.argv[2] if len(sys.argv) > 2 else None)


def load(name):
    with open(f"{folder}/{name}") as file:
        return json.load(file)


def references(value, root, path="#"):
    if isinstance(value, dict):
        target = value.get("$ref")
        if isinstance(target, str):
            found = root
            for step in target.removeprefix("#/").split("/"):
                found = found[step.replace("~1", "/").replace("~0", "~")]
        for name, member in value.items():
            references(member, root, f"{path}/{name}")
    elif isinstance(value, list):
        for element in value:
            references(element, root, path)


routes, document, asyncapi = load("routes.json"), load("document.json"), load("asyncapi.json")
patterns = sorted(route["pattern"] for route in routes)
assert sorted(route["pattern"] for route in document["routes"]) == patterns, "document.json has other routes"
assert sorted({c["x-waybill-pattern"] for c in asyncapi["channels"].values() if "x-waybill-pattern" in c}) == \
    sorted(set(patterns)), "asyncapi.json has other routes"
references(asyncapi, asyncapi)
references(document, document)
for name, one in document["components"]["schemas"].items():
    jsonschema.Draft202012Validator.check_schema(one)

# A sample must match the schema of its own kind, and no other schema of the channel.
for name, channel in asyncapi["channels"].items():
    if not name.endswith(".reply"):
        continue
    messages = {}
    for key, message in channel["messages"].items():
        if "$ref" in message:
            message = asyncapi["components"]["messages"][message["$ref"].rsplit("/", 1)[1]]
        messages[key] = message["payload"]
    samples = [{"kind": "failure", "code": "noRoute", "message": "x"}]
    # A route that declares its progress replies allows only values of that type.
    if "x-waybill-opaque" in messages["Progress"]["properties"]["value"]:
        samples.append({"kind": "progress", "value": 1})
    for sample in samples:
        valid = [key for key, payload in messages.items() if jsonschema.Draft202012Validator(
            {**payload, "components": asyncapi["components"]}).is_valid(sample)]
        assert valid == [sample["kind"].capitalize()], (name, valid)

if schema:
    with open(schema) as file:
        published = json.load(file)
    errors = list(jsonschema.Draft7Validator(published).iter_errors(asyncapi))
    for error in errors[:10]:
        print("asyncapi:", "/".join(map(str, error.absolute_path)), error.message[:300], file=sys.stderr)
    if errors:
        sys.exit("asyncapi.json is not valid by the published schema")

called = sorted({r["pattern"] for r in document["routes"] if "calls" in r["exposed"]})
for version in ("3.1", "3.2"):
    openapi = load(f"openapi-{version}.json")
    validate(openapi)
    references(openapi, openapi)
    found = {p["x-waybill-pattern"] for p in openapi["paths"].values()}
    found |= {other for p in openapi["paths"].values() for other in p.get("x-waybill-others", [])}
    assert sorted(found) == called, f"openapi-{version}.json has other routes"

print(f"documents: {len(patterns)} routes, {len(called)} of them by HTTP; AsyncAPI "
      + ("valid by its published schema" if schema else "without its published schema") + ", OpenAPI valid")
