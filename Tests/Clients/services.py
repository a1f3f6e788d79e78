"""What the services API of NATS (ADR-32) answers, as JSON schemas: the fields of the `io.nats.micro.v1` responses."""
import datetime

import jsonschema

NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"}
TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
METADATA = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
# As https://semver.org has it.
VERSION = {"type": "string", "pattern": r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$"}


def fields(required, **optional):
    return {"type": "object", "required": list(required), "properties": required | optional}


def response(kind, **required):
    known = {"type": {"const": f"io.nats.micro.v1.{kind}_response"}, "name": NAME, "id": TEXT, "version": VERSION}
    return fields(known | required, metadata=METADATA)


endpoint = {"name": NAME, "subject": TEXT}
figures = {name: COUNT for name in ["num_requests", "num_errors", "processing_time", "average_processing_time"]}
SCHEMAS = {
    "PING": response("ping"),
    "INFO": response(
        "info", description={"type": "string"},
        endpoints={"type": "array", "items": fields(endpoint, queue_group=TEXT, metadata=METADATA)},
    ),
    "STATS": response(
        "stats", started={"type": "string"},
        endpoints={
            "type": "array",
            "items": fields(endpoint | figures | {"last_error": {"type": "string"}}, queue_group=TEXT, data={"type": "object"}),
        },
    ),
}


def check(verb, answer):
    """Raises what is wrong with an answer to `$SRV.VERB`."""
    jsonschema.validate(answer, SCHEMAS[verb])
    if "started" in answer:
        assert datetime.datetime.fromisoformat(answer["started"]).tzinfo, answer
