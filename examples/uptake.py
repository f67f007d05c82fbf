"""The client that the examples share, with Python's standard library only. Copy it, or use any HTTP client.

UPTAKE_URL says where the server is (http://127.0.0.1:8787 if it is not set). A server with keys wants one in
UPTAKE_KEY: uptake keys create --tenant examples --role admin
"""

import json
import os
import sys
import urllib.error
import urllib.request
import uuid


class Uptake:
    """A client for the tenant `examples`, so that your own data is not affected. Each run uses a new project and
    starts without data."""

    def __init__(self, example):
        self.url = os.environ.get("UPTAKE_URL", "http://127.0.0.1:8787").rstrip("/")
        self.tenant = os.environ.get("UPTAKE_TENANT", "examples")
        self.project = f"{example}-{uuid.uuid4().hex[:6]}"

    def get(self, path):
        return self.call("GET", path, None)

    def post(self, path, body):
        return self.call("POST", path, body)

    def put(self, path, body):
        return self.call("PUT", path, body)

    def react(self, conversation, turn, body):
        """Sends a reaction of the user to an answer."""
        return self.post(f"/conversations/{self.tenant}/{self.project}/{conversation}/turns/{turn}/feedback", body)

    def call(self, method, path, body):
        headers = {"Content-Type": "application/json", "X-Uptake-Tenant": self.tenant}
        headers["X-Uptake-Project"] = self.project
        if key := os.environ.get("UPTAKE_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            # The error names the field, the value received and the expectation.
            sys.exit(f"{method} {path}: {refused.code} {json.load(refused)['detail']}")
        except urllib.error.URLError as away:
            sys.exit(f"no server answers at {self.url} ({away.reason}); start one with `make run`")


def expect(is_so, what):
    """Ends the program with an error when the expected result is missing."""
    print(("learnt: " if is_so else "NOT LEARNT: ") + what)
    if not is_so:
        sys.exit(1)
