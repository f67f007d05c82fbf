"""HTTP calls and checks for the scripts of the source systems' examples."""

import json
import math
import urllib.error
import urllib.parse
import urllib.request


class Failed(Exception):
    """An answer was not as the step says."""


class Client:
    """Calls one tenant of a server. A status other than 2xx fails the step."""

    def __init__(self, url, tenant, project="default"):
        self.url, self.tenant, self.project = url, tenant, project

    def send(self, method, path, body=None, headers=None):
        """Returns status and JSON body."""
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("X-Uptake-Tenant", self.tenant)
        request.add_header("X-Uptake-Project", self.project)
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                status, text = response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        lines = text.splitlines()
        if len(lines) > 1:
            return status, [json.loads(line) for line in lines]
        return status, json.loads(text) if text else None

    def call(self, method, path, body=None, headers=None):
        status, answer = self.send(method, path, body, headers)
        if not 200 <= status < 300:
            raise Failed(f"{method} {path} was answered with {status}: {json.dumps(answer)}")
        return answer

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None):
        return self.call("POST", path, {} if body is None else body)

    def put(self, path, body):
        return self.call("PUT", path, body)

    def turn(self, **fields):
        return self.post("/api/v1/turns", fields)


def quote(name):
    """An id as one segment of a path."""
    return urllib.parse.quote(name, safe="")


def expect(actual, expected, label=""):
    """Compares the fields that `expected` has. Numbers agree to 1e-9, a function decides by itself."""
    at = label or "the answer"
    if callable(expected):
        if not expected(actual):
            raise Failed(f"{at} is {json.dumps(actual)}, {expected.__doc__ or 'which is not expected'}")
    elif isinstance(expected, dict):
        if not isinstance(actual, dict):
            raise Failed(f"{at} is {json.dumps(actual)}, expected an object")
        for name, value in expected.items():
            if name not in actual:
                raise Failed(f"{at} has no {name}: {json.dumps(actual)}")
            expect(actual[name], value, f"{label}.{name}" if label else name)
    elif isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            raise Failed(f"{at} is {json.dumps(actual)}, expected {len(expected)} items")
        for index, (one, value) in enumerate(zip(actual, expected)):
            expect(one, value, f"{label}[{index}]")
    elif isinstance(expected, float) and isinstance(actual, (int, float)):
        if not math.isclose(actual, expected, rel_tol=1e-9, abs_tol=1e-9):
            raise Failed(f"{at} is {actual}, expected {expected}")
    elif actual != expected:
        raise Failed(f"{at} is {json.dumps(actual)}, expected {json.dumps(expected)}")


def at_least(limit):
    def check(value):
        return isinstance(value, (int, float)) and value >= limit
    check.__doc__ = f"expected at least {limit}"
    return check


def holds(*parts):
    def check(text):
        return isinstance(text, str) and all(part in text for part in parts)
    check.__doc__ = f"expected a text with {parts}"
    return check


class Section:
    """The examples of one system, in order. Later steps may use what earlier ones stored."""

    def __init__(self, name, title, tenant, project="default"):
        self.name, self.title, self.tenant, self.project = name, title, tenant, project
        self.steps = []

    def step(self, text, differs=None):
        """A step. `differs` says how Uptake deliberately differs from the document."""
        def register(run):
            self.steps.append((text, differs, run))
            return run
        return register
