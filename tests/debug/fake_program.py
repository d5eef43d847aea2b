#!/usr/bin/env python3
"""A program with a scripted debug adapter, in place of a CUDA program: what the fronts (`warpgrind dap`, `warpgrind debug`) ask is written
down, and what they get is decided here, by docs/debugging-protocol.md.

  fake_program.py LOG MODE [WORD...]     MODE: a key of MODES

The adapter's "kernel" is this one, stopped in lane 5 of block (1,0,0):

   7  __global__ void saxpy(float a, const float* x, float* y) {
   8    int i = blockIdx.x * blockDim.x + threadIdx.x;
   9    float product = a * x[i];
  10    y[i] = product + y[i];
  11  }
"""
import base64
import json
import os
import signal
import socket
import struct
import sys
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "saxpy.cu")
FOCUS = {"threadId": 11, "description": "block (1,0,0), thread (5,0,0), warp 0, lane 5", "block": [1, 0, 0], "thread": [5, 0, 0], "warp": 0,
         "lane": 5}
MEMORY = 0x7f0000001000
BYTES = struct.pack("<8f", *range(8))


def frame(message):
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Adapter:
    def __init__(self, log, mode):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(json.loads(os.environ["WARPGRIND_OPTIONS"])["debug_socket"])
        self.bytes = self.socket.makefile("rb")
        self.log = open(log, "a")
        self.mode = mode
        self.sequence = 0
        self.breakpoints = 100   # number of the last one
        self.stops = 0
        self.line = 9

    def receive(self):
        length = None
        while (line := self.bytes.readline()) not in (b"\r\n", b""):
            name, value = line.split(b":")
            assert name == b"Content-Length", line
            length = int(value)
        return json.loads(self.bytes.read(length)) if length is not None else None

    def send(self, message):
        self.sequence += 1
        self.socket.sendall(frame({"seq": self.sequence, **message}))

    def event(self, name, **body):
        self.send({"type": "event", "event": name, "body": body})

    def stop(self, reason, **more):
        self.stops += 1
        self.event("stopped", reason=reason, threadId=11, allThreadsStopped=True, focus=FOCUS, **more)

    def serve(self):
        while (request := self.receive()) is not None:
            command, arguments = request["command"], request.get("arguments", {})
            print(json.dumps([command, arguments]), file=self.log, flush=True)
            answer = {"type": "response", "request_seq": request["seq"], "command": command, "success": True}
            handler = getattr(self, command.replace("warpgrind/", "own_"), None)
            if handler is None:
                answer |= {"success": False, "message": "notImplemented", "body": {"error": {"id": 3, "format": "no {what} here",
                                                                                            "variables": {"what": command}}}}
            else:
                body = handler(arguments)
                if isinstance(body, str):
                    answer |= {"success": False, "message": body}
                else:
                    answer["body"] = body or {}
            self.send(answer)
            after = getattr(self, f"after_{command}", None)
            if after and after(arguments) == "end":
                return

    # Requests of DAP
    def initialize(self, _):
        return {"supportsConfigurationDoneRequest": True}

    def after_initialize(self, _):
        self.event("initialized")

    def attach(self, arguments):
        self.entry = arguments.get("stopOnEntry", False)

    def places(self, breakpoints):
        out = []
        for _ in breakpoints:
            self.breakpoints += 1
            out.append({"id": self.breakpoints, "verified": True, "line": 9, "source": {"path": SOURCE}})
        return {"breakpoints": out}

    def setBreakpoints(self, arguments):
        return self.places(arguments["breakpoints"])

    def setFunctionBreakpoints(self, arguments):
        if any(b["name"] == "missing" for b in arguments["breakpoints"]):
            return {"breakpoints": [{"verified": False, "message": "no kernel has a function named missing"}]}
        return self.places(arguments["breakpoints"])

    def setDataBreakpoints(self, arguments):
        return {"breakpoints": [{"id": 200 + i, "verified": True} for i, _ in enumerate(arguments["breakpoints"])]}

    def dataBreakpointInfo(self, arguments):
        if arguments["name"] == "1 + 1":
            return {"dataId": None, "description": "1 + 1 is no place in memory"}
        return {"dataId": "global:0x7f0000001014:4", "description": arguments["name"], "accessTypes": ["read", "write", "readWrite"]}

    def setExceptionBreakpoints(self, _):
        return {}

    def configurationDone(self, _):
        return {}

    def after_configurationDone(self, _):
        return MODES[self.mode](self)

    def threads(self, _):
        return {"threads": [{"id": 11, "name": "block (1,0,0) warp 0, threads (0,0,0)-(31,0,0)"},
                            {"id": 12, "name": "block (1,0,0) warp 1, threads (32,0,0)-(63,0,0)"}]}

    def stackTrace(self, arguments):
        frames = [{"id": 1000, "name": "scale(float, float)", "line": 3, "column": 10, "source": {"name": "saxpy.cu", "path": SOURCE},
                   "instructionPointerReference": "ptx:0:17"},
                  {"id": 1001, "name": "saxpy(float, const float*, float*)", "line": self.line, "column": 3,
                   "source": {"name": "saxpy.cu", "path": SOURCE}, "instructionPointerReference": "ptx:0:12"}]
        if self.mode != "inlined":
            frames = frames[1:]
        begin = arguments.get("startFrame", 0)
        return {"stackFrames": frames[begin:begin + (arguments.get("levels") or len(frames))], "totalFrames": len(frames)}

    def scopes(self, _):
        return {"scopes": [{"name": "Locals", "presentationHint": "locals", "variablesReference": 1, "expensive": False},
                           {"name": "Arguments", "presentationHint": "arguments", "variablesReference": 2, "expensive": False},
                           {"name": "Registers", "presentationHint": "registers", "variablesReference": 3, "expensive": True}]}

    def variables(self, arguments):
        return {"variables": {1: [{"name": "i", "value": "133", "type": "int", "variablesReference": 0},
                                  {"name": "product", "value": "<optimised away>", "type": "float", "variablesReference": 0}],
                              2: [{"name": "a", "value": "2", "type": "float", "variablesReference": 0}],
                              3: [{"name": "%r1", "value": "0x5", "type": ".b32", "variablesReference": 0},
                                  {"name": "%f2", "value": "1.5", "type": ".f32", "variablesReference": 0}],
                              4: [{"name": "x", "value": "1", "variablesReference": 0},
                                  {"name": "y", "value": "2", "variablesReference": 0}]}[arguments["variablesReference"]]}

    def evaluate(self, arguments):
        expression = arguments["expression"]
        if expression == "nothing":
            return "no symbol \"nothing\" in the current context"
        if expression == "point":
            return {"result": "", "type": "struct Point", "variablesReference": 4}
        if expression == "y":
            return {"result": "(float *) 0x7f0000001000", "type": "float *", "variablesReference": 0, "memoryReference": hex(MEMORY)}
        if "hex" in arguments.get("format", {}):
            return {"result": "0x85", "type": "int", "variablesReference": 0}
        return {"result": "133", "type": "int", "variablesReference": 0}

    def setExpression(self, arguments):
        return {"value": arguments["value"], "type": "int"}

    def readMemory(self, arguments):
        begin = int(arguments["memoryReference"], 16) + arguments.get("offset", 0) - MEMORY
        data = BYTES[begin:begin + arguments["count"]]
        return {"address": hex(MEMORY + begin), "data": base64.b64encode(data).decode(), "unreadableBytes": arguments["count"] - len(data)}

    def disassemble(self, arguments):
        if arguments.get("wholeFunction"):
            return {"function": "saxpy", "instructions": [
                {"address": f"ptx:0:{n}", "instruction": text, "line": line, "location": {"name": "saxpy.cu", "path": SOURCE}}
                for n, text, line in ((16, "mul.f32 %f3, %f1, %f2;", 9), (17, "add.f32 %f4, %f3, %f2;", 3))]}
        return {"instructions": [{"address": f"{12 + i:#x}", "instruction": text} for i, text in
                                 enumerate(["mul.f32 \t%f2, %f1, %f3;", "add.f32 \t%f4, %f2, %f5;"][:arguments["instructionCount"]])]}

    def exceptionInfo(self, _):
        return {"exceptionId": "fault", "description": "write of 4 bytes at 0x7f0000009000, outside of every allocation", "breakMode": "always",
                "details": {"stackTrace": "check the index"}}

    def move(self, _):
        return {}

    next = stepIn = stepOut = stepBack = move
    own_reverseStepIn = own_reverseStepOut = reverseContinue = pause = move

    def after_next(self, _):
        self.line += 1
        self.stop("step")

    def after_stepIn(self, _):
        self.line += 1
        self.stop("step")

    def after_stepBack(self, _):
        self.line -= 1
        self.stop("step")

    def after_stepOut(self, _):
        self.stop("step")

    def after_reverseContinue(self, _):
        self.stop("entry", text="Beginning of the launch")

    def after_pause(self, _):
        if self.mode != "deaf":
            self.stop("pause")

    def __getattr__(self, name):
        if name == "continue":
            return lambda _: {"allThreadsContinued": True}
        if name == "after_warpgrind/reverseStepIn" or name == "after_warpgrind/reverseStepOut":
            return self.after_stepBack
        if name == "after_warpgrind/lastWrite":
            return lambda _: self.stop("step", **({} if self.is_written else {"text": "y[6] was not written in this launch"}))
        if name == "after_continue":
            return lambda _: MODES[self.mode](self)
        raise AttributeError(name)

    # Requests of warpgrind
    def own_focus(self, arguments):
        if arguments.get("block") == [9, 0, 0]:
            return "block (9,0,0) is not resident"
        lane = (arguments.get("thread") or [5])[0] if arguments.get("lane") is None else arguments["lane"]
        return {**FOCUS, "lane": lane, "thread": [lane, 0, 0], "description": f"block (1,0,0), thread ({lane},0,0), warp 0, lane {lane}"}

    def own_warps(self, _):
        return {"blocks": [{"block": [1, 0, 0], "warps": [
            {"threadId": 11, "warp": 0, "active": "0x0000ffff", "place": "saxpy.cu:9", "focused": True},
            {"threadId": 12, "warp": 1, "active": "0xffffffff", "place": "saxpy.cu:10", "waits": "barrier 0 (1 of 2 warps)"}]}]}

    def own_warpValues(self, arguments):
        if arguments["expression"] == "i > 50":
            return {"type": "bool", "lanes": [{"lane": lane, "value": "true" if lane == 7 else "false", "active": True} for lane in range(32)]}
        if arguments["expression"] == "root":
            return {"type": "double", "lanes": [{"lane": lane, "value": "1.41421356", "active": True} for lane in range(8)]}
        if arguments["expression"] == "pair":
            return {"type": "Pair", "lanes": [{"lane": n, "value": "{first = %d, second = 0.25}" % (n > 4), "active": True} for n in range(32)]}
        if arguments["expression"] == "&x[2 * i]":
            return {"type": "float *", "lanes": [
                {"lane": n, "value": f"(float *) {0x7000 + 8 * n:#x} <cudaMalloc at saxpy.cu:20, byte {8 * n} of a 256-byte allocation>", "active": True}
                for n in range(32)]}
        return {"type": "int", "lanes": [{"lane": lane, "value": str(lane * 2 if lane != 7 else 99), "active": lane < 16, "undefined": lane == 3}
                                         for lane in range(32)]}

    def own_tile(self, arguments):
        if arguments["expression"] == "nosuch":
            return "there is no variable 'nosuch' here"
        return {"type": arguments.get("type", "float"), "rows": 1, "columns": 2, "cells": ["1", "?"], "text": "   0 1\n0: 1 ?\n"}

    def own_lastWrite(self, arguments):
        self.is_written = arguments["expression"] != "y[6]"
        self.line = 10

    def own_functions(self, arguments):
        if arguments.get("name") == "nothing":
            return {"functions": []}
        return {"functions": [{"name": "saxpy", "linkageName": "_Z5saxpyfPKfPf", "line": 7, "kernel": True, "inlined": False, "instructions": 30,
                               "instructionPointerReference": "ptx:0:0", "source": {"name": "saxpy.cu", "path": SOURCE}}]}

    def own_codeOfLine(self, arguments):
        return {"line": arguments["line"], "runs": [{"function": "scale(float, float)", "first": "ptx:0:17", "last": "ptx:0:18", "count": 2}]}

    def own_type(self, _):
        return {"type": "int", "size": 4, "definition": "int"}

    def own_launches(self, _):
        return {"launches": [{"id": 1, "kernel": "saxpy", "grid": [2, 1, 1], "block": [64, 1, 1], "stream": "0", "state": "running"}]}


def breakpoint_then_end(adapter):
    if adapter.stops == 0:
        return adapter.stop("breakpoint", hitBreakpointIds=[101])
    print("result 6.5", flush=True)
    return "end"


def exception(adapter):
    if adapter.stops == 0:
        return adapter.stop("exception", text="write of 4 bytes outside of every allocation")
    return "end"


def watchpoint(adapter):
    if adapter.stops == 0:
        return adapter.stop("breakpoint", hitBreakpointIds=[101])
    if adapter.stops == 1:
        return adapter.stop("data breakpoint", hitBreakpointIds=[200], text="y[5]: old value = 1, new value = 6.5")
    return "end"


def crash(_):
    print("before the crash", flush=True)
    os.kill(os.getpid(), signal.SIGABRT)


def raw(data):
    def send(adapter):
        adapter.socket.sendall(data)
        adapter.socket.shutdown(socket.SHUT_RDWR)
        time.sleep(0.2)
        return "end"
    return send


def wait_for_pause(_):
    return None


def flood(adapter):
    for i in range(3000):
        adapter.event("output", category="stdout", output=f"{i} " + 100 * "x" + "\n")
    return "end"


MODES = {
    "end": lambda adapter: "end",
    "breakpoint": breakpoint_then_end,
    "inlined": breakpoint_then_end,
    "exception": exception,
    "watchpoint": watchpoint,
    "crash": crash,
    "pause": wait_for_pause,
    "deaf": wait_for_pause,
    "flood": flood,
    "bad_header": raw(b"HTTP/1.1 200 OK\r\n\r\n"),
    "bad_length": raw(b"Content-Length: many\r\n\r\n{}"),
    "no_length": raw(b"Content-Type: json\r\n\r\n{}"),
    "huge": raw(b"Content-Length: 999999999999\r\n\r\n{"),
    "garbage": raw(b"Content-Length: 9\r\n\r\nnot JSON!"),
    "cut": raw(b"Content-Length: 500\r\n\r\n{\"type\": \"event\""),
}


def main():
    log, mode = sys.argv[1:3]
    print("host says hello", flush=True)
    print("host complains", file=sys.stderr, flush=True)
    print("arguments", sys.argv[3:], flush=True)
    if mode == "no_cuda":
        sys.exit(3)
    Adapter(log, mode).serve()
    print("host ends", flush=True)
    sys.exit(7)


if __name__ == "__main__":
    main()
