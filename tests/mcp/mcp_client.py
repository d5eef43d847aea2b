"""A client of `warpgrind mcp` that speaks the raw protocol: lines of JSON over the server's standard streams."""
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

SKIPPED = 77
HANG = 240  # seconds until an answer that never comes is given up


class Client:
    def __init__(self, warpgrind, *options, folder=None, before=(), errors=subprocess.PIPE):
        self.process = subprocess.Popen([*before, warpgrind, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=folder)
        self.lines = queue.Queue()
        self.number = 0
        self.outputs = {}  # schemas of the tools' results
        self.others = []  # messages that were no answer to what was asked
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def next(self, seconds=HANG):
        """The next message of the server; None: it has ended."""
        line = self.lines.get(timeout=seconds)
        return None if line is None else json.loads(line)

    def begin(self, method, params=None):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}})
        return self.number

    def answer_to(self, number, seconds=HANG):
        end = time.monotonic() + seconds
        while True:
            message = self.next(end - time.monotonic())
            assert message is not None, f"the server has ended: {self.errors()}"
            if isinstance(message, dict) and message.get("id") == number:
                return message
            self.others.append(message)

    def ask(self, method, params=None):
        return self.answer_to(self.begin(method, params))

    def initialize(self, version="2025-11-25"):
        result = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def call(self, tool, **arguments):
        """The result of a tool; an error of the protocol fails."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        if not self.outputs:
            self.outputs = {one["name"]: one["outputSchema"] for one in self.ask("tools/list")["result"]["tools"]}
        has_shape(answer["result"]["structuredContent"], self.outputs[tool], tool)
        return Result(answer["result"])

    def errors(self):
        return self.process.stderr.read().decode(errors="replace") if self.process.stderr and self.process.poll() is not None else ""

    def end(self, seconds=HANG):
        """Closes the server's input and returns its exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(seconds)


KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def has_shape(value, schema, at):
    """The value has the type that the schema gives it, and no member that the schema does not name."""
    kind = schema["type"]
    assert isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool)), f"{at} is no {kind}: {value!r}"
    if kind == "array":
        for item in value:
            has_shape(item, schema["items"], f"{at}[]")
    if kind == "object" and "properties" in schema:
        for name, member in value.items():
            assert name in schema["properties"], f"the output schema lacks {at}.{name}"
            has_shape(member, schema["properties"][name], f"{at}.{name}")


class Result:
    def __init__(self, result):
        self.is_error = result["isError"]
        self.text = result["content"][0]["text"]
        self.structured = result["structuredContent"]


def processes_with(word):
    """Command lines of processes that have this word."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in text:
            found.append(text)
    return found


def await_gone(word, seconds=30):
    end = time.monotonic() + seconds
    while (left := processes_with(word)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left, f"processes are left: {left}"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def has(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"


def equal(got, wanted, what=""):
    assert got == wanted, f"{what}: got {got!r}, wanted {wanted!r}"


def main(cases):
    """main({NAME: function(warpgrind, folder)}): SCRIPT WARPGRIND [NAME...]"""
    import tempfile
    warpgrind = str(pathlib.Path(sys.argv[1]).resolve())
    for name in sys.argv[2:] or cases:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # started by root, programs run as another user
            cases[name](warpgrind, pathlib.Path(folder).resolve())
        print(f"{name}: as expected")
