#!/usr/bin/env python3
"""Random requests to the debugger by the Debug Adapter Protocol, valid and not, to a real program.

  fuzz_test.py --list
  fuzz_test.py --build DIR CASE                            a short run, the same every time
  fuzz_test.py --build DIR --seed S --requests N CASE      a longer one
  fuzz_test.py --build DIR --everything --requests N CASE  programs, compilers' options and --check change, too (fuzzing.py)

Whatever is asked: each request gets one response, the program's process does not end by a signal, and nothing hangs.
"""
import json
import pathlib
import queue
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import debugger_test as debugger  # noqa: E402
import fuzzing  # noqa: E402

ODD_VALUES = [None, True, False, 0, -1, 1, 3, 2**31, 2**32, 2**63, -2**63, 2**64 - 1, 1e300, -0.5, "", "x", "0", "é", "\U0001f600", "a" * 5000,
              [], [[]], [None], {}, {"x": {}}, [1, 2, 3], [-1, 0, 0], ["x", 0, 0], [2**32, 0, 0], "f0:i0", "f99999999:i99999999", "f4294967296:i-1"]
EXPRESSIONS = ["v", "i", "p", "p.weight", "p.weight[99999]", "tile", "tile[threadIdx.x]", "&tile", "*in@4", "*in@100000000", "in[1 << 30]", "threadIdx",
               "blockIdx.x / 0", "1 << 400", "kind", "pair.second", "nosuch", "(", ")", "((((", "p.", "p->x", "*0", "*(int*)1", "$lane", "%r1", "%p1",
               "1.5e999", "'a", "\"text", "sizeof(int)", "-2147483648 / -1", "1 % 0", "0x", "counter", "scale", "&counter", "*&*&i", "n ? 1 : 2", "a" * 3000,
               "(" * 3000 + "1" + ")" * 3000, "!" * 3000 + "1", "square", "i, v", "(float)i", "(void)i", "(Point)i", "*in@-1", "tile[-1]", "&1"]
ASSIGNMENTS = ["v = 3", "i = -1", "tile[0] = 1e30", "p.x = 5", "p = 1", "1 = 2", "threadIdx.x = 3", "counter = 7", "kind = 9", "scale = 1", "*in = 4"]
CONDITIONS = ["", "i == 3", "threadIdx.x", "nosuch", "(", "1 / 0", "v = 3", "step == 8 && blockIdx.x == 1", "p", "1"]
HITS = ["", "1", "3", ">2", ">=2", "%2", "%0", "x", "-1", "99999999999999999999", ">"]
NO_LINES = [1, 0, 99999, 2**32 - 1]


def started(build, target):
    """A client that has launched this program, up to the configuration."""
    client = debugger.Client(build, launch=False)
    number = client.send("launch", program=target.program, args=target.words, **({"check": True} if target.check else {}))
    answer = client.wait(lambda m: m.get("event") == "initialized" or (m.get("request_seq") == number and not m["success"]), 600)  # it is compiled
    assert answer["type"] == "event", answer
    return client


class Ended(Exception):
    """The program has ended, or this request ended it."""


class Fuzzer:
    def __init__(self, build, seed, targets):
        self.build, self.chance, self.targets, self.sent = build, random.Random(seed), targets, 0
        self.client, self.recent = None, []
        self.target = None

    def pick(self, *values):
        return self.chance.choice(values)

    def chosen(self, values):
        return self.chance.choice(values)

    # ---- Arguments
    def line(self):
        return self.chosen(NO_LINES if self.chance.random() < 0.3 else self.target.code_lines)

    def expression(self, more=()):
        return self.chosen(self.target.names if self.target.names and self.chance.random() < 0.3 else [*EXPRESSIONS, *more])

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
            "setBreakpoints": lambda: {"source": {"path": self.pick(self.target.source, self.target.source, f"{self.target.name}.cu", "/nosuch.cu", "")},
                                       "breakpoints": self.several(lambda: self.breakpoint({"line": self.line()}))},
            "setFunctionBreakpoints": lambda: {
                "breakpoints": self.several(lambda: self.breakpoint({"name": self.pick(*self.target.kernels, "sum", "square", "nosuch", "", "square<float>")}))},
            "setExceptionBreakpoints": lambda: {"filters": self.pick([], ["fault"], ["fault", "assert"], ["launch"], ["nosuch"], ["finding"]),
                                                "filterOptions": self.several(lambda: {"filterId": "launch", "condition": self.pick("sum", "x", "")})},
            "setDataBreakpoints": lambda: {"breakpoints": self.several(
                lambda: {"dataId": self.pick("1", "2", "3", "0", "x", "-1"), "accessType": self.pick("read", "write", "readWrite", "x")})},
            "dataBreakpointInfo": lambda: {"name": self.expression(), "variablesReference": self.pick(0, 1, 2, 7)},
            "stackTrace": lambda: {"threadId": thread, "startFrame": self.pick(0, 1, 50), "levels": self.pick(0, 1, 50)},
            "scopes": lambda: {"frameId": frame},
            "variables": lambda: {"variablesReference": self.pick(1, 2, 3, 4, 5, 6, 9, 99), "start": self.pick(0, 1, 63, 64, 1000),
                                  "count": self.pick(0, 1, 5, 100000)},
            "evaluate": lambda: {"expression": self.expression(ASSIGNMENTS), "context": self.pick("watch", "hover", "repl"),
                                 "format": self.pick({}, {"hex": True}, {"letter": chance.choice("dxuotcfa?")})},
            "setVariable": lambda: {"variablesReference": self.pick(1, 2, 3, 6), "name": self.pick("v", "i", "p", "x", "nosuch"),
                                    "value": self.pick("1", "x", "1e999", "(", "")},
            "setExpression": lambda: {"expression": self.expression(), "value": self.pick("1", "-1.5", "x", "")},
            "disassemble": lambda: {"memoryReference": self.place(), "instructionOffset": self.pick(0, -5, 3, 10**9, -10**9),
                                    "instructionCount": self.pick(0, 1, 20, 100000, -1)},
            "readMemory": lambda: {"memoryReference": self.pick("0x0", "0x7f0000000000", "x", self.place()), "offset": self.pick(0, 4, -4),
                                   "count": self.pick(0, 4, 100000, -1)},
            "warpgrind/focus": lambda: {"block": self.pick(None, [0, 0, 0], [1, 0, 0], [3, 0, 0]), "thread": self.triple(),
                                        "warp": self.pick(0, 1, 2), "lane": self.pick(0, 5, 31, 32)},
            "warpgrind/warpValues": lambda: {"expression": self.expression(), "frameId": frame},
            "warpgrind/tile": lambda: {"expression": self.expression(), "frameId": frame, "rows": self.pick(0, 1, 8, 2**62), "columns": self.pick(0, 4, 8, 2**62),
                                       "stride": self.pick(0, 0, 8, 2**63), "width": self.pick(0, 1, 80), "type": self.pick("", "", "half", "s4x2", "float", "nosuch")},
            "completions": lambda: {"text": self.expression() + self.pick("", ".", "->", "[", "::", "$"), "column": self.pick(0, 1, 5, 99, -1), "frameId": frame},
            "warpgrind/lastWrite": lambda: {"expression": self.expression(), "frameId": frame},
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
    QUESTIONS = ["threads", "stackTrace", "scopes", "variables", "evaluate", "evaluate", "completions", "dataBreakpointInfo", "exceptionInfo", "disassemble", "readMemory",
                 "warpgrind/focus", "warpgrind/warps", "warpgrind/warpValues", "warpgrind/tile", "warpgrind/launches", "setVariable", "setExpression", "setBreakpoints",
                 "setFunctionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints", "pause", "configurationDone", "nosuchrequest", "", "launch",
                 "attach", "initialize"]
    MOVES = ["next", "stepIn", "stepOut", "continue", "stepBack", "reverseContinue", "warpgrind/reverseStepIn", "warpgrind/reverseStepOut",
             "warpgrind/lastWrite"]

    def begin(self):
        self.target = self.targets.next()
        self.client = started(self.build, self.target)
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
                raise AssertionError(f"`warpgrind dap` has ended; {self.target}; requests before: {self.recent}")
            if message.get("event") == "exited":
                self.look_at_end(message["body"]["exitCode"])
            if message.get("event") == "stopped":
                self.stopped = True
            elif message["type"] == "response" and message["command"] in self.MOVES and message["success"]:
                self.stopped = False  # the event of the next stop follows
            if wanted(message):
                return message

    def look_at_end(self, code):
        assert code < 128 or self.leaving, f"the program ended with code {code}; {self.target}; requests before: {self.recent}"
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
        assert response is not None, f"no response; {self.target}; requests before: {self.recent}"
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
        assert self.stopped or self.take(wanted), f"neither a stop nor an end; {self.target}; requests before: {self.recent}"

    def live(self, most):
        """One life of the program."""
        self.begin()
        try:
            for _ in range(self.chance.randrange(6)):
                self.one()  # before the program goes on
            self.request("setFunctionBreakpoints", {"breakpoints": [{"name": name} for name in self.target.kernels]})
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
        assert self.client.process.wait(60) == 0, f"`warpgrind dap` ended with {self.client.process.returncode}; {self.target}; before: {self.recent}"


# ---- Cases

def any_requests(build, seed, requests, targets):
    fuzzer = Fuzzer(build, seed, targets)
    lives = 0
    while fuzzer.sent < requests:
        fuzzer.live(requests)
        lives += 1
    print(f"{fuzzer.sent} requests in {lives} runs of the program")


def before_the_launch(build, seed, requests, targets):
    """Without a program every request is kept until the launch, or refused."""
    fuzzer = Fuzzer(build, seed, targets)
    while fuzzer.sent < requests:
        client = debugger.Client(build, launch=False)
        fuzzer.client, fuzzer.target = client, fuzzing.Target("sum")
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
    print(f"{fuzzer.sent} requests")


class End(Exception):
    """The program has ended, so its walk has."""


class Walk:
    """Random steps in one run of a program."""

    def __init__(self, build, chance, target):
        self.client, self.chance, self.target = started(build, target), chance, target
        self.steps = 0
        client = self.client
        client.call("setFunctionBreakpoints", breakpoints=[{"name": name} for name in target.kernels])
        client.call("setExceptionBreakpoints", filters=["fault", "assert"])
        client.call("configurationDone")
        self.stopped()

    def stopped(self):
        client = self.client
        message = client.wait(lambda m: m.get("event") in ("stopped", "exited"))
        if message["event"] == "exited":
            raise End
        client.stop = message["body"]
        client.kept.clear()

    def go(self, command, **arguments):
        """False: refused, with a reason."""
        answer = self.client.answer(command, threadId=self.client.stop["threadId"], **arguments)
        if not answer["success"]:
            assert answer.get("message"), (command, answer)
            return False
        self.steps += 1
        self.stopped()
        return True

    def memory(self):
        """Memory where the arguments of the kernel point."""
        out = {}
        for name, value in self.client.scope("Arguments").items():
            if "memoryReference" in value:
                answer = self.client.answer("readMemory", memoryReference=value["memoryReference"], count=1 << 16)
                out[name] = answer["body"] if answer["success"] else answer["message"]
        return out

    def state(self):
        """All that the protocol shows of a place. Registers and variables of optimised kernels are there only while they are used."""
        client = self.client
        frames = [(f["instructionPointerReference"], f.get("line"), f["name"]) for f in client.frames()]
        scopes = client.call("scopes", frameId=client.frames()[0]["id"])["scopes"]
        values = {}
        for scope in scopes:
            rows = client.call("variables", variablesReference=scope["variablesReference"])["variables"]
            values[scope["name"]] = {row["name"]: row["value"] for row in rows}
        return client.stop["focus"], frames, values, self.memory() if "Arguments" in values else {}, client.call("warpgrind/warps")

    def there_and_back(self):
        """Some instructions forward and back, or back and forward. True: the state was compared."""
        chance = self.chance
        if self.client.stop["reason"] == "exception":
            return False  # a fault is between two places of the way
        count = chance.randrange(1, 12)
        there, back = "stepIn", "warpgrind/reverseStepIn"
        if chance.random() < 0.5:
            there, back = back, there
        states = [self.state()]
        for _ in range(count):
            if not self.go(there, granularity="instruction"):
                break
            states.append(self.state())
            threads = [(s[0]["launch"], s[0]["block"], s[0]["thread"]) for s in states[-2:]]
            if threads[0] != threads[1] or states[-1][1][0] == states[-2][1][0] or self.client.stop["reason"] != "step":
                return False  # the step has left the warp or its lanes, or a fault, the launch's beginning or an end has stopped it
        for before in reversed(states[:-1]):
            if not self.go(back, granularity="instruction"):
                return False
            after = self.state()
            if after != before:
                parts = [part for part in zip(("focus", "frames", "values", "memory", "warps"), before, after) if part[1] != part[2]]
                raise AssertionError(f"{self.target}: {there} {len(states) - 1} times and {back}: {parts[0]}")
        return len(states) > 1


def back_and_forward(build, seed, requests, targets):
    """From a random place n instructions one way and n the other way: the same place, variables, registers, memory and warps."""
    chance = random.Random(seed)
    sent = rounds = 0
    while sent < requests:
        target = targets.next(may_check=False)
        walk = None
        try:
            walk = Walk(build, chance, target)
            for _ in range(10):
                for _ in range(chance.randrange(4)):
                    walk.go(chance.choice(["next", "next", "stepIn", "continue"]))
                rounds += walk.there_and_back()
                if sent + walk.steps >= requests:
                    break
        except End:
            pass
        if walk:
            sent += walk.steps
            walk.client.call("disconnect")
            walk.client.process.wait(60)
        else:
            sent += 1
    print(f"{sent} steps; {rounds} times the same state both ways")
    assert rounds > 0


CASES = {any_requests: 400, before_the_launch: 40, back_and_forward: 120}


if __name__ == "__main__":
    sys.exit(fuzzing.run(CASES, __doc__, "requests"))
