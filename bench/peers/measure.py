"""Compares Uptake with Phoenix and MLflow: the same operations on each, one after the other, on this machine.

    measure.py UPTAKE_BINARY PHOENIX_PYTHON MLFLOW_PYTHON [peer ...]

Each server gets an empty folder, its defaults, and SQLite. Turns and feedback go in by its own public API. Rates
are wrk's, the best of three; queries are the median of twenty requests. What is compared is in README.md."""

import functools
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
TURNS = int(os.environ.get("TURNS", "1000"))
ROWS = int(os.environ.get("ROWS", "10000"))
SECONDS = int(os.environ.get("SECONDS", "8"))
JSON = {"Content-Type": "application/json"}
DAY = 86_400_000


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Peer:
    """A server under test; subclasses implement start and requests."""

    name = "?"
    headers = JSON
    feedback_path = feedback_body = ""

    def __init__(self, program, folder):
        self.program, self.folder = program, Path(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def command(self):
        raise NotImplementedError

    def start(self):
        """Seconds until the server answers."""
        begun = time.monotonic()
        log = open(self.folder / "server.log", "ab")
        # In its own session, so that its workers are counted and stopped with it.
        environment = {**os.environ, **self.environment()}
        self.process = subprocess.Popen(
            self.command(), cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        while time.monotonic() - begun < 400:
            if self.process.poll() is not None:
                sys.exit(f"{self.name} ended: {(self.folder / 'server.log').read_text()[-2000:]}")
            try:
                self.ask("GET", self.health, timeout=2)
                return time.monotonic() - begun
            except (OSError, urllib.error.URLError):
                time.sleep(0.02)
        sys.exit(f"{self.name} did not start")

    def environment(self):
        return {}

    def ask(self, method, path, body=None, timeout=300):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=self.headers)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            text = answer.read()
        return json.loads(text) if text[:1] in (b"{", b"[") else None

    def processes(self):
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.getsid(int(entry.name)) == self.process.pid:
                    found.append(entry)
            except OSError:
                pass  # it ended while we looked
        return found

    def megabytes(self):
        """Proportional memory, so that memory shared by workers counts once."""
        total = 0
        for process in self.processes():
            lines = (process / "smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return total / 1000

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        for process in self.processes():
            try:
                os.kill(int(process.name), signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def load(self, connections, rounds=3):
        """The best round of single feedback requests: rate and latencies."""
        ids = self.folder / "ids.txt"
        ids.write_text("\n".join(self.ids) + "\n")
        best = None
        for _ in range(rounds):
            command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--timeout", "30s"]
            for key, value in self.headers.items():
                command += ["-H", f"{key}: {value}"]
            command += ["-s", str(HERE / "load.lua"), self.url, "--"]
            command += [self.feedback_path, self.feedback_body, str(ids), f"r{time.time_ns()}"]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            figures = json.loads(next(l for l in said.splitlines() if l.startswith("figures "))[8:])
            if figures["refused"]:
                sys.exit(f"{self.name} refused {figures['refused']} requests:\n{said}")
            if best is None or figures["per_second"] > best["per_second"]:
                best = figures
        return best

    def fill(self, rows):
        """Sends that many feedbacks on the turns, by the fastest way of the public API."""
        raise NotImplementedError

    def summary(self, n):
        """Counts of good and bad feedback."""
        raise NotImplementedError

    def list_bad(self, n):
        """A hundred turns that were rated down."""
        raise NotImplementedError


class Uptake(Peer):
    name, health = "Uptake", "/health/ready"
    feedback_path = "/api/v1/feedback"
    feedback_body = json.dumps({"id": "{n}", "type": "explicit", "source": "user_rating",
        "category": "user_satisfaction", "message_id": "{id}", "user_id": "{n}", "data": {"rating": "{rating}", "comment": "Great explanation!"}})

    def command(self):
        return [self.program, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", str(self.folder / "data")]

    def turns(self, many):
        self.ids = [f"t{n}" for n in range(many)]
        for n, turn in enumerate(self.ids):
            self.ask("POST", "/api/v1/turns", {"turn_id": turn, "conversation_id": f"c{n // 10}",
                "text": f"question {n}", "response": f"answer {n}", "model": "m"})

    def fill(self, rows):
        for first in range(0, rows, 1000):
            self.ask("POST", "/api/v1/feedback/batch", [{"id": f"f{n}", "type": "explicit", "source": "user_rating",
                "category": "user_satisfaction", "message_id": self.ids[n % len(self.ids)], "user_id": f"u{n}",
                "data": {"rating": "positive" if n % 5 else "negative", "comment": "Great explanation!"}}
                for n in range(first, min(rows, first + 1000))])

    def summary(self, _):
        return self.ask("GET", "/api/v1/feedback/quality/default")

    def list_bad(self, _):
        return self.ask("GET", "/conversations/default/default/feedback/conversations-in-period?reaction=not_ok&include_turns=true&limit=100")


class Phoenix(Peer):
    name, health = "Phoenix", "/healthz"
    feedback_path = "/v1/span_annotations?sync=true"
    feedback_body = json.dumps({"data": [{"span_id": "{id}", "name": "user_feedback", "annotator_kind": "HUMAN",
        "result": {"label": "{label}", "score": 1, "explanation": "Great explanation!"}, "identifier": "{n}"}]})

    def command(self):
        return [str(Path(self.program).parent / "phoenix"), "serve"]

    def environment(self):
        return {"PHOENIX_WORKING_DIR": str(self.folder), "PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": str(self.port),
                "PHOENIX_GRPC_PORT": str(free_port()), "PHOENIX_TELEMETRY_ENABLED": "false",
                "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false"}

    def turns(self, many):
        self.ids = [f"{n + 1:016x}" for n in range(many)]
        self.day = time.strftime("%Y-%m-%d", time.gmtime())
        for first in range(0, many, 100):
            self.ask("POST", "/v1/projects/default/spans", {"data": [{"name": "turn", "span_kind": "LLM", "status_code": "OK",
                "context": {"trace_id": f"{n + 1:032x}", "span_id": self.ids[n]},
                "start_time": f"{self.day}T00:00:00Z", "end_time": f"{self.day}T00:00:01Z",
                "attributes": {"input.value": f"question {n}", "output.value": f"answer {n}", "llm.model_name": "m"}}
                for n in range(first, min(many, first + 100))]})
        # Spans are ingested after the response.
        for _ in range(600):
            try:
                self.fill_some(range(many - 1, many))
                return
            except urllib.error.HTTPError:
                time.sleep(0.1)
        sys.exit("Phoenix did not ingest the spans")

    def fill_some(self, numbers):
        self.ask("POST", self.feedback_path, {"data": [{"span_id": self.ids[n % len(self.ids)], "name": "user_feedback",
            "annotator_kind": "HUMAN", "identifier": f"f{n}",
            "result": {"label": "ok" if n % 5 else "not_ok", "score": 1 if n % 5 else 0, "explanation": "Great explanation!"}}
            for n in numbers]})

    def fill(self, rows):
        for first in range(0, rows, 1000):
            self.fill_some(range(first, min(rows, first + 1000)))

    def graphql(self, query):
        answer = self.ask("POST", "/graphql", {"query": query})
        if answer.get("errors"):
            sys.exit(f"Phoenix: {answer['errors']}")
        return answer["data"]

    @functools.cached_property
    def project(self):
        edges = self.graphql("{projects{edges{node{id name}}}}")["projects"]["edges"]
        return next(edge["node"]["id"] for edge in edges if edge["node"]["name"] == "default")

    # The end of the window differs each time, so that no response comes from a cache.
    def window(self, n):
        return f'timeRange:{{start:"{self.day}T00:00:00Z",end:"2036-01-01T00:{n // 60:02}:{n % 60:02}Z"}}'

    def summary(self, n):
        return self.graphql('{node(id:"%s"){... on Project{spanAnnotationSummary(annotationName:"user_feedback",%s)'
            '{count meanScore labelFractions{label fraction}}}}}' % (self.project, self.window(n)))

    def list_bad(self, n):
        return self.graphql('{node(id:"%s"){... on Project{spans(first:100,%s,filterCondition:"annotations[\'user_feedback\']'
            '.label == \'not_ok\'"){edges{node{spanId spanAnnotations{label explanation}}}}}}}' % (self.project, self.window(n)))


class MLflow(Peer):
    name, health = "MLflow", "/health"
    feedback_path = "/api/3.0/mlflow/traces/{id}/assessments"
    feedback_body = json.dumps({"assessment": {"assessment_name": "user_feedback", "trace_id": "{id}",
        "source": {"source_type": "HUMAN", "source_id": "{n}"}, "feedback": {"value": "{label}"}, "rationale": "Great explanation!"}})

    def command(self):
        return [str(Path(self.program).parent / "mlflow"), "server", "--host", "127.0.0.1", "--port", str(self.port),
                "--backend-store-uri", f"sqlite:///{self.folder}/mlflow.db", "--artifacts-destination", str(self.folder / "artifacts")]

    def environment(self):
        return {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true",
                "PATH": f"{Path(self.program).parent}:{os.environ['PATH']}"}

    def turns(self, many):
        self.ids = [f"tr-{n:032x}" for n in range(many)]
        self.begun = int(time.time() * 1000)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for n, turn in enumerate(self.ids):
            self.ask("POST", "/api/3.0/mlflow/traces", {"trace": {"trace_info": {"trace_id": turn,
                "trace_location": {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}},
                "request_preview": f"question {n}", "response_preview": f"answer {n}", "request_time": now,
                "execution_duration": "1.0s", "state": "OK", "trace_metadata": {}, "tags": {}}}})

    def fill(self, rows):
        # There is no batch for assessments: 32 connections until there are enough.
        sent = 0
        while sent < rows:
            sent += self.load(32, rounds=1)["requests"]

    def summary(self, _):
        return self.ask("POST", "/api/3.0/mlflow/traces/metrics", {"experiment_ids": ["0"], "view_type": "ASSESSMENTS",
            "metric_name": "assessment_count", "aggregations": [{"aggregation_type": "COUNT"}],
            "dimensions": ["assessment_name", "assessment_value"], "start_time_ms": self.begun - DAY, "end_time_ms": self.begun + DAY})

    def list_bad(self, _):
        return self.ask("POST", "/api/3.0/mlflow/traces/search", {"max_results": 100,
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}}],
            "filter": "feedback.user_feedback = 'not_ok'"})


def milliseconds(call):
    call(0)  # what is made once is not counted
    times = []
    for n in range(1, 21):
        begun = time.monotonic()
        call(n)
        times.append((time.monotonic() - begun) * 1000)
    return statistics.median(times)


def measure(peer):
    figures = {"start": f"{peer.start():.2f} s"}
    time.sleep(2)
    figures["memory after start"] = f"{peer.megabytes():.0f} MB"
    figures["processes"] = str(len(peer.processes()))
    peer.turns(TURNS)
    peer.load(8, rounds=1)  # warm up
    for connections in (1, 32):
        best = peer.load(connections)
        clients = "1 client" if connections == 1 else f"{connections} clients"
        figures[f"one feedback, {clients}"] = f"{best['per_second']:.0f} /s"
        figures[f"one feedback, {clients}, p50"] = f"{best['p50_ms']:.2f} ms"
    peer.stop()
    return figures


def queries(peer):
    peer.start()
    peer.turns(TURNS)
    begun = time.monotonic()
    peer.fill(ROWS)
    figures = {f"{ROWS} feedbacks sent": f"{ROWS / (time.monotonic() - begun):.0f} /s"}
    figures[f"summary of {ROWS} feedbacks"] = f"{milliseconds(peer.summary):.1f} ms"
    figures["100 answers that failed"] = f"{milliseconds(peer.list_bad):.1f} ms"
    figures["memory afterwards"] = f"{peer.megabytes():.0f} MB"
    peer.stop()
    return figures


def main():
    programs = dict(zip((Uptake, Phoenix, MLflow), sys.argv[1:4]))
    wanted = [word.lower() for word in sys.argv[4:]]
    columns = {}
    for kind, program in programs.items():
        if wanted and kind.name.lower() not in wanted:
            continue
        columns[kind.name] = {}
        for part in (measure, queries):
            with tempfile.TemporaryDirectory() as folder:
                columns[kind.name].update(part(kind(program, folder)))
            print(kind.name, json.dumps(columns[kind.name]), file=sys.stderr, flush=True)
    lines = list(dict.fromkeys(line for column in columns.values() for line in column))
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for line in lines:
        print(f"| {line} | " + " | ".join(column.get(line, "") for column in columns.values()) + " |")


main()
