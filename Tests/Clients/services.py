"""The JSON schemas of the responses of the NATS services API (ADR-32), whose types begin with `io.nats.micro.v1`."""
import datetime

import jsonschema

NAME = {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"}
TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
METADATA = {"type": ["object", "null"], "additionalProperties": {"type": "string"}}
# The form of a version that https://semver.org defines.
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
    """Raises an error if a response to `$SRV.VERB` is not valid."""
    jsonschema.validate(answer, SCHEMAS[verb])
    if "started" in answer:
        assert datetime.datetime.fromisoformat(answer["started"]).tzinfo, answer
