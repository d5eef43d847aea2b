#!/usr/bin/env python3
"""Random requests to the debugger by the Debug Adapter Protocol, valid and not, to a real program.

  fuzz_test.py --list
  fuzz_test.py --build DIR CASE                            a short run, the same every time
  fuzz_test.py --build DIR --seed S --requests N CASE      a longer one

Whatever is asked: each request gets one response, the program's process does not end by a signal, and nothing hangs.
"""
import argparse
import json
import pathlib
import queue
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import debugger_test as debugger  # noqa: E402

ODD_VALUES = [None, True, False, 0, -1, 1, 3, 2**31, 2**32, 2**63, -2**63, 2**64 - 1, 1e300, -0.5, "", "x", "0", "é", "\U0001f600", "a" * 5000,
              [], [[]], [None], {}, {"x": {}}, [1, 2, 3], [-1, 0, 0], ["x", 0, 0], [2**32, 0, 0], "f0:i0", "f99999999:i99999999", "f4294967296:i-1"]
EXPRESSIONS = ["v", "i", "p", "p.weight", "p.weight[99999]", "tile", "tile[threadIdx.x]", "&tile", "*in@4", "*in@100000000", "in[1 << 30]", "threadIdx",
               "blockIdx.x / 0", "1 << 400", "kind", "pair.second", "nosuch", "(", ")", "((((", "p.", "p->x", "*0", "*(int*)1", "$lane", "%r1", "%p1",
               "1.5e999", "'a", "\"text", "sizeof(int)", "-2147483648 / -1", "1 % 0", "0x", "counter", "scale", "&counter", "*&*&i", "n ? 1 : 2", "a" * 3000,
               "(" * 3000 + "1" + ")" * 3000, "!" * 3000 + "1", "square", "i, v", "(float)i", "(void)i", "(Point)i", "*in@-1", "tile[-1]", "&1"]
ASSIGNMENTS = ["v = 3", "i = -1", "tile[0] = 1e30", "p.x = 5", "p = 1", "1 = 2", "threadIdx.x = 3", "counter = 7", "kind = 9", "scale = 1", "*in = 4"]
CONDITIONS = ["", "i == 3", "threadIdx.x", "nosuch", "(", "1 / 0", "v = 3", "step == 8 && blockIdx.x == 1", "p", "1"]
HITS = ["", "1", "3", ">2", ">=2", "%2", "%0", "x", "-1", "99999999999999999999", ">"]
LINES = [debugger.TILE, debugger.LOOP, debugger.ADD, debugger.ANSWER, 1, 0, 99999, 2**32 - 1]


class Ended(Exception):
    """The program has ended, or this request ended it."""


class Fuzzer:
    def __init__(self, build, seed):
        self.build, self.chance, self.sent = build, random.Random(seed), 0
        self.client, self.recent = None, []

    def pick(self, *values):
        return self.chance.choice(values)

    def chosen(self, values):
        return self.chance.choice(values)

    # ---- Arguments
    def breakpoint(self, place):
        out = dict(place)
        if self.chance.random() < 0.4:
            out["condition"] = self.chosen(CONDITIONS)
        if self.chance.random() < 0.3:
            out["hitCondition"] = self.chosen(HITS)
        if self.chance.random() < 0.2:
            out["logMessage"] = self.pick("here", "{i}", "{nosuch}", "{", "}{", "{v} {tile[0]}", "")
        return out

    def several(self, make):
        return [make() for _ in range(self.chance.randrange(3))]

    def triple(self):
        return [self.chance.randrange(70), self.pick(0, 0, 1), 0]

    def place(self):
        return f"f{self.chance.randrange(3)}:i{self.chance.randrange(60)}"

    def arguments(self, command):
        chance = self.chance
        thread = self.pick(1, 2, 3, 4, 8, 9, 0)
        frame = self.pick(1, 2, 3, 99, 0)
        granularity = self.pick("instruction", "line", "statement", "nonsense")
        makers = {
            "setBreakpoints": lambda: {"source": {"path": self.pick(debugger.SOURCE, "sum.cu", "/nosuch.cu", "")},
                                       "breakpoints": self.several(lambda: self.breakpoint({"line": self.chosen(LINES)}))},
            "setFunctionBreakpoints": lambda: {
                "breakpoints": self.several(lambda: self.breakpoint({"name": self.pick("sum", "square", "nosuch", "", "square<float>")}))},
            "setExceptionBreakpoints": lambda: {"filters": self.pick([], ["fault"], ["fault", "assert"], ["launch"], ["nosuch"], ["finding"]),
                                                "filterOptions": self.several(lambda: {"filterId": "launch", "condition": self.pick("sum", "x", "")})},
            "setDataBreakpoints": lambda: {"breakpoints": self.several(
                lambda: {"dataId": self.pick("1", "2", "3", "0", "x", "-1"), "accessType": self.pick("read", "write", "readWrite", "x")})},
            "dataBreakpointInfo": lambda: {"name": self.chosen(EXPRESSIONS), "variablesReference": self.pick(0, 1, 2, 7)},
            "stackTrace": lambda: {"threadId": thread, "startFrame": self.pick(0, 1, 50), "levels": self.pick(0, 1, 50)},
            "scopes": lambda: {"frameId": frame},
            "variables": lambda: {"variablesReference": self.pick(1, 2, 3, 4, 5, 6, 9, 99), "start": self.pick(0, 1, 63, 64, 1000),
                                  "count": self.pick(0, 1, 5, 100000)},
            "evaluate": lambda: {"expression": self.chosen(EXPRESSIONS + ASSIGNMENTS), "context": self.pick("watch", "hover", "repl"),
                                 "format": self.pick({}, {"hex": True}, {"letter": chance.choice("dxuotcfa?")})},
            "setVariable": lambda: {"variablesReference": self.pick(1, 2, 3, 6), "name": self.pick("v", "i", "p", "x", "nosuch"),
                                    "value": self.pick("1", "x", "1e999", "(", "")},
            "setExpression": lambda: {"expression": self.chosen(EXPRESSIONS), "value": self.pick("1", "-1.5", "x", "")},
            "disassemble": lambda: {"memoryReference": self.place(), "instructionOffset": self.pick(0, -5, 3, 10**9, -10**9),
                                    "instructionCount": self.pick(0, 1, 20, 100000, -1)},
            "readMemory": lambda: {"memoryReference": self.pick("0x0", "0x7f0000000000", "x", self.place()), "offset": self.pick(0, 4, -4),
                                   "count": self.pick(0, 4, 100000, -1)},
            "warpgrind/focus": lambda: {"block": self.pick(None, [0, 0, 0], [1, 0, 0], [3, 0, 0]), "thread": self.triple(),
                                        "warp": self.pick(0, 1, 2), "lane": self.pick(0, 5, 31, 32)},
            "warpgrind/warpValues": lambda: {"expression": self.chosen(EXPRESSIONS), "frameId": frame},
            "warpgrind/lastWrite": lambda: {"expression": self.chosen(EXPRESSIONS), "frameId": frame},
        }
        if command in ("next", "stepIn", "stepOut", "stepBack", "warpgrind/reverseStepIn", "warpgrind/reverseStepOut"):
            return {"threadId": thread, "granularity": granularity}
        return makers.get(command, lambda: {"threadId": thread})()

    def spoil(self, value, depth=0):
        """The value with one part replaced, added or removed."""
        if isinstance(value, dict) and value and self.chance.random() < 0.85:
            name = self.chance.choice(sorted(value))
            out = dict(value)
            how = self.chance.random()
            if how < 0.2:
                del out[name]
            elif how < 0.3:
                out[self.pick("frameId", "threadId", "seq", "type", "")] = self.chosen(ODD_VALUES)
            else:
                out[name] = self.spoil(value[name], depth + 1)
            return out
        if isinstance(value, list) and value and depth > 0 and self.chance.random() < 0.6:
            at = self.chance.randrange(len(value))
            return [self.spoil(v, depth + 1) if n == at else v for n, v in enumerate(value)]
        return self.chosen(ODD_VALUES)

    # ---- Requests
    QUESTIONS = ["threads", "stackTrace", "scopes", "variables", "evaluate", "evaluate", "dataBreakpointInfo", "exceptionInfo", "disassemble", "readMemory",
                 "warpgrind/focus", "warpgrind/warps", "warpgrind/warpValues", "warpgrind/launches", "setVariable", "setExpression", "setBreakpoints",
                 "setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints", "pause", "configurationDone", "nosuchrequest", "", "launch",
                 "attach", "initialize"]
    MOVES = ["next", "stepIn", "stepOut", "continue", "stepBack", "reverseContinue", "warpgrind/reverseStepIn", "warpgrind/reverseStepOut",
             "warpgrind/lastWrite"]

    def begin(self):
        self.client = debugger.Client(self.build, *self.pick([], [], ["1"], ["2"], ["3"]))
        self.stopped = self.leaving = False

    def take(self, wanted, seconds=60):
        """The next message that is wanted. All others only change what is known of the program."""
        client = self.client
        while True:
            try:
                message = client.messages.get(timeout=seconds)
            except queue.Empty:
                return None
            if message is None:
                raise AssertionError(f"`warpgrind dap` has ended; requests before: {self.recent}")
            if message.get("event") == "exited":
                self.look_at_end(message["body"]["exitCode"])
            if message.get("event") == "stopped":
                self.stopped = True
            elif message["type"] == "response" and message["command"] in self.MOVES and message["success"]:
                self.stopped = False  # the event of the next stop follows
            if wanted(message):
                return message

    def look_at_end(self, code):
        assert code < 128 or self.leaving, f"the program ended with code {code}; requests before: {self.recent}"
        raise Ended

    def request(self, command, arguments):
        client = self.client
        client.sequence += 1
        number = client.sequence
        message = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        self.recent = [*self.recent[-5:], json.dumps(message)[:400]]
        body = json.dumps(message).encode()
        client.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        client.process.stdin.flush()
        self.sent += 1
        response = self.take(lambda m: m["type"] == "response" and m["request_seq"] == number)
        assert response is not None, f"no response; requests before: {self.recent}"
        return response

    def one(self, may_move=False):
        """Sends one request."""
        moves = may_move and self.chance.random() < 0.25
        command = self.chosen(self.MOVES if moves else self.QUESTIONS)
        arguments = self.arguments(command)
        if self.chance.random() < 0.35:
            arguments = self.spoil(arguments)
        self.request(command, arguments)

    def wait_for_stop(self):
        def wanted(message):
            return message.get("event") == "stopped"
        if self.take(wanted, 2):
            return
        self.request("pause", {"threadId": 1})  # a value that was set may have made the kernel endless
        assert self.stopped or self.take(wanted), f"neither a stop nor an end; requests before: {self.recent}"

    def live(self, most):
        """One life of the program."""
        self.begin()
        try:
            for _ in range(self.chance.randrange(6)):
                self.one()  # before the program goes on
            self.request("setBreakpoints", {"source": {"path": debugger.SOURCE}, "breakpoints": [{"line": debugger.TILE}]})
            self.request("configurationDone", {})
            while self.sent < most:
                if self.chance.random() < 0.2:
                    self.one()  # while it runs, perhaps
                if not self.stopped:
                    self.wait_for_stop()
                self.one(may_move=True)
        except Ended:
            for _ in range(3):  # after the end
                try:
                    self.one()
                except Ended:
                    pass
        self.leaving = True
        try:
            self.request("disconnect", {})
        except Ended:
            pass
        self.client.process.stdin.close()
        assert self.client.process.wait(60) == 0, f"`warpgrind dap` ended with {self.client.process.returncode}; before: {self.recent}"


# ---- Cases

def any_requests(build, seed, requests):
    fuzzer = Fuzzer(build, seed)
    lives = 0
    while fuzzer.sent < requests:
        fuzzer.live(requests)
        lives += 1
    print(f"{fuzzer.sent} requests in {lives} runs of the program")


def before_the_launch(build, seed, requests):
    """Without a program every request is kept until the launch, or refused."""
    fuzzer = Fuzzer(build, seed)
    while fuzzer.sent < requests:
        client = debugger.Client(build, launch=False)
        fuzzer.client = client
        for _ in range(20):
            command = fuzzer.chosen([c for c in fuzzer.QUESTIONS + fuzzer.MOVES if c not in ("launch", "configurationDone")])
            arguments = fuzzer.arguments(command)
            client.send(command, **(arguments if fuzzer.chance.random() < 0.5 else {"threadId": fuzzer.chosen(ODD_VALUES)}))
            fuzzer.sent += 1
        client.send("launch", program=debugger.SOURCE)
        client.call("setBreakpoints", source={"path": debugger.SOURCE}, breakpoints=[{"line": debugger.ANSWER}])
        client.begin()
        wanted = set(range(1, client.sequence + 1)) - {client.sequence}
        client.call("threads")
        answered = {m["request_seq"] for m in client.kept if m["type"] == "response"}
        assert wanted - answered <= {1, client.sequence - 1, client.sequence - 2}, sorted(wanted - answered)
        client.call("disconnect")
        client.process.stdin.close()
        assert client.process.wait(60) == 0


def back_and_forward(build, seed, requests):
    """From a random place n instructions back and n forward: the same place, registers and memory."""
    chance = random.Random(seed)
    client = debugger.Client(build)
    client.breaks(debugger.LOOP, condition=f"i == {chance.randrange(64)}")
    client.begin()
    client.breaks()
    sent = 0

    def state():
        registers = {name: v["value"] for name, v in client.scope("Registers of the PTX").items()}
        return client.frames()[0]["instructionPointerReference"], client.value("tile"), client.lanes("tile[threadIdx.x]"), registers

    while sent < requests:
        for _ in range(chance.randrange(4)):
            client.go("next")
        before, count = state(), chance.randrange(1, 12)
        thread = client.stop["threadId"]
        for _ in range(count):
            client.call("warpgrind/reverseStepIn", threadId=thread, granularity="instruction")
            client.stopped()
        for _ in range(count):
            client.call("stepIn", threadId=thread, granularity="instruction")
            client.stopped()
        debugger.check(state(), before)
        sent += 2 * count
    client.call("disconnect")
    client.process.wait(60)


CASES = {any_requests: 400, before_the_launch: 40, back_and_forward: 120}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int)
    parser.add_argument("case", nargs="?")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.__name__ for case in CASES))
        return
    for case, requests in CASES.items():
        if options.case in (None, case.__name__):
            case(options.build.resolve(), options.seed, options.requests or requests)


if __name__ == "__main__":
    main()
