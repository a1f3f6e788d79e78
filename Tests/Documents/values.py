"""Sends values that match the documented schemas to a gateway, which must accept each parameter.

    values.py OPENAPI BASE-URL COUNT

hypothesis makes the values. A handler may reject a value, but the gateway may not, and an internal error is a failure.
"""
import sys

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

schema = schemathesis.openapi.from_path(sys.argv[1])
operations = [result.ok() for result in schema.get_all_operations()]
each = max(1, int(sys.argv[3]) // len(operations))
sent = 0
for operation in operations:

    @settings(max_examples=each, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE))
    def accepts(case):
        global sent
        response = case.call(base_url=sys.argv[2])
        sent += 1
        assert response.status_code < 500 and response.status_code not in (400, 415), \
            (case.as_curl_command(), response.status_code, response.text)

    accepts()
print(f"values: {sent} for {len(operations)} operations, none refused")
