"""A model that says what its script says: OpenAI's chat completions and responses, on loopback, for agents offline.

The name of the model is the script. Nothing is remembered: which line is next follows from how many answers of the model
the request already holds. `python model_server.py [PORT]`, then `OPENAI_BASE_URL=http://localhost:PORT/v1`.
"""

import json
import sys
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIX = ("edit_file", {"path": "src/calc.py", "old": "a - b", "new": "a + b"})
TESTS = ("bash", {"command": "pytest -q"})
# A line is a call (tool, arguments), or the text that ends the run.
SCRIPTS = {
    "healthy": [("read_file", {"path": "src/calc.py"}), FIX, TESTS, "Fixed add() in src/calc.py; the 3 tests pass."],
    "stuck": [("read_file", {"path": "src/missing.py"})] * 4 + ["I could not read the file."],
    "premature": [TESTS, FIX, "Done! I fixed the bug and all tests pass."],
}


def line(request):
    """The next line of the script, as (tool, arguments) or a text."""
    script = SCRIPTS[request["model"]]
    said = request.get("messages") or request.get("input") or []
    answers = [m for m in said if isinstance(m, dict) and (m.get("role") == "assistant" or m.get("type") == "function_call")]
    answer = script[min(len(answers), len(script) - 1)]
    offered = [tool.get("name") or tool.get("function", {}).get("name") for tool in request.get("tools") or []]
    if isinstance(answer, str) and "final_answer" in offered:
        return "final_answer", {"answer": answer}
    return answer


def chat(model, answer):
    """The answer as a chat completion."""
    message = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if not isinstance(answer, str):
        function = {"name": answer[0], "arguments": json.dumps(answer[1])}
        message["tool_calls"] = [{"id": f"call_{uuid.uuid4().hex[:12]}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": "stop" if isinstance(answer, str) else "tool_calls"}
    usage = {"prompt_tokens": 120, "completion_tokens": 20, "total_tokens": 140}
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": "chat.completion", "created": 0, "model": model, "choices": [choice], "usage": usage}


def response(model, answer):
    """The answer in the form of the responses API."""
    if isinstance(answer, str):
        text = {"type": "output_text", "text": answer, "annotations": []}
        item = {"type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed", "content": [text]}
    else:
        item = {"type": "function_call", "id": f"fc_{uuid.uuid4().hex}", "call_id": f"call_{uuid.uuid4().hex[:12]}", "status": "completed"}
        item |= {"name": answer[0], "arguments": json.dumps(answer[1])}
    usage = {"input_tokens": 120, "output_tokens": 20, "total_tokens": 140}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    head = {"id": f"resp_{uuid.uuid4().hex}", "object": "response", "created_at": 0, "status": "completed", "model": model}
    return head | {"output": [item], "usage": usage, "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Agents talk; nobody has to read along."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        make = response if self.path.endswith("/responses") else chat
        body = json.dumps(make(request["model"], line(request))).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve(port=0):
    """A server on loopback, not yet serving; `server_address` tells its port."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8811).serve_forever()
