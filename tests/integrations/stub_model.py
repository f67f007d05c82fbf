"""An OpenAI-compatible server for tests: answers "X is y.", or with the status that the model names."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        status, answer = 200, {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop",
                         "message": {"role": "assistant", "content": "X is y."}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
        if self.path.endswith("/embeddings"):
            answer = {"object": "list", "model": "e", "usage": {"prompt_tokens": 1, "total_tokens": 1},
                      "data": [{"object": "embedding", "index": 0, "embedding": "AACAPwAAAEA="}]}
        elif body["model"].startswith("err"):
            status = int(body["model"][3:])
            answer = {"error": {"message": "down", "type": "server_error", "param": None, "code": None}}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def start():
    """Serves until the process ends. Returns the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"
