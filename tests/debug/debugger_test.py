#!/usr/bin/env python3
"""The debugger on a real program, by the Debug Adapter Protocol: `warpgrind dap` compiles and runs programs/sum.cu.

  debugger_test.py --list
  debugger_test.py --build DIR CASE     exit code 0 passed, 1 failed

What variables hold is computed here in Python, from the text of the program.
"""
import argparse
import json
import pathlib
import queue
import random
import re
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import whole_run  # noqa: E402

SOURCE = str(HERE / "programs/sum.cu")
TEXT = ["", *pathlib.Path(SOURCE).read_text().splitlines()]


def line_of(text):
    """The number of the only line with this text."""
    found = [n for n, line in enumerate(TEXT) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


TILE = line_of("tile[threadIdx.x] = square")
LOOP = line_of("for (int step")
ADD = line_of("tile[threadIdx.x] += ")
ANSWER = line_of("out[blockIdx.x] =")
VALUES = [i % 7 for i in range(256)]
SQUARES = [2.0 * v * v for v in VALUES]


class Client:
    def __init__(self, build, *program_words, launch=True):
        self.process = subprocess.Popen([str(build / "bin/warpgrind"), "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=whole_run.environment(XDG_CACHE_HOME=str(build / "test-cache")))
        self.sequence, self.kept, self.messages = 0, [], queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.call("initialize", adapterID="test")
        if launch:
            number = self.send("launch", program=SOURCE, args=list(program_words))
            refused = self.wait(lambda m: m.get("event") == "initialized" or (m.get("request_seq") == number and not m["success"]))
            assert refused["type"] == "event", refused

    def read(self):
        stream = self.process.stdout
        while True:
            length = None
            for line in iter(stream.readline, b"\r\n"):
                if not line:
                    return self.messages.put(None)
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.messages.put(json.loads(stream.read(length)))

    def send(self, command, **arguments):
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.sequence

    def wait(self, wanted, seconds=120):
        for n, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(n)
        while True:
            message = self.messages.get(timeout=seconds)
            assert message is not None, f"the connection was closed; before: {self.kept[-5:]}"
            if wanted(message):
                return message
            self.kept.append(message)

    def answer(self, command, **arguments):
        number = self.send(command, **arguments)
        return self.wait(lambda m: m["type"] == "response" and m["request_seq"] == number)

    def call(self, command, **arguments):
        response = self.answer(command, **arguments)
        assert response["success"], (command, arguments, response)
        return response.get("body", {})

    def event(self, name):
        return self.wait(lambda m: m["type"] == "event" and m["event"] == name)["body"]

    # ---- Words of a debugger
    def breaks(self, *lines, **more):
        return self.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": n, **more} for n in lines])["breakpoints"]

    def begin(self):
        self.call("configurationDone")
        return self.stopped()

    def stopped(self):
        self.stop = self.event("stopped")
        return self.stop

    def go(self, command, **arguments):
        self.call(command, threadId=self.stop["threadId"], **arguments)
        return self.stopped()

    def frames(self):
        return self.call("stackTrace", threadId=self.stop["threadId"])["stackFrames"]

    def line(self):
        return self.frames()[0]["line"]

    def value(self, expression):
        return self.call("evaluate", expression=expression, context="watch")["result"]

    def lanes(self, expression):
        return [lane["value"] for lane in self.call("warpgrind/warpValues", expression=expression)["lanes"]]

    def scope(self, name):
        frame = self.frames()[0]["id"]
        for scope in self.call("scopes", frameId=frame)["scopes"]:
            if scope["name"] == name:
                return {v["name"]: v for v in self.call("variables", variablesReference=scope["variablesReference"])["variables"]}
        raise AssertionError(f"no scope {name}")

    def end(self):
        """Goes on without breakpoints. Returns what the program printed."""
        self.breaks()
        self.call("setDataBreakpoints", breakpoints=[])
        self.call("continue", threadId=1)
        return self.exit()

    def exit(self):
        self.event("exited")
        text = "".join(m["body"]["output"] for m in self.kept if m.get("event") == "output" and m["body"].get("category") == "stdout")
        self.process.stdin.close()
        self.process.wait(60)
        return text


def check(have, want):
    assert have == want, f"have {have!r}, want {want!r}"


def printed():
    sums = [sum(SQUARES[64 * b:64 * b + 64]) + 1 - 1 for b in range(4)]
    return " ".join(f"{s:g}" for s in sums) + "\n"


# ---- Cases

def runs_through(build):
    """Without a breakpoint the program prints what it should."""
    client = Client(build)
    client.call("configurationDone")
    check(client.exit(), printed())


def stops_at_lines(build):
    client = Client(build)
    client.breaks(TILE)
    stop = client.begin()
    check((stop["reason"], client.line(), stop["focus"]["block"], stop["focus"]["warp"]), ("breakpoint", TILE, [0, 0, 0], 0))
    stop = client.go("continue")  # the second warp comes there when the first waits
    check((client.line(), stop["focus"]["block"], stop["focus"]["warp"]), (TILE, [0, 0, 0], 1))
    stop = client.go("continue")
    check((client.line(), stop["focus"]["block"], stop["focus"]["warp"]), (TILE, [1, 0, 0], 0))
    check(client.end(), printed())


def stops_at_functions(build):
    client = Client(build)
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "square"}])
    client.begin()
    frames = client.frames()
    assert frames[0]["name"].startswith("square"), frames
    check((frames[1]["name"], frames[1]["line"]), ("sum", TILE))
    named = client.call("stackTrace", threadId=client.stop["threadId"], format={"parameters": True})["stackFrames"][1]["name"]
    assert re.fullmatch(r"sum \(in=0x[0-9a-f]+, out=0x[0-9a-f]+, n=256\)", named), named
    typed = client.call("stackTrace", threadId=client.stop["threadId"], format={"parameters": True, "parameterTypes": True, "parameterNames": True})
    check(typed["stackFrames"][1]["name"], "sum (const float * in, float * out, int n)")
    check(client.value("v"), "0")
    client.go("stepOut")
    check(client.frames()[0]["name"], "sum")


def unset_registers(build):
    """A register that no path has written yet is undefined, in the list and by its name."""
    client = Client(build)
    client.call("setFunctionBreakpoints", breakpoints=[{"name": "sum"}])
    client.begin()

    def unset():
        return {name for name, v in client.scope("Registers of the PTX").items() if v["value"] == "<undefined>"}

    early = unset()
    assert early, "all registers are written at the kernel's first line"
    for name in filter(lambda n: n.startswith("%"), early):  # others can be hidden by variables
        check(client.value(name), "<undefined>")
    client.call("setFunctionBreakpoints", breakpoints=[])
    client.breaks(ANSWER)
    client.go("continue")
    assert unset() < early, (unset(), early)
    check(client.end(), printed())


def conditions(build):
    client = Client(build)
    client.breaks(ADD, condition="threadIdx.x == 3 && step == 8 && blockIdx.x == 2")
    stop = client.begin()
    check((client.line(), stop["focus"]["block"], stop["focus"]["thread"]), (ADD, [2, 0, 0], [3, 0, 0]))
    check((client.value("step"), client.value("i")), ("8", str(2 * 64 + 3)))
    client.breaks(ADD, hitCondition="5")
    client.go("continue")
    check(client.end(), printed())


def log_points(build):
    client = Client(build)
    client.breaks(ANSWER, logMessage="block {blockIdx.x} has {tile[0]}")
    client.call("configurationDone")
    check(client.exit(), printed())
    text = [m["body"]["output"] for m in client.kept if m.get("event") == "output" and m["body"].get("category") == "console"]
    want = [f"block {b} has {sum(SQUARES[64 * b:64 * b + 64]):g}\n" for b in range(4)]
    check([t for t in text if t.startswith("block ")], want)


def values(build):
    client = Client(build)
    client.breaks(TILE, condition="i == 69")
    client.begin()
    check(client.value("p"), "{x = 69, y = 138, weight = {1, 2, 3}}")
    check(client.value("pair"), "{first = 34.5, second = -1}")
    assert client.value("kind").endswith("square"), client.value("kind")
    check(client.value("v"), str(VALUES[69]))
    check(client.value("in[i] + scale"), str(VALUES[69] + 2))
    check(client.value("threadIdx"), "{x = 5, y = 0, z = 0}")
    check(client.value("p.weight[2] * 2"), "6")
    check(client.lanes("v"), [str(v) for v in VALUES[64:96]])
    check(client.scope("Arguments")["n"]["value"], "256")
    locals_ = client.scope("Locals")
    assert {"i", "p", "v", "pair", "kind"} <= set(locals_), locals_
    rows = client.call("variables", variablesReference=locals_["p"]["variablesReference"])["variables"]
    check([(r["name"], r["value"]) for r in rows[:2]], [("x", "69"), ("y", "138")])
    wrong = client.answer("evaluate", expression="nosuch + 1", context="watch")
    assert not wrong["success"] and "nosuch" in wrong["message"], wrong


def sets_values(build):
    client = Client(build)
    client.breaks(TILE, condition="i == 0")
    client.begin()
    check(client.call("evaluate", expression="v = 10", context="repl")["result"], "10")
    check(client.lanes("v")[:2], ["10", "1"])
    check(client.end(), f"{sum(SQUARES[:64]) + 200:g}" + printed()[len(f"{sum(SQUARES[:64]):g}"):])


def completions(build):
    client = Client(build)
    client.breaks(TILE, condition="i == 70")
    client.begin()

    def words(text, column=None):
        targets = client.call("completions", text=text, column=column or len(text) + 1)["targets"]
        assert all(text[one["start"] - 1:][:one["length"]] == one["label"][:one["length"]] for one in targets), targets
        return [one["label"] for one in targets]

    check(words("p"), ["p", "pair"])
    check(words("p + 1", column=2), ["p", "pair"])
    check(words("tile[i - 64] + pair."), ["first", "second"])
    check(words("(p).w"), ["weight"])
    check(words("(&p)->"), ["weight", "x", "y"])
    check(words("warp thread"), ["threadIdx"])
    check(words("threadIdx."), ["x", "y", "z"])
    check(words("$la"), ["$lane"])
    check((words("v."), words("5."), words("nosuch.x"), words("p.x = 3; p.")), ([], [], [], ["weight", "x", "y"]))
    assert {"in", "out", "i", "kind", "v", "tile", "scale", "counter"} <= set(words("")), words("")
    check(client.end(), printed())


def steps(build):
    client = Client(build)
    client.breaks(TILE, condition="i == 0")
    client.begin()
    client.go("stepIn")
    assert client.frames()[0]["name"].startswith("square"), client.frames()
    client.go("stepOut")
    check(client.line(), TILE)
    client.go("next")
    check(client.line(), TILE + 1)
    client.go("next")
    check(client.line(), LOOP)


def goes_back(build):
    client = Client(build)
    client.breaks(LOOP + 1, condition="step == 4 && i == 1")
    client.begin()
    here = client.frames()[0]["instructionPointerReference"], client.lanes("tile[threadIdx.x]")
    trail = [client.line()]
    for _ in range(6):
        client.go("next")
        trail.append(client.line())
    for line in reversed(trail[:-1]):
        client.go("stepBack")
        check(client.line(), line)
    check((client.frames()[0]["instructionPointerReference"], client.lanes("tile[threadIdx.x]")), here)
    client.breaks(TILE)
    stop = client.go("reverseContinue")  # the second warp of the block came there last
    check((stop["reason"], client.line(), stop["focus"]["warp"]), ("breakpoint", TILE, 1))
    client.go("reverseContinue")
    check(client.stop["focus"]["warp"], 0)
    check(client.end(), printed())


def watches(build):
    client = Client(build)
    client.breaks(LOOP, condition="i == 0")
    client.begin()
    data = client.call("dataBreakpointInfo", name="tile[1]")["dataId"]
    check(client.call("setDataBreakpoints", breakpoints=[{"dataId": data, "accessType": "write"}])["breakpoints"][0]["verified"], True)
    client.breaks()
    tile = SQUARES[:64]
    for step in (32, 16, 8, 4, 2):
        old = tile[1]
        tile = [a + b for a, b in zip(tile[:step], tile[step:])]
        if tile[1] == old:
            continue
        stop = client.go("continue")
        check((stop["reason"], stop["focus"]["thread"]), ("data breakpoint", [1, 0, 0]))
        assert stop["text"].endswith(f"old value {old:g}, new value {tile[1]:g}"), stop
    check(client.end(), printed())


def watches_undefined(build):
    """A watched value that was never written is undefined, as `print` shows it."""
    client = Client(build)
    client.breaks(TILE, condition="i == 0")
    client.begin()
    check(client.value("tile[40]"), "<undefined>")
    data = client.call("dataBreakpointInfo", name="tile[40]")["dataId"]
    client.call("setDataBreakpoints", breakpoints=[{"dataId": data, "accessType": "write"}])
    client.breaks()
    stop = client.go("continue")
    check((stop["text"], stop["focus"]["thread"]), (f"tile[40]: old value <undefined>, new value {SQUARES[40]:g}", [40, 0, 0]))
    check(client.end(), printed())


def conditions_choose(build):
    """The lane of a condition has the focus, also beside a breakpoint without one. A wrong condition is refused."""
    client = Client(build)
    client.call("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": TILE}, {"line": TILE, "condition": "i == 45 and not (i < 3)"}])
    client.begin()
    stop = client.go("continue")
    check((len(stop["hitBreakpointIds"]), stop["focus"]["thread"]), (2, [45, 0, 0]))
    for text, why in (("i = 3", "'=' assigns a value: '==' compares"), ("(i == 3", "')' is missing"), ("i == 'x", "a quote has no end")):
        refused, = client.breaks(TILE, condition=text)
        check((refused["verified"], refused["message"]), (False, f"condition '{text}': {why}"))
    pending, = client.call("setFunctionBreakpoints", breakpoints=[{"name": "nosuch"}])["breakpoints"]
    check((pending["verified"], pending["message"]), (False, "waits for a kernel that has this function"))
    wrong = client.answer("warpgrind/focus", block=[3, 0, 0], thread=[7, 0, 0])
    assert wrong["message"].endswith("stops there: break LINE if blockIdx.x == 3 && threadIdx.x == 7"), wrong
    client.call("setFunctionBreakpoints", breakpoints=[])
    check(client.end(), printed())


def last_write(build):
    client = Client(build)
    client.breaks(ANSWER)
    client.begin()
    client.call("warpgrind/lastWrite", expression="tile[5]")
    client.stopped()
    check(client.line(), ADD)
    check((client.stop["focus"]["thread"], client.value("step")), ([5, 0, 0], "8"))
    # Nothing is found: the thread that was looked at stays.
    client.breaks(LOOP, condition="i == 0")
    client.go("reverseContinue")
    client.call("warpgrind/focus", thread=[40, 0, 0])
    check(client.value("threadIdx.x"), "40")
    client.call("warpgrind/lastWrite", expression="in[5]")
    check((client.stopped()["focus"]["thread"], client.value("threadIdx.x")), ([40, 0, 0], "40"))
    check(client.end(), printed())


def stops_at_faults(build):
    for how, word in ((1, "write of 4 bytes"), (2, "assert"), (3, "trap")):
        client = Client(build, str(how))
        client.call("setExceptionBreakpoints", filters=["fault", "assert"])
        stop = client.begin()
        check(stop["reason"], "exception")
        assert word in stop["text"].lower(), stop
        check(client.frames()[-1]["name"], "faults")
        check(client.line(), line_of(f"if (how == {how}"))
        if how != 1:
            check(stop["focus"]["lane"], {2: 7, 3: 9}[how])
        client.go("stepBack")
        check(client.value("lane"), client.lanes("lane")[client.stop["focus"]["lane"]])
        client.call("disconnect")
        client.process.wait(60)


def switches_focus(build):
    client = Client(build)
    client.breaks(LOOP, condition="i == 0")
    client.begin()
    focus = client.call("warpgrind/focus", thread=[40, 0, 0])
    check((focus["warp"], focus["lane"]), (1, 8))
    wrong = client.answer("warpgrind/focus", block=[3, 0, 0])
    assert not wrong["success"] and "not resident" in wrong["message"], wrong
    blocks = client.call("warpgrind/warps")["blocks"]
    check([(b["block"], [w["warp"] for w in b["warps"]]) for b in blocks], [([0, 0, 0], [0, 1])])


def same_state_both_ways(build):
    """Random steps: n forwards and n back give the same place, registers and memory."""
    client = Client(build)
    client.breaks(LOOP, condition="i == 0")
    client.begin()
    client.breaks()
    chance = random.Random(7)

    def state():
        registers = {name: v["value"] for name, v in client.scope("Registers of the PTX").items()}
        return client.frames()[0]["instructionPointerReference"], client.lanes("tile[threadIdx.x]"), client.value("tile"), registers

    for _ in range(4):
        states = [state()]
        for _ in range(chance.randrange(1, 5)):
            client.go("stepIn")
            states.append(state())
        for before in reversed(states[:-1]):
            client.call("warpgrind/reverseStepIn", threadId=client.stop["threadId"])
            client.stopped()
            check(state(), before)
        client.go("next")
    check(client.end(), printed())


def editor_console(build):
    """What is no expression in an editor's console is a command of the terminal."""
    client = Client(build)
    client.breaks(LOOP, condition="blockIdx.x == 1 && threadIdx.x == 40")
    client.begin()

    def typed(text):
        return client.call("evaluate", expression=text, context="repl", frameId=client.frames()[0]["id"])["result"]

    def refused(text):
        number = client.send("evaluate", expression=text, context="repl")
        return client.wait(lambda m: m.get("request_seq") == number)["message"]
    values = VALUES[96:128]
    table = typed("warp v").split("\n")
    check(table[0], "float")
    check([cell for line in table[1:5] for cell in line.split(":")[1].split()], [str(v) for v in values])
    check(typed("print/x threadIdx.x"), "0x28")
    check(typed("p v"), typed("v"))
    assert "* warp 1 " in typed("info warps") and typed("i warps") == typed("info warps")
    rows = typed("tile tile 8x8").split("\n")
    check(rows[0], "float")
    check([float(c) for row in rows[6:10] for c in row.split(":")[1].split()], SQUARES[96:128])  # warp 0 adds already
    check(typed("whatis kind"), "type = Kind")
    # Another lane: a stop says so to the editor.
    check(typed("lane 3"), "[block (1,0,0), thread (35,0,0), warp 1, lane 3]")
    stop = client.stopped()
    check((stop["reason"], stop["threadId"], client.value("threadIdx.x")), ("goto", stop["focus"]["threadId"], "35"))
    check(typed("last-write tile[35]"), "Going back to the last write.")
    stop = client.stopped()
    check((client.line(), stop["focus"]["thread"]), (TILE, [35, 0, 0]))
    assert "last-write EXPRESSION" in typed("help")
    # Errors: of an expression, of a command, and of commands that an editor has itself.
    assert refused("nosuch + 1").startswith("there is no variable 'nosuch' here"), refused("nosuch + 1")
    assert "  n +\n" in refused("n +"), refused("n +")  # not the command `next`
    check(refused("thread (99,0,0)"), "a block has no thread (99,0,0): its size is (64,1,1)")
    assert refused("watch v").startswith("watch is a command of the terminal"), refused("watch v")
    assert refused("tile n + 1").startswith("this value is not in memory"), refused("tile n + 1")
    # A variable goes first, also where a command has its name.
    check(typed("n"), "256")
    check(client.end(), printed())


CASES = [runs_through, stops_at_lines, stops_at_functions, unset_registers, conditions, log_points, values, sets_values, completions, steps, goes_back, watches,
         last_write, stops_at_faults, switches_focus, same_state_both_ways, editor_console,
         watches_undefined, conditions_choose]


def run_cases(cases, description):
    """The command line of a test: --list prints the cases, --build DIR [CASE] runs them."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("case", nargs="?")
    options = parser.parse_args()
    if options.list:
        print("\n".join(case.__name__ for case in cases))
        return
    for case in cases:
        if options.case in (None, case.__name__):
            case(options.build.resolve())


if __name__ == "__main__":
    run_cases(CASES, __doc__)
