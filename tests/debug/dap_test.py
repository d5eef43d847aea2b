#!/usr/bin/env python3
"""`warpgrind dap` between an editor (this script) and a scripted adapter in the program's process (fake_program.py).

  dap_test.py --list
  dap_test.py --build DIR CASE     exit code 0 passed, 1 failed

What is expected is the Debug Adapter Protocol's own text and docs/debugging-protocol.md. No wait here has a length: ctest's limit is the only
one.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import whole_run  # noqa: E402

PROGRAM = str(HERE / "fake_program.py")


class Editor:
    def __init__(self, build, folder, words=()):
        self.folder = folder
        self.log = folder / "requests"
        self.log.touch()
        self.environment = whole_run.environment(TMPDIR=str(folder), XDG_CACHE_HOME=str(build / "test-cache"))
        self.errors = open(folder / "stderr", "w+")
        self.process = subprocess.Popen([str(build / "bin/warpgrind"), "dap", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=self.environment)
        self.to, self.source = self.process.stdin, self.process.stdout
        self.sequence = 0
        self.events, self.responses, self.numbers = [], {}, []

    def send_raw(self, data):
        self.to.write(data)
        self.to.flush()

    def send(self, command, **arguments):
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}).encode()
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self.sequence

    def receive(self):
        """One message; None at the end of the stream."""
        header = b""
        while not header.endswith(b"\r\n\r\n"):
            byte = self.source.read(1)
            if not byte:
                assert not header, f"the stream ended in a header: {header}"
                return None
            header += byte
        length = int(re.fullmatch(rb"Content-Length: (\d+)\r\n\r\n", header)[1])
        message = json.loads(self.source.read(length))
        self.numbers.append(message["seq"])
        if message["type"] == "event":
            self.events.append(message)
        elif message["type"] == "response":
            assert message["request_seq"] not in self.responses, message
            self.responses[message["request_seq"]] = message
        return message

    def response(self, number):
        while number not in self.responses:
            assert self.receive() is not None, f"no response to request {number}"
        return self.responses[number]

    def ask(self, command, **arguments):
        return self.response(self.send(command, **arguments))

    def event(self, name):
        """The first event of this name that no call has returned before."""
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event.get("body", {})
            assert self.receive() is not None, f"no event {name}"

    def launch(self, mode, **more):
        assert self.ask("initialize", adapterID="warpgrind")["success"]
        return self.ask("launch", program=PROGRAM, args=[str(self.log), mode], **more)

    def run_to_end(self, mode):
        assert self.launch(mode)["success"]
        self.event("initialized")
        configured = self.send("configurationDone")
        exited = self.event("exited")
        self.event("terminated")
        return configured, exited

    def leave(self, code=0):
        assert self.ask("disconnect")["success"]
        assert self.receive() is None
        assert self.process.wait() == code
        assert self.numbers == list(range(1, len(self.numbers) + 1)), "seq must count messages"

    def asked(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def output(self, category):
        return "".join(e["body"]["output"] for e in self.events if e["event"] == "output" and e["body"]["category"] == category)


def capabilities(editor):
    body = editor.ask("initialize", adapterID="warpgrind")["body"]
    for name in ("supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
                 "supportsHitConditionalBreakpoints", "supportsLogPoints", "supportsEvaluateForHovers", "supportsStepBack",
                 "supportsSetVariable", "supportsExceptionInfoRequest", "supportsDataBreakpoints", "supportsReadMemoryRequest",
                 "supportsDisassembleRequest", "supportsSteppingGranularity", "supportsTerminateRequest", "supportsCompletionsRequest"):
        assert body[name] is True, name
    assert [f["filter"] for f in body["exceptionBreakpointFilters"]] == ["fault", "assert", "finding", "api", "barrier", "divergence", "launch"]
    editor.leave()


def session(editor):
    # The breakpoint comes before the launch, as some editors send it: it is kept, and passed on after `attach`.
    assert editor.ask("initialize", adapterID="warpgrind", linesStartAt1=True)["success"]
    early = editor.send("setBreakpoints", source={"path": "saxpy.cu"}, breakpoints=[{"line": 9, "condition": "i > 3"}])
    arguments = {"program": PROGRAM, "args": [str(editor.log), "breakpoint"], "stopOnEntry": False, "schedule": "reverse", "gpu": "h100"}
    assert editor.ask("launch", **arguments)["success"]
    editor.event("initialized")
    assert editor.response(early)["body"]["breakpoints"][0]["id"] == 101
    assert editor.ask("configurationDone")["success"]
    stopped = editor.event("stopped")
    assert (stopped["reason"], stopped["threadId"]) == ("breakpoint", 11), stopped
    assert [t["id"] for t in editor.ask("threads")["body"]["threads"]] == [11, 12]
    refused = editor.ask("evaluate", expression="nothing", frameId=1001, context="hover")
    assert not refused["success"] and "nothing" in refused["message"], refused
    assert editor.ask("warpgrind/focus", lane=4)["body"]["lane"] == 4
    editor.send("continue", threadId=11)
    assert editor.event("exited") == {"exitCode": 7}
    editor.event("terminated")
    assert editor.output("stdout") == "host says hello\narguments []\nresult 6.5\nhost ends\n", editor.output("stdout")
    assert editor.output("stderr") == "host complains\n", editor.output("stderr")
    assert editor.asked() == [
        ["initialize", {"adapterID": "warpgrind", "linesStartAt1": True}],
        ["attach", arguments],
        ["setBreakpoints", {"source": {"path": "saxpy.cu"}, "breakpoints": [{"line": 9, "condition": "i > 3"}]}],
        ["configurationDone", {}],
        ["threads", {}],
        ["evaluate", {"expression": "nothing", "frameId": 1001, "context": "hover"}],
        ["warpgrind/focus", {"lane": 4}],
        ["continue", {"threadId": 11}]], editor.asked()
    late = editor.ask("threads")
    assert not late["success"] and "not running" in late["message"], late
    editor.leave()


def no_cuda(editor):
    configured, exited = editor.run_to_end("no_cuda")
    assert exited == {"exitCode": 3}
    assert not editor.response(configured)["success"]
    assert "used no CUDA" in editor.output("console"), editor.events
    editor.leave()


def crash(editor):
    configured, exited = editor.run_to_end("crash")
    assert exited == {"exitCode": 128 + signal.SIGABRT}
    assert editor.response(configured)["success"]
    assert "before the crash\n" in editor.output("stdout")
    assert "killed by signal 6" in editor.output("console")
    editor.leave()


def broken_adapter(editor, mode, message):
    assert editor.launch(mode)["success"]
    editor.event("initialized")
    assert editor.ask("configurationDone")["success"]
    # Nobody answers this one: it is refused as soon as the connection is known to be broken.
    refused = editor.ask("threads")
    editor.event("exited")
    editor.event("terminated")
    assert not refused["success"], refused
    # Seldom the request comes after the end of the whole program.
    assert message in refused["message"] or "not running" in refused["message"], refused
    assert message in editor.output("console"), editor.events
    editor.leave()


def bad_header(editor):
    broken_adapter(editor, "bad_header", '"HTTP/1.1 200 OK" is no header field')


def bad_length(editor):
    broken_adapter(editor, "bad_length", '"many" is no length')


def no_length(editor):
    broken_adapter(editor, "no_length", "the header has no Content-Length")


def huge(editor):
    broken_adapter(editor, "huge", "999999999999 bytes, and the limit is 67108864")


def garbage(editor):
    broken_adapter(editor, "garbage", 'its 9 bytes are no JSON object: "not JSON!"')


def cut(editor):
    broken_adapter(editor, "cut", "closed in the middle of a message")


def flood(editor):
    editor.run_to_end("flood")
    lines = editor.output("stdout").splitlines()
    assert sum(line.endswith("x") for line in lines) == 3000
    editor.leave()


def launch_errors(editor):
    assert editor.ask("initialize", adapterID="warpgrind")["success"]
    early = editor.send("threads")
    refused = editor.ask("launch", program="/nonexistent/program")
    assert not refused["success"] and "/nonexistent/program" in refused["message"], refused
    assert not editor.response(early)["success"]
    editor.event("terminated")
    for wrong, part in (({}, "program"), ({"program": PROGRAM, "args": "a b"}, "args"), ({"program": PROGRAM, "env": [1]}, "env"),
                        ({"program": PROGRAM, "gpu": "g9999"}, "g9999"), ({"program": PROGRAM, "schedule": "sideways"}, "schedule"),
                        ({"program": PROGRAM, "threads": "many"}, "threads"),
                        ({"program": PROGRAM, "cwd": "/nonexistent"}, "/nonexistent")):
        refused = editor.ask("launch", **wrong)
        assert not refused["success"] and part in refused["message"], (wrong, refused)
    assert not editor.ask("attach", processId=1)["success"]
    editor.leave()


def environment(editor):
    """cwd and env reach the program; an option with a wrong name is reported."""
    script = editor.folder / "shows.sh"
    script.write_text("#!/bin/sh\npwd; echo \"$ADDED|${HOME-unset}\"\n")
    script.chmod(0o755)
    place = editor.folder / "place"
    place.mkdir()
    assert editor.ask("initialize", adapterID="warpgrind")["success"]
    assert editor.ask("launch", program=str(script), cwd=str(place), env={"ADDED": "value", "HOME": None}, gppu="h100", name="editor's",
                      cache=str(editor.folder / "cache"))["success"]
    editor.event("terminated")
    assert editor.output("stdout") == f"{place.resolve()}\nvalue|unset\n", editor.output("stdout")
    assert 'no option "gppu"' in editor.output("console") and "name" not in editor.output("console").replace("named", "")
    editor.leave()


def compiles(editor):
    """A .cu file is compiled for debugging, with the compiler's messages as output. A script stands in for nvcc."""
    source = editor.folder / "app.cu"
    source.write_text("// nothing\n")
    arguments = editor.folder / "arguments"
    compiler = editor.folder / "nvcc"
    compiler.write_text(f"""#!/bin/sh
echo "$@" >{arguments}
echo 'app.cu(1): warning: a stand-in' >&2
case "$*" in *refused*) exit 1; esac
for last; do :; done
printf '#!/bin/sh\\nexec {PROGRAM} {editor.log} end\\n' >"$last"
chmod +x "$last"
""")
    compiler.chmod(0o755)
    path = f"{editor.folder}:{os.environ['PATH']}"
    assert editor.ask("initialize", adapterID="warpgrind")["success"]
    refused = editor.ask("launch", program=str(source), compiler="nvcc", nvccFlags=["-Drefused"], env={"PATH": path})
    assert not refused["success"] and "app.cu does not compile" in refused["message"], refused
    editor.event("terminated")
    assert editor.ask("launch", program=str(source), compiler="nvcc", gpu="h100", nvccFlags=["-std=c++20"],
                      env={"PATH": path})["success"]
    assert editor.ask("configurationDone")["success"]
    assert editor.event("exited") == {"exitCode": 7}
    assert editor.output("console").count("app.cu(1): warning: a stand-in\n") == 2, editor.events
    words = arguments.read_text().split()
    assert words[:3] == ["-G", "-g", "-O0"] and "-arch=sm_90" in words and "-std=c++20" in words and "-O3" not in words, words
    editor.event("terminated")
    editor.leave()


def disconnect_kills(editor):
    assert editor.launch("pause")["success"]
    assert editor.ask("configurationDone")["success"]
    editor.leave()


def end_of_input_kills(editor):
    assert editor.launch("pause")["success"]
    assert editor.ask("configurationDone")["success"]
    editor.to.close()
    while editor.receive():
        pass
    assert editor.process.wait() == 0


def terminate_ends(editor):
    assert editor.launch("pause")["success"]
    assert editor.ask("configurationDone")["success"]
    assert editor.ask("terminate")["success"]
    assert editor.event("exited") == {"exitCode": 128 + signal.SIGTERM}
    editor.leave()


def broken_editor(editor):
    assert editor.launch("pause")["success"]
    assert editor.ask("configurationDone")["success"]
    editor.send_raw(b"GET / HTTP/1.1\r\n")
    while editor.receive():
        pass
    assert editor.process.wait() == 2
    editor.errors.seek(0)
    assert '"GET / HTTP/1.1" is no header field' in editor.errors.read()


def port(build, folder):
    """Two clients, one after the other, on a port."""
    process = subprocess.Popen([str(build / "bin/warpgrind"), "dap", "--port", "0"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, env=whole_run.environment(TMPDIR=str(folder)))
    number = int(re.search(r"127\.0\.0\.1:(\d+)", process.stderr.readline())[1])
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", number)) as connection:
            editor = Editor.__new__(Editor)
            editor.log = folder / "requests"
            editor.sequence, editor.events, editor.responses, editor.numbers = 0, [], {}, []
            editor.to, editor.source = connection.makefile("wb"), connection.makefile("rb")
            _, exited = editor.run_to_end("end")
            assert exited == {"exitCode": 7}
            assert editor.ask("disconnect")["success"]
            assert editor.receive() is None
    process.terminate()
    process.wait()


CASES = [capabilities, session, no_cuda, crash, bad_header, bad_length, no_length, huge, garbage, cut, flood, launch_errors, environment, compiles,
         disconnect_kills, end_of_input_kills, terminate_ends, broken_editor, port]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("case", nargs="?")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.__name__ for case in CASES))
        return 0
    case = next(c for c in CASES if c.__name__ == options.case)
    with tempfile.TemporaryDirectory() as folder:
        if case is port:
            port(options.build, pathlib.Path(folder))
            return 0
        editor = Editor(options.build, pathlib.Path(folder))
        try:
            case(editor)
            left = [p.name for p in editor.folder.iterdir() if p.name.startswith("warpgrind")]
            assert not left, f"left behind: {left}"
        finally:
            editor.process.kill()
            editor.errors.seek(0)
            text = editor.errors.read()
            print(text, end="")
        if report := whole_run.sanitizer_report(text):
            print(report)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
